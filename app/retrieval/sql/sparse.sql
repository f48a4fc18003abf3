-- in:    $1 workspace, $7 windows to read, $8 sparse question vector; {space}; {few}, {many}: conditions or nothing
-- out:   windows by inner product of lexical weights; a product of 0 is no hit
-- index: pk_windows
SELECT near.card_id, near.chunk_id, near.distance
FROM (
    SELECT w.card_id, w.chunk_id, w.sparse <#> $8::sparsevec AS distance
    FROM windows w
    WHERE w.workspace_id = $1
      AND w.space_id = {space}
      AND w.sparse IS NOT NULL
      {few}
    ORDER BY distance, w.chunk_id
) AS near
WHERE near.distance < 0
  {many: near.card_id}
LIMIT $7
