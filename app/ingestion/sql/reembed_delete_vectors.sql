-- in:    $1 workspace, $2 space, $3 owner after which to go on, $4 rows; {vectors}: a table, {owner}: its owner's column
-- out:   the last owner that was looked at, null when there is nothing more
-- index: the table's primary key (see reembed_count_chunks)
-- What another transaction holds is passed over: it is being removed with its card, and waiting for each other
-- row by row is how two of these would come to a deadlock.
WITH picked AS MATERIALIZED (
    SELECT v.{owner} AS owner_id
    FROM {vectors} v
    WHERE v.workspace_id = $1 AND v.space_id + 0 = $2 AND v.{owner} > $3
    ORDER BY v.{owner}
    LIMIT $4
),
free AS (
    SELECT v.ctid
    FROM {vectors} v
    WHERE v.workspace_id = $1 AND v.space_id + 0 = $2 AND v.{owner} = ANY (ARRAY(SELECT DISTINCT owner_id FROM picked))
    FOR UPDATE SKIP LOCKED
),
gone AS (
    DELETE FROM {vectors} v WHERE v.ctid = ANY (ARRAY(SELECT ctid FROM free))
)
SELECT owner_id FROM picked ORDER BY owner_id DESC LIMIT 1
