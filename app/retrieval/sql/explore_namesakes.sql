-- in:    $1 workspace; {root}: see there
-- out:   rows (id, root): what the walk knows by the id of another: entities that were merged, and twins (see
--        `explore_members`) of an elder one
-- index: uq_entities_key (index only), ix_entities_merged_into, and those of the part
WITH shared AS MATERIALIZED (
    SELECT e.key, e.sense
    FROM entities e
    WHERE e.workspace_id = $1
    GROUP BY e.key, e.sense
    HAVING count(*) > 1
),
member AS MATERIALIZED (
    SELECT twin.id
    FROM shared
    CROSS JOIN LATERAL (
        SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.key = shared.key AND e.sense = shared.sense OFFSET 0
    ) AS twin
    UNION
    SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into IS NOT NULL
)
SELECT member.id, root.id AS root
FROM member
{root: member.id}
WHERE root.id <> member.id
