-- in:    the job: $1 workspace, $2 id, $3 turn; its claim: $4 queue id, $5 worker;
--        the outcome: $6 state, $7 delay in seconds, $8 counted, $9 busy, $10 error code, $11 error detail;
--        the wake-up of the workers: $12 channel, $13 message
-- out:   one row: state (null: not written), mine (still this turn: somebody holds the row, try again)
-- index: pk_jobs, mindcone_pgqueuer_pkey
--
-- Job and queue row change together, and only while both are still this worker's. A job that was asked for
-- again meanwhile goes back into the queue instead of ending. A row that goes back gets a new queue id: the
-- queue remembers the ids it has in hand and would pass over one it meets again too soon.
WITH mine AS (
    SELECT j.workspace_id, j.id FROM jobs j
    WHERE j.workspace_id = $1 AND j.id = $2 AND j.turn = $3 AND j.state = 'working'
    FOR UPDATE SKIP LOCKED
),
settled AS (
    UPDATE jobs j SET
        state = CASE WHEN j.rerun THEN 'queued' ELSE $6::text END,
        attempts = CASE
            WHEN j.rerun AND $6::text <> 'queued' THEN 0
            WHEN $8::bool THEN j.attempts
            ELSE j.attempts - 1
        END,
        rerun = false,
        busy_since = CASE
            WHEN $9::bool THEN COALESCE(j.busy_since, now())
            WHEN NOT $8::bool THEN j.busy_since
        END,
        progress = CASE WHEN $6::text = 'done' THEN 1 ELSE j.progress END,
        error_code = CASE WHEN $8::bool OR $9::bool THEN $10::text ELSE j.error_code END,
        error_detail = CASE WHEN $8::bool OR $9::bool THEN $11::text ELSE j.error_detail END,
        available_at = now() + make_interval(secs => $7::float8),
        finished_at = CASE WHEN NOT j.rerun AND $6::text <> 'queued' THEN now() END
    FROM mine
    WHERE j.workspace_id = mine.workspace_id AND j.id = mine.id
    RETURNING j.state, j.available_at
),
dropped AS (
    DELETE FROM mindcone_pgqueuer q USING settled
    WHERE q.id = $4 AND q.queue_manager_id = $5 AND settled.state <> 'queued'
),
again AS (
    UPDATE mindcone_pgqueuer q SET
        id = nextval('mindcone_pgqueuer_id_seq'),
        status = 'queued',
        execute_after = settled.available_at,
        updated = now(),
        attempts = q.attempts + 1,
        queue_manager_id = NULL,
        slot = NULL
    FROM settled
    WHERE q.id = $4 AND q.queue_manager_id = $5 AND settled.state = 'queued'
)
SELECT
    (SELECT settled.state FROM settled) AS state,
    EXISTS (
        SELECT FROM jobs j
        WHERE j.workspace_id = $1 AND j.id = $2 AND j.turn = $3 AND j.state = 'working'
    ) AS mine,
    -- Changing a queue row wakes nobody by itself; adding and removing one does.
    (SELECT pg_notify($12, $13) FROM settled WHERE settled.state = 'queued') AS woken
