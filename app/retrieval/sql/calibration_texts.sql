-- in:    $1 workspace; parallel arrays: $2 numbers of the postings, $3 rows to go on from there;
--        {table}, {vectors}, {role}, {space}; {card} and {said}: expressions over `o`
-- out:   (id, card_id, said, dense) by id, each row once
-- index: uq_{table}_doc, pk_{vectors}
-- "+ 0": by the primary key; of a new space the planner believes that it is empty, and would go through all of it.
SELECT DISTINCT ON (o.id) o.id, {card} AS card_id, {said} AS said, v.dense
FROM unnest($2::bigint[], $3::int[]) AS probe (doc, skip)
CROSS JOIN LATERAL (
    SELECT t.* FROM {table} t WHERE t.workspace_id = $1 AND t.doc >= probe.doc ORDER BY t.doc OFFSET probe.skip LIMIT 1
) AS o
JOIN {vectors} v ON v.workspace_id = $1 AND v.owner_id = o.id AND v.space_id + 0 = {space} AND v.role = {role}
ORDER BY o.id
