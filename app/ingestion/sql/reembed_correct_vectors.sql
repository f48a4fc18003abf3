-- in:    $1 workspace, $2 space; parallel arrays: $3 owners, $4 roles, $5 text hashes, $6 vectors; {vectors}: a table;
--        {renewed}: one column more, or nothing
-- out:   nothing; rows that are gone stay gone
-- index: the table's primary key
UPDATE {vectors} v
SET text_hash = new.text_hash, dense = new.dense{renewed}
FROM unnest($3::uuid[], $4::int[], $5::uuid[], $6::halfvec[]) AS new (owner_id, role, text_hash, dense)
WHERE v.workspace_id = $1 AND v.owner_id = new.owner_id AND v.space_id = $2 AND v.role = new.role
