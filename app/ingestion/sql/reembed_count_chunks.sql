-- in:    $1 workspace, $2 space, $3 how far to count
-- out:   one number, the chunks that have no windows in it
-- index: pk_windows
SELECT count(*)
FROM (
    SELECT 1
    FROM chunks ch
    WHERE ch.workspace_id = $1
      AND NOT EXISTS (SELECT FROM windows w WHERE w.workspace_id = $1 AND w.chunk_id = ch.id AND w.space_id = $2)
    LIMIT $3
) AS missing
