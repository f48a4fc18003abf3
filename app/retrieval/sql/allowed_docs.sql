-- in:    $1 workspace, $2 tags (all of them), $3 card ids (any of them), $4 created after, $5 created before,
--        $6 metadata that must be equal, as jsonb; null means no such filter
-- out:   `docs` of the chunks that searches with these filters may find, ascending, and what the lexical score
--        needs to know of them as a collection
-- index: ix_cards_tags, ix_cards_metadata, ix_cards_created_at, pk_cards; uq_chunks_workspace_id_card_id_ordinal
SELECT
    coalesce(array_agg(ch.doc ORDER BY ch.doc), '{}') AS docs,
    count(*) AS chunks,
    coalesce(sum(ch.words), 0)::bigint AS words,
    count(*) FILTER (WHERE ch.grams > 0) AS gram_chunks,
    coalesce(sum(ch.grams), 0)::bigint AS grams
FROM cards c
JOIN chunks ch ON ch.workspace_id = c.workspace_id AND ch.card_id = c.id
WHERE c.workspace_id = $1
  AND ($2::text[] IS NULL OR c.tags @> $2)
  AND ($3::uuid[] IS NULL OR c.id = ANY ($3))
  AND ($4::timestamptz IS NULL OR c.created_at >= $4)
  AND ($5::timestamptz IS NULL OR c.created_at < $5)
  AND ($6::jsonb IS NULL OR c.metadata @> $6)
