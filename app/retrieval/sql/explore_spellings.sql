-- in:    $1 workspace, $2 keys, $3 how many neighbours on either side
-- out:   (asked, key, entity_id): names whose keys stand next to these in the order of the database, whichever it is
-- index: ix_entity_names_key
SELECT wanted.key AS asked, near.key, near.entity_id
FROM unnest($2::text[]) AS wanted (key)
CROSS JOIN LATERAL (
    (
        SELECT n.key, n.entity_id
        FROM entity_names n
        WHERE n.workspace_id = $1 AND n.key >= wanted.key
        ORDER BY n.workspace_id, n.key
        LIMIT $3
    )
    UNION ALL
    (
        SELECT n.key, n.entity_id
        FROM entity_names n
        WHERE n.workspace_id = $1 AND n.key < wanted.key
        ORDER BY n.workspace_id DESC, n.key DESC
        LIMIT $3
    )
) AS near
