-- in:    $1 workspace; `v` has the owners
-- out:   parts: title, summary, then the findings, in order
-- index: pk_reports
CROSS JOIN LATERAL (
    SELECT ARRAY[r.title, r.summary] || ARRAY(
        SELECT f.finding ->> 'text' FROM jsonb_array_elements(r.findings) WITH ORDINALITY AS f (finding, at) ORDER BY f.at
    ) AS parts
    FROM reports r
    WHERE r.workspace_id = $1 AND r.id = v.owner_id
) AS parts
