-- in:    $1 workspace
-- out:   (id, node, key) of every entity: what it stands for
-- index: pk_entities (the workspace's own rows)
SELECT e.id, decode(md5(root.key || ' ' || root.sense), 'hex') AS node, root.key
FROM entities e
JOIN entities root ON root.workspace_id = $1 AND root.id = coalesce(e.merged_into, e.id)
WHERE e.workspace_id = $1
