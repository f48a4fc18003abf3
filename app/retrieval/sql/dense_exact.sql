-- in:    $1 workspace, $2 question vector, $7 windows to read; {space}; {allowed}: `allowed_chunks` or nothing
-- out:   the nearest windows, exactly
-- index: pk_windows (the workspace's own rows), no vector index: recall is 1 by construction
SELECT near.card_id, near.chunk_id, near.distance
FROM (
    SELECT w.card_id, w.chunk_id, w.dense <=> $2::halfvec AS distance
    FROM windows w
    WHERE w.workspace_id = $1
      AND w.space_id = {space}
      {allowed}
    -- The offset keeps the planner from a vector index, which is approximate under a filter.
    OFFSET 0
) AS near
ORDER BY near.distance, near.chunk_id
LIMIT $7
