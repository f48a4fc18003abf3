-- in:    $1 workspace, $2 question vector, $3 rows; {space}, {kind}, {table}, {text}, {vectors}, {role}; {han} and {share}: which
--        script, and bytes beyond one per character from which on a text is in Han
-- out:   (kind, owner_id, distance): the nearest texts of a kind among those of one script, exactly
-- index: pk_{table} (the workspace's own rows), pk_{vectors}
SELECT {kind} AS kind, near.owner_id, near.distance
FROM (
    SELECT v.owner_id, v.dense <=> $2::halfvec AS distance
    FROM {table} o
    JOIN {vectors} v ON v.workspace_id = $1 AND v.owner_id = o.id AND v.space_id = {space} AND v.role = {role}
    WHERE o.workspace_id = $1
      AND ((octet_length(o.{text}) - length(o.{text})) > {share} * length(o.{text})) = {han}
    ORDER BY distance, v.owner_id
    LIMIT $3
) AS near
