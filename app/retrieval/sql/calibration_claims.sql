-- in:    $1 workspace; parallel arrays: $2 numbers of the postings, $3 rows to go on from there; {table}; {said}: an
--        expression over `o`
-- out:   (id, card_id, said) by id, each row once
-- index: uq_{table}_doc
SELECT DISTINCT ON (o.id) o.id, o.card_id, {said} AS said
FROM unnest($2::bigint[], $3::int[]) AS probe (doc, skip)
CROSS JOIN LATERAL (
    SELECT t.* FROM {table} t WHERE t.workspace_id = $1 AND t.doc >= probe.doc ORDER BY t.doc OFFSET probe.skip LIMIT 1
) AS o
ORDER BY o.id
