-- in:    $1 workspace, $2 space, $3 how far to count
-- out:   one number, the chunks that have no windows in it
-- index: pk_windows
-- OFFSET 0 keeps it a look-up per row, and "+ 0" keeps the look-up to the primary key: of a space that is just being
-- filled the planner believes that it is empty, and would go through all of it for every row.
SELECT count(*)
FROM (
    SELECT 1
    FROM chunks ch
    WHERE ch.workspace_id = $1
      AND NOT EXISTS (
          SELECT FROM windows w WHERE w.workspace_id = $1 AND w.chunk_id = ch.id AND w.space_id + 0 = $2 OFFSET 0
      )
    LIMIT $3
) AS missing
