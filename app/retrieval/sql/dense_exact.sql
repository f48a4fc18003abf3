-- in:    $1 workspace, $2 question vector, $6 docs that filters allow (null: all), $7 windows to read; {space}
-- out:   the nearest windows, exactly
-- index: pk_windows (the workspace's own rows), no vector index: recall is 1 by construction
SELECT near.card_id, near.chunk_id, near.distance
FROM (
    SELECT w.card_id, w.chunk_id, w.dense <=> $2::halfvec AS distance
    FROM windows w
    WHERE w.workspace_id = $1
      AND w.space_id = {space}
      AND ($6::bigint[] IS NULL OR w.chunk_id IN (
            SELECT ch.id FROM chunks ch WHERE ch.workspace_id = $1 AND ch.doc = ANY ($6::bigint[])))
    -- The offset keeps the planner from a vector index, which is approximate under a filter.
    OFFSET 0
) AS near
ORDER BY near.distance, near.chunk_id
LIMIT $7
