-- in:    $1 space, $2 fewest texts, $3 growth
-- out:   workspace ids
--        (not those whose last try has just failed: the same failure every minute helps nobody)
-- index: pk_calibrations, pk_lex_segment, pk_lex_recent, ix_jobs_finished_at
SELECT w.id AS workspace_id
FROM workspaces w
CROSS JOIN LATERAL (
    SELECT
        coalesce((SELECT sum(s.docs) FROM lex_segment s WHERE s.workspace_id = w.id), 0)
        + (SELECT count(*) FROM lex_recent r WHERE r.workspace_id = w.id) AS docs
) AS now
CROSS JOIN LATERAL (
    SELECT
        max((c.detail ->> 'docs')::int) AS docs,
        bool_or(c.script IN ('han-han', 'latin-han')) AND bool_or(c.script IN ('latin-latin', 'han-latin')) AS both_scripts
    FROM calibrations c
    WHERE c.workspace_id = w.id AND c.space_id = $1
) AS measured
WHERE now.docs >= $2
  AND (
      measured.docs IS NULL
      OR now.docs >= measured.docs * (CASE WHEN measured.both_scripts THEN $3::float8 ELSE 1 + ($3::float8 - 1) / 2 END)
  )
  AND NOT EXISTS (
      SELECT FROM jobs j
      WHERE j.workspace_id = w.id AND j.kind = 'calibrate' AND j.state = 'failed' AND j.finished_at > now() - interval '3 hours'
  )
ORDER BY w.id
