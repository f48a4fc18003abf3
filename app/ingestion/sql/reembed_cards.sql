-- in:    $1 workspace, $2 space, $3 card after which to go on, $4 chunks
-- out:   every chunk of the next cards of which some chunk has no windows there, about $4 of these
-- index: uq_chunks_workspace_id_card_id_ordinal, pk_windows (see reembed_count_chunks)
WITH waiting AS MATERIALIZED (
    SELECT ch.card_id
    FROM chunks ch
    WHERE ch.workspace_id = $1
      AND ch.card_id > $3
      AND NOT EXISTS (
          SELECT FROM windows w WHERE w.workspace_id = $1 AND w.chunk_id = ch.id AND w.space_id + 0 = $2 OFFSET 0
      )
    ORDER BY ch.card_id
    LIMIT $4
)
SELECT
    ch.card_id,
    c.title,
    ch.id,
    ch.start,
    ch."end",
    ch.text,
    ch.heading,
    NOT EXISTS (
        SELECT FROM windows w WHERE w.workspace_id = $1 AND w.chunk_id = ch.id AND w.space_id + 0 = $2 OFFSET 0
    ) AS waits
FROM (SELECT DISTINCT card_id FROM waiting) AS picked
JOIN cards c ON c.workspace_id = $1 AND c.id = picked.card_id
JOIN chunks ch ON ch.workspace_id = $1 AND ch.card_id = picked.card_id
ORDER BY ch.card_id, ch.ordinal
