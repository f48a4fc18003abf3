-- in:    $1 workspace, $6 docs that filters allow (null: all), $7 windows to read, $8 sparse question vector; {space}
-- out:   windows by inner product of lexical weights; a product of 0 is no hit
-- index: pk_windows
SELECT near.card_id, near.chunk_id, near.distance
FROM (
    SELECT w.card_id, w.chunk_id, w.sparse <#> $8::sparsevec AS distance
    FROM windows w
    WHERE w.workspace_id = $1
      AND w.space_id = {space}
      AND w.sparse IS NOT NULL
      AND ($6::bigint[] IS NULL OR w.chunk_id IN (
            SELECT ch.id FROM chunks ch WHERE ch.workspace_id = $1 AND ch.doc = ANY ($6::bigint[])))
    OFFSET 0
) AS near
WHERE near.distance < 0
ORDER BY near.distance, near.chunk_id
LIMIT $7
