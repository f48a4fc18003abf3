-- in:    $1 workspace, $2 current space, $3 space that is being filled, ($4, $5) owner and role after which to go on,
--        $6 rows; {vectors}: a table; {parts}: what its texts are made from
-- out:   the next texts, by owner and role, whose vector is missing there or is of another text
-- index: the table's primary key (see reembed_count_chunks), that of its owners
SELECT v.owner_id, v.role, v.text_hash, parts.parts
FROM (
    SELECT c.owner_id, c.role, c.text_hash
    FROM {vectors} c
    WHERE c.workspace_id = $1
      AND c.space_id + 0 = $2
      AND c.owner_id >= $4
      AND (c.owner_id, c.role) > ($4::uuid, $5::int)
      AND NOT EXISTS (
          SELECT FROM {vectors} f
          WHERE f.workspace_id = $1 AND f.owner_id = c.owner_id AND f.space_id + 0 = $3 AND f.role = c.role
            AND f.text_hash = c.text_hash
          OFFSET 0
      )
    ORDER BY c.owner_id, c.role
    LIMIT $6
) AS v
{parts}
ORDER BY v.owner_id, v.role
