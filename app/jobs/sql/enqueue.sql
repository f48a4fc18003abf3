-- in:    one element per job: $1 ids, $2 workspaces, $3 kinds, $4 payloads (JSON text), $5 dedupe keys,
--        $6 priorities, $7 delays in seconds, $8 max attempts; (workspace, kind, dedupe key) at most once
-- out:   one row per job, new or met: id, workspace_id, kind, dedupe_key, priority, rank, state, available_at
-- index: uq_jobs_live_dedupe_key (arbiter), ix_jobs_line (tail), mindcone_pgqueuer_picked_heartbeat_idx (front)
--
-- Fairness: a job's rank is its place in its workspace's line, where a line that was empty starts at the
-- rank that is being served now (start-time fair queueing). The queue serves the lowest rank first, so
-- workspaces take turns however long their lines are, and no line ever starves.
WITH asked AS (
    SELECT *
    FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::int[], $7::float8[], $8::int[])
        WITH ORDINALITY AS t (id, workspace_id, kind, payload, dedupe_key, priority, delay_seconds, max_attempts, n)
),
line AS (
    SELECT
        w.workspace_id,
        w.priority,
        GREATEST(
            (
                SELECT max(j.rank) FROM jobs j
                WHERE j.workspace_id = w.workspace_id AND j.priority = w.priority
                  AND j.state IN ('queued', 'working')
            ),
            (
                SELECT w.priority * 1000000000::bigint - min(q.priority) FROM mindcone_pgqueuer q
                WHERE q.status = 'picked'
                  AND q.priority <= w.priority * 1000000000::bigint
                  AND q.priority > (w.priority - 1) * 1000000000::bigint
            ),
            0
        ) AS tail
    FROM (SELECT DISTINCT workspace_id, priority FROM asked) w
)
INSERT INTO jobs AS j
    (workspace_id, id, kind, payload, dedupe_key, priority, rank, max_attempts, available_at)
SELECT
    a.workspace_id, a.id, a.kind, a.payload::jsonb, a.dedupe_key, a.priority,
    LEAST(line.tail + row_number() OVER (PARTITION BY a.workspace_id, a.priority ORDER BY a.n), 999999999),
    a.max_attempts,
    now() + make_interval(secs => a.delay_seconds)
FROM asked a
JOIN line USING (workspace_id, priority)
-- One order for everybody who locks keys, so that two writers cannot wait for each other.
ORDER BY a.workspace_id, a.kind, a.dedupe_key, a.n
-- Updating, rather than doing nothing, locks the waiting job until this transaction ends: it cannot start
-- before what it is about has been committed.
ON CONFLICT (workspace_id, kind, dedupe_key) WHERE state IN ('queued', 'working') AND dedupe_key IS NOT NULL
DO UPDATE SET
    payload = EXCLUDED.payload,
    rerun = (j.state = 'working'),
    -- Only a job that is merely delayed is pulled forward, not one that waits for its next attempt.
    available_at = CASE
        WHEN j.state = 'queued' AND j.attempts = 0 AND j.busy_since IS NULL THEN LEAST(j.available_at, EXCLUDED.available_at)
        ELSE j.available_at
    END
RETURNING j.id, j.workspace_id, j.kind, j.dedupe_key, j.priority, j.rank, j.state, j.available_at
