-- in:    $1 workspace, $2 how many cards may pass; then the values of {conditions}, which are those of the filters that
--        are given: with a condition that may be null a generic plan would read every card
-- out:   one row: `cards` that pass, counted no further than $2 + 1; unless there are more than $2, the `docs` of
--        their chunks (int8send, in no order), and what the lexical score needs to know of them as a collection
-- index: ix_cards_tags, ix_cards_metadata, ix_cards_created_at, pk_cards; uq_chunks_workspace_id_card_id_ordinal
WITH passing AS MATERIALIZED (
    SELECT c.id
    FROM cards c
    WHERE c.workspace_id = $1
      AND {conditions}
    LIMIT $2::int + 1
)
SELECT
    (SELECT count(*) FROM passing) AS cards,
    coalesce(string_agg(int8send(chunk.doc), ''), '') AS docs,
    count(*) AS chunks,
    coalesce(sum(chunk.words), 0)::bigint AS words,
    count(*) FILTER (WHERE chunk.grams > 0) AS gram_chunks,
    coalesce(sum(chunk.grams), 0)::bigint AS grams
FROM passing
CROSS JOIN LATERAL (
    SELECT ch.doc, ch.words, ch.grams FROM chunks ch WHERE ch.workspace_id = $1 AND ch.card_id = passing.id OFFSET 0
) AS chunk
WHERE (SELECT count(*) FROM passing) <= $2
