-- in:    $1 workspace; `mentioned` and `related`: see `explore_graph`
-- out:   the same of those that are named there, one look-up each: a workspace has many more
-- index: pk_entities
SELECT used.id, decode(md5(root.key || ' ' || root.sense), 'hex') AS node, root.key
FROM (
    SELECT entity_id AS id FROM mentioned
    UNION
    SELECT source_id FROM related
    UNION
    SELECT target_id FROM related
) AS used
CROSS JOIN LATERAL (
    SELECT survivor.key, survivor.sense
    FROM entities e
    JOIN entities survivor ON survivor.workspace_id = $1 AND survivor.id = coalesce(e.merged_into, e.id)
    WHERE e.workspace_id = $1 AND e.id = used.id
    OFFSET 0
) AS root
