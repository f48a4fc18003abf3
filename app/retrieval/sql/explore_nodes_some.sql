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
    -- Few have been merged; of the others no survivor is looked up.
    SELECT coalesce(survivor.key, e.key) AS key, coalesce(survivor.sense, e.sense) AS sense
    FROM entities e
    LEFT JOIN entities survivor ON survivor.workspace_id = $1 AND survivor.id = e.merged_into
    WHERE e.workspace_id = $1 AND e.id = used.id
    OFFSET 0
) AS root
