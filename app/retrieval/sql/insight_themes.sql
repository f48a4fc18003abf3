-- in:    $1 workspace, $2 how many of the top level, $3 of how many of them the parts are wanted
-- out:   reports on the largest communities, and on the parts of the largest of those
-- index: ix_communities_level, ix_communities_parent_id, pk_reports
WITH top AS (
    SELECT c.id, c.size
    FROM communities c
    WHERE c.workspace_id = $1 AND c.level = 0
    ORDER BY c.size DESC, c.id
    LIMIT $2
),
wanted AS (
    SELECT top.id FROM top
    UNION ALL
    SELECT part.id
    FROM (SELECT top.id FROM top ORDER BY top.size DESC, top.id LIMIT $3) AS widest
    JOIN communities part ON part.workspace_id = $1 AND part.parent_id = widest.id
)
SELECT
    r.id, c.parent_id, c.level, c.size, r.title, r.summary, r.rating, r.language, r.is_stale, r.doc, r.findings
FROM wanted
JOIN reports r ON r.workspace_id = $1 AND r.id = wanted.id
JOIN communities c ON c.workspace_id = $1 AND c.id = r.id
