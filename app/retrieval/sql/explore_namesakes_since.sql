-- in:    $1 workspace, $2 doc, $3 moment; {root}: see there
-- out:   rows (id, root, is_new): of what is new or was renamed since that doc (`is_new`), of what was decided upon
--        since that moment or the minute before it (who began earlier may end later), and of those that either concerns,
--        the ids by which the walk knows them
-- index: uq_entities_doc, ix_entity_decisions_created_at, uq_entities_key, ix_entities_merged_into, and those of the part
WITH changed AS MATERIALIZED (
    SELECT e.id, true AS is_new
    FROM entities e
    WHERE e.workspace_id = $1 AND e.doc > $2
    UNION ALL
    SELECT side.id, false
    FROM entity_decisions d
    CROSS JOIN LATERAL unnest(ARRAY[d.left_id, d.right_id]) AS side (id)
    WHERE d.workspace_id = $1 AND d.created_at > coalesce($3::timestamptz - interval '1 minute', '-infinity')
),
concerned AS MATERIALIZED (
    SELECT found.id, bool_or(found.is_new) AS is_new
    FROM (
        SELECT changed.id, changed.is_new FROM changed
        UNION ALL
        SELECT twin.id, false
        FROM (SELECT DISTINCT id FROM changed) AS one
        CROSS JOIN LATERAL (
            SELECT t.id
            FROM entities e
            JOIN entities t ON t.workspace_id = $1 AND t.key = e.key AND t.sense = e.sense
            WHERE e.workspace_id = $1 AND e.id = one.id
            OFFSET 0
        ) AS twin
        UNION ALL
        SELECT member.id, false
        FROM (SELECT DISTINCT id FROM changed) AS one
        CROSS JOIN LATERAL (
            SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = one.id OFFSET 0
        ) AS member
    ) AS found
    GROUP BY found.id
)
SELECT concerned.id, root.id AS root, concerned.is_new
FROM concerned
{root: concerned.id}
