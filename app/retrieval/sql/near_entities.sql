-- in:    $1 workspace; {kind}; {near}: rows (kind, owner_id, distance) of entities
-- out:   the same, of the entities that these have been merged into
-- index: pk_entities
SELECT {kind} AS kind, coalesce(entity.merged_into, near.owner_id) AS owner_id, min(near.distance) AS distance
FROM (
{near}
) AS near
CROSS JOIN LATERAL (
    SELECT e.merged_into FROM entities e WHERE e.workspace_id = $1 AND e.id = near.owner_id OFFSET 0
) AS entity
GROUP BY 2
