-- in:    $1 workspace, then the values of {conditions}, which are those of the filters that are given: with a
--        condition that may be null a generic plan would read every card
-- out:   `docs` of the chunks that searches with these filters may find (int8send, in no order), and what the lexical
--        score needs to know of them as a collection
-- index: ix_cards_tags, ix_cards_metadata, ix_cards_created_at, pk_cards; uq_chunks_workspace_id_card_id_ordinal
SELECT
    coalesce(string_agg(int8send(ch.doc), ''), '') AS docs,
    count(*) AS chunks,
    coalesce(sum(ch.words), 0)::bigint AS words,
    count(*) FILTER (WHERE ch.grams > 0) AS gram_chunks,
    coalesce(sum(ch.grams), 0)::bigint AS grams
FROM cards c
JOIN chunks ch ON ch.workspace_id = c.workspace_id AND ch.card_id = c.id
WHERE c.workspace_id = $1
  AND {conditions}
