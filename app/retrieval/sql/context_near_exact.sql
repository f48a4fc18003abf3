-- in:    $1 workspace, $2 question vector, $3 rows; {space}, {kind}, {table}, {vectors}, {role}; {few}, {many}: conditions
--        or nothing
-- out:   (kind, owner_id, distance): the nearest texts of a kind, exactly
-- index: pk_{vectors} (the workspace's own rows), no vector index: recall is 1 by construction
SELECT {kind} AS kind, near.owner_id, near.distance
FROM (
    SELECT v.owner_id, v.dense <=> $2::halfvec AS distance
    FROM {vectors} v
    WHERE v.workspace_id = $1 AND v.space_id = {space} AND v.role = {role}
      {few}
    ORDER BY distance, v.owner_id
) AS near
WHERE true
  {many: near.owner_id}
LIMIT $3
