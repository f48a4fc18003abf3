-- in:    $1 workspace, $2 question vector, $7 windows to read; {space}, {dimension}; {many}: a condition or nothing
-- out:   the nearest windows; with iterative scans the filter cannot leave too few of them
-- index: ix_windows_hnsw_{space}
SELECT near.card_id, near.chunk_id, near.distance
FROM (
    SELECT w.card_id, w.chunk_id, w.dense::halfvec({dimension}) <=> $2::halfvec({dimension}) AS distance
    FROM windows w
    WHERE w.workspace_id = $1
      AND w.space_id = {space}
      {many: w.card_id}
    ORDER BY w.dense::halfvec({dimension}) <=> $2::halfvec({dimension})
    LIMIT $7
) AS near
ORDER BY near.distance, near.chunk_id
