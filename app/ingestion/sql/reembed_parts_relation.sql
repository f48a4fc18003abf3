-- in:    $1 workspace; `v` has the owners
-- out:   parts: the sentence
-- index: pk_relations
CROSS JOIN LATERAL (
    SELECT ARRAY[r.text] AS parts FROM relations r WHERE r.workspace_id = $1 AND r.id = v.owner_id
) AS parts
