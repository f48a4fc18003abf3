-- in:    claimed jobs: $1 workspaces, $2 ids
-- out:   one row per claim: verdict (started, busy, gone), and what a handler needs when it has started
-- index: pk_jobs
--
-- `busy`: another transaction holds the row (somebody asks for the same work again, or the last worker is
-- just writing its result); the claim is given back and tried again. A job that was being worked on when its
-- worker vanished counts that attempt; one that did so too often is parked, for it may be what kills them.
WITH claimed AS (
    SELECT * FROM unnest($1::uuid[], $2::uuid[]) AS c (workspace_id, id)
),
free AS (
    SELECT j.workspace_id, j.id, j.state = 'working' AND j.attempts >= j.max_attempts AS hopeless
    FROM jobs j JOIN claimed USING (workspace_id, id)
    WHERE j.state IN ('queued', 'working')
    FOR UPDATE OF j SKIP LOCKED
),
begun AS (
    UPDATE jobs j SET
        state = CASE WHEN hopeless THEN 'failed' ELSE 'working' END,
        attempts = j.attempts + CASE WHEN hopeless THEN 0 ELSE 1 END,
        turn = j.turn + 1,
        rerun = false,
        step = NULL,
        progress = NULL,
        error_code = CASE WHEN hopeless THEN 'worker_lost' ELSE j.error_code END,
        error_detail = CASE
            WHEN hopeless THEN 'Every worker that tried this job stopped in the middle of it.'
            ELSE j.error_detail
        END,
        started_at = CASE WHEN hopeless THEN j.started_at ELSE now() END,
        finished_at = CASE WHEN hopeless THEN now() END
    FROM free
    WHERE j.workspace_id = free.workspace_id AND j.id = free.id
    RETURNING j.*
)
SELECT
    claimed.id,
    CASE
        WHEN begun.state = 'working' THEN 'started'
        WHEN begun.id IS NULL AND live.state IN ('queued', 'working') THEN 'busy'
        ELSE 'gone'
    END AS verdict,
    begun.kind,
    begun.payload::text AS payload,
    begun.attempts,
    begun.max_attempts,
    begun.turn,
    COALESCE(EXTRACT(EPOCH FROM now() - begun.busy_since), 0)::float8 AS busy_seconds
FROM claimed
LEFT JOIN begun USING (workspace_id, id)
LEFT JOIN jobs live ON live.workspace_id = claimed.workspace_id AND live.id = claimed.id
