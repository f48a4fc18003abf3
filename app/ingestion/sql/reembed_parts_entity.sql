-- in:    $1 workspace; `v` has the owners
-- out:   parts: name, description, then the names that it answers to
-- index: pk_entities, pk_entity_names
CROSS JOIN LATERAL (
    SELECT ARRAY[e.name, e.description] || ARRAY(
        SELECT n.name FROM entity_names n WHERE n.workspace_id = $1 AND n.entity_id = e.id
    ) AS parts
    FROM entities e
    WHERE e.workspace_id = $1 AND e.id = v.owner_id
) AS parts
