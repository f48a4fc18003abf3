-- in:    $1 workspace; `v` has the owners
-- out:   parts: title, description
-- index: pk_facets
CROSS JOIN LATERAL (
    SELECT ARRAY[f.title, f.description] AS parts FROM facets f WHERE f.workspace_id = $1 AND f.id = v.owner_id
) AS parts
