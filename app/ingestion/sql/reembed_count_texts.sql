-- in:    $1 workspace, $2 current space, $3 space that is being filled, $4 how far to count; {vectors}: a table
-- out:   one number, the texts whose vector is missing there, or is of another text
-- index: the table's primary key (see reembed_count_chunks)
SELECT count(*)
FROM (
    SELECT 1
    FROM {vectors} c
    WHERE c.workspace_id = $1
      AND c.space_id = $2
      AND NOT EXISTS (
          SELECT FROM {vectors} f
          WHERE f.workspace_id = $1 AND f.owner_id = c.owner_id AND f.space_id + 0 = $3 AND f.role = c.role
            AND f.text_hash = c.text_hash
          OFFSET 0
      )
    LIMIT $4
) AS missing
