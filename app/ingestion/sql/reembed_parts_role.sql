-- in:    $1 workspace; `v` has the owners
-- out:   parts: the text, which is "name | role" as it was written
-- index: pk_roles
CROSS JOIN LATERAL (
    SELECT ARRAY[r.text] AS parts FROM roles r WHERE r.workspace_id = $1 AND r.id = v.owner_id
) AS parts
