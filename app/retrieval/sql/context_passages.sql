-- in:    $1 workspace, $2 cards, $3 claims of the first of them
-- out:   (place, docs, text): per card (places from 1) the docs of its chunks as int8, and, at place 0, the first one's
--        beginning and the chunks where those claims stand
-- index: uq_chunks_workspace_id_card_id_ordinal, pk_points
SELECT asked.place::int AS place, string_agg(int8send(c.doc), ''::bytea) AS docs, NULL::text AS text
FROM unnest($2::uuid[]) WITH ORDINALITY AS asked (card_id, place)
JOIN chunks c ON c.workspace_id = $1 AND c.card_id = asked.card_id
GROUP BY asked.place
UNION ALL
SELECT 0, NULL, c.text
FROM chunks c
WHERE c.workspace_id = $1
  AND c.card_id = ($2::uuid[])[1]
  AND (
    c.ordinal = 0
    OR c.id IN (SELECT p.chunk_id FROM points p WHERE p.workspace_id = $1 AND p.id = ANY ($3::uuid[]))
  )
