-- in:    $1 workspace; `v` has the owners
-- out:   parts: title, summary
-- index: pk_episodes
CROSS JOIN LATERAL (
    SELECT ARRAY[e.title, e.summary] AS parts FROM episodes e WHERE e.workspace_id = $1 AND e.id = v.owner_id
) AS parts
