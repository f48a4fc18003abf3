-- in:    $1 workspace, $7 windows to read, $8 sparse question vector; {space}; {allowed}: one of the two, or nothing
-- out:   windows by inner product of lexical weights; a product of 0 is no hit
-- index: pk_windows
SELECT near.card_id, near.chunk_id, near.distance
FROM (
    SELECT w.card_id, w.chunk_id, w.sparse <#> $8::sparsevec AS distance
    FROM windows w
    WHERE w.workspace_id = $1
      AND w.space_id = {space}
      AND w.sparse IS NOT NULL
      {allowed}
    OFFSET 0
) AS near
WHERE near.distance < 0
ORDER BY near.distance, near.chunk_id
LIMIT $7
