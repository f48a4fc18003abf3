-- in:    $1 workspace, $2 question vector, $7 windows to read; {space}; {few}, {many}: conditions or nothing
-- out:   the nearest windows, exactly
-- index: pk_windows (the workspace's own rows), no vector index: recall is 1 by construction
SELECT near.card_id, near.chunk_id, near.distance
FROM (
    -- Without the cast that the vector index has, which is approximate under a filter.
    SELECT w.card_id, w.chunk_id, w.dense <=> $2::halfvec AS distance
    FROM windows w
    WHERE w.workspace_id = $1
      AND w.space_id = {space}
      {few}
    ORDER BY distance, w.chunk_id
) AS near
WHERE true
  {many: near.card_id}
LIMIT $7
