-- in:    $1 workspace, $2 question vector, $3 rows; {space}, {dimension}, {kind}, {vectors}, {role}; {many}: a condition
-- out:   (kind, owner_id, distance): the nearest texts of a kind; with iterative scans the filter cannot leave too few
-- index: ix_{vectors}_hnsw_{space}_{role}
SELECT {kind} AS kind, near.owner_id, near.distance
FROM (
    SELECT v.owner_id, v.dense::halfvec({dimension}) <=> $2::halfvec({dimension}) AS distance
    FROM {vectors} v
    WHERE v.workspace_id = $1 AND v.space_id = {space} AND v.role = {role}
      {many: v.owner_id}
    ORDER BY v.dense::halfvec({dimension}) <=> $2::halfvec({dimension})
    LIMIT $3
) AS near
