-- in:    $1 workspace; parallel arrays: $2 numbers of the postings, $3 rows to go on from there; {space}
-- out:   (id of the chunk, card_id, title, said, dense) by chunk, one window of each
-- index: uq_chunks_workspace_id_doc, pk_windows, pk_cards
-- "+ 0": by the primary key; of a new space the planner believes that it is empty, and would go through all of it.
SELECT DISTINCT ON (o.id)
    o.id, o.card_id, left(c.title, 400) AS title,
    left(substr(c.content, w.start + 1, w."end" - w.start), 400) AS said, w.dense
FROM unnest($2::bigint[], $3::int[]) AS probe (doc, skip)
CROSS JOIN LATERAL (
    SELECT t.id, t.card_id FROM chunks t
    WHERE t.workspace_id = $1 AND t.doc >= probe.doc ORDER BY t.doc OFFSET probe.skip LIMIT 1
) AS o
CROSS JOIN LATERAL (
    SELECT n.start, n."end", n.dense
    FROM windows n
    WHERE n.workspace_id = $1 AND n.chunk_id = o.id AND n.space_id + 0 = {space}
    ORDER BY hashint4(n.ordinal + probe.skip), n.ordinal
    LIMIT 1
) AS w
JOIN cards c ON c.workspace_id = $1 AND c.id = o.card_id
ORDER BY o.id, probe.doc
