-- in:    $1 workspace, $2 question vector, $3 rows; {space}, {dimension}, {kind}
-- out:   (kind, owner_id, distance): the chunks of the nearest windows; fewer than $3 where a few chunks have them all
-- index: ix_windows_hnsw_{space}
SELECT {kind} AS kind, near.owner_id, near.distance
FROM (
    SELECT w.owner_id, min(w.distance) AS distance
    FROM (
        SELECT v.chunk_id AS owner_id, v.dense::halfvec({dimension}) <=> $2::halfvec({dimension}) AS distance
        FROM windows v
        WHERE v.workspace_id = $1 AND v.space_id = {space}
        ORDER BY v.dense::halfvec({dimension}) <=> $2::halfvec({dimension})
        LIMIT 4 * $3::int
    ) AS w
    GROUP BY w.owner_id
    ORDER BY distance, w.owner_id
    LIMIT $3
) AS near
