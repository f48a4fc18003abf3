-- in:    $1 workspace; `v` has the owners
-- out:   parts: title of the facet, claim
-- index: pk_points, pk_facets
CROSS JOIN LATERAL (
    SELECT ARRAY[f.title, p.text] AS parts
    FROM points p
    JOIN facets f ON f.workspace_id = $1 AND f.id = p.facet_id
    WHERE p.workspace_id = $1 AND p.id = v.owner_id
) AS parts
