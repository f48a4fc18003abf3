-- in:    $1 workspace, $2 ids of reports, $3 docs of reports
-- out:   the reports, with the places of their communities in the hierarchy
-- index: pk_reports, uq_reports_doc, pk_communities
SELECT
    r.id, c.parent_id, c.level, c.size, r.title, r.summary, r.rating, r.language, r.is_stale, r.doc, r.findings
FROM (
    SELECT unnest($2::uuid[]) AS id
    UNION
    SELECT r.id FROM reports r WHERE r.workspace_id = $1 AND r.doc = ANY ($3::bigint[])
) AS wanted
JOIN reports r ON r.workspace_id = $1 AND r.id = wanted.id
JOIN communities c ON c.workspace_id = $1 AND c.id = r.id
