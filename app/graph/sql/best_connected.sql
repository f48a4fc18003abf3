-- in:    $1 workspace, $2 rows
-- out:   entities by the number of others that statements join them to, ties by id; reads every
--        statement of the workspace once
-- index: by workspace: pk_relations, pk_entities
WITH pairs AS MATERIALIZED (
    SELECT DISTINCT source_id, target_id FROM relations WHERE workspace_id = $1
),
rooted AS MATERIALIZED (
    SELECT coalesce(s.merged_into, s.id) AS one, coalesce(t.merged_into, t.id) AS other
    FROM pairs
    JOIN entities s ON s.workspace_id = $1 AND s.id = pairs.source_id
    JOIN entities t ON t.workspace_id = $1 AND t.id = pairs.target_id
),
degrees AS (
    SELECT id, count(*) AS degree
    FROM (
        SELECT one AS id, other FROM rooted WHERE one <> other
        UNION
        SELECT other, one FROM rooted WHERE one <> other
    ) AS joined
    GROUP BY id
)
SELECT e.id
FROM entities e
LEFT JOIN degrees d ON d.id = e.id
WHERE e.workspace_id = $1 AND e.merged_into IS NULL
ORDER BY coalesce(d.degree, 0) DESC, e.id
LIMIT $2
