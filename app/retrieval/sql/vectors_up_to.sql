-- in:    $1 workspace, $2 limits by place; {kind}, {space}, {vectors}, {place}; {role}: a condition or nothing
-- out:   (kind, vectors): how many vectors of a kind the workspace has, counted no further than its limit
-- index: pk_{vectors} (index only)
SELECT {kind} AS kind, count(*) AS vectors
FROM (
    SELECT 1 FROM {vectors} v WHERE v.workspace_id = $1 AND v.space_id = {space} {role} LIMIT ($2::bigint[])[{place}]
) AS one
