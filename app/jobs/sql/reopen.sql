-- in:    $1 workspace, $2 id
-- out:   the job's id, priority and rank when it was failed or cancelled and is now waiting again
-- index: pk_jobs, uq_jobs_live_dedupe_key, ix_jobs_line
UPDATE jobs j SET
    state = 'queued', attempts = 0, rerun = false, busy_since = NULL, step = NULL, progress = NULL,
    error_code = NULL, error_detail = NULL, started_at = NULL, finished_at = NULL, available_at = now(),
    rank = 1 + GREATEST(
        (
            SELECT max(o.rank) FROM jobs o
            WHERE o.workspace_id = j.workspace_id AND o.priority = j.priority AND o.state IN ('queued', 'working')
        ),
        (
            SELECT j.priority * 1000000000::bigint - min(q.priority) FROM mindcone_pgqueuer q
            WHERE q.status = 'picked'
              AND q.priority <= j.priority * 1000000000::bigint
              AND q.priority > (j.priority - 1) * 1000000000::bigint
        ),
        0
    )
WHERE j.workspace_id = $1 AND j.id = $2 AND j.state IN ('failed', 'cancelled')
  AND NOT EXISTS (
      SELECT FROM jobs o
      WHERE o.workspace_id = j.workspace_id AND o.kind = j.kind AND o.dedupe_key = j.dedupe_key
        AND o.state IN ('queued', 'working')
  )
RETURNING j.id, j.kind, j.priority, j.rank
