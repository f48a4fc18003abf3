-- in:    $1 workspace, $2 question vector, $3 rows; {space}, {kind}
-- out:   (kind, owner_id, distance): the chunks whose best windows are nearest, exactly
-- index: pk_windows (the workspace's own rows), no vector index
SELECT {kind} AS kind, near.owner_id, near.distance
FROM (
    SELECT v.chunk_id AS owner_id, min(v.dense <=> $2::halfvec) AS distance
    FROM windows v
    WHERE v.workspace_id = $1 AND v.space_id = {space}
    GROUP BY v.chunk_id
    ORDER BY distance, owner_id
    LIMIT $3
) AS near
