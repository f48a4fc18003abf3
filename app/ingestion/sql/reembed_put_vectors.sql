-- in:    $1 workspace, $2 current space, $3 space that is being filled; parallel arrays: $4 owners, $5 roles,
--        $6 text hashes, $7 vectors; {vectors}: a table; {column}, {value}, {renewed}: one column
--        more, or nothing
-- out:   nothing; left out is what is gone, or has another text by now
-- index: the table's primary key
INSERT INTO {vectors} (workspace_id, owner_id, space_id, role, text_hash, dense{column})
SELECT $1, c.owner_id, $3, c.role, new.text_hash, new.dense{value}
FROM unnest($4::uuid[], $5::int[], $6::uuid[], $7::halfvec[]) AS new (owner_id, role, text_hash, dense)
JOIN {vectors} c
    ON c.workspace_id = $1 AND c.owner_id = new.owner_id AND c.space_id = $2 AND c.role = new.role
    AND c.text_hash = new.text_hash
ON CONFLICT (workspace_id, owner_id, space_id, role)
DO UPDATE SET text_hash = excluded.text_hash, dense = excluded.dense{renewed}
