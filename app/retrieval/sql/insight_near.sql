-- in:    $1 workspace, $2 space, $3 the question's vector, $4 how many
-- out:   texts of reports (role 0: title and summary, n: the n-th finding), nearest first
-- index: pk_report_vectors; compared one by one: a workspace has few reports beside its texts
SELECT v.owner_id AS report_id, v.role, v.dense <=> $3 AS distance
FROM report_vectors v
WHERE v.workspace_id = $1 AND v.space_id = $2
ORDER BY distance, report_id, v.role
LIMIT $4
