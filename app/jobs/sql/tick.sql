-- in:    every job in hand: $1 workspaces, $2 ids, $3 turns, $4 steps, $5 fractions, $6 whether there is news
-- out:   ids and turns of those that are no longer this worker's: cancelled, or taken by another
-- index: pk_jobs
WITH held AS (
    SELECT *
    FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::float8[], $6::bool[])
        AS h (workspace_id, id, turn, step, progress, news)
),
free AS (
    SELECT j.workspace_id, j.id, held.step, held.progress
    FROM jobs j JOIN held USING (workspace_id, id)
    WHERE held.news AND j.state = 'working' AND j.turn = held.turn
    FOR UPDATE OF j SKIP LOCKED
),
noted AS (
    UPDATE jobs j SET step = free.step, progress = free.progress
    FROM free
    WHERE j.workspace_id = free.workspace_id AND j.id = free.id
)
SELECT held.id, held.turn
FROM held LEFT JOIN jobs j USING (workspace_id, id)
WHERE j.id IS NULL OR j.state <> 'working' OR j.turn <> held.turn
