-- in:    $1 workspace, $2 mentions to count
-- out:   how many mentions the workspace has, counted no further than $2
-- index: pk_mentions (index only)
SELECT count(*) FROM (SELECT 1 FROM mentions WHERE workspace_id = $1 LIMIT $2) AS counted
