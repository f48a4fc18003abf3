-- in:    $1 workspace, $2 question vector (null: none), $3 entities, $4 relations per entity that are compared, $5 that
--        are kept; {space}; {members}, {root}: see there
-- out:   rows (source_id, degree, relation_id, entity_id, name, distance): where the relations of an entity lead,
--        either way, those first whose text is nearest to the question; `degree` counts no further than $4
-- index: ix_relations_source_id, ix_relations_target_id, pk_relation_vectors, and those of the parts
SELECT
    wanted.id AS source_id,
    edge.degree,
    edge.relation_id,
    root.id AS entity_id,
    root.name,
    edge.distance
FROM unnest($3::uuid[]) AS wanted (id)
CROSS JOIN LATERAL (
    SELECT array_agg(member.id) AS ids
    FROM (
        {members: wanted.id}
    ) AS member
) AS members
CROSS JOIN LATERAL (
    SELECT said.relation_id, said.other, vector.distance, count(*) OVER () AS degree
    FROM (
        SELECT r.id AS relation_id, r.target_id AS other
        FROM unnest(members.ids) AS member (id)
        JOIN relations r ON r.workspace_id = $1 AND r.source_id = member.id
        UNION ALL
        SELECT r.id, r.source_id
        FROM unnest(members.ids) AS member (id)
        JOIN relations r ON r.workspace_id = $1 AND r.target_id = member.id
        LIMIT $4
    ) AS said
    LEFT JOIN LATERAL (
        SELECT v.dense <=> $2::halfvec AS distance
        FROM relation_vectors v
        WHERE v.workspace_id = $1 AND v.owner_id = said.relation_id AND v.space_id = {space} AND v.role = 0
        OFFSET 0
    ) AS vector ON true
    ORDER BY vector.distance, said.relation_id
    LIMIT $5
) AS edge
{root: edge.other}
WHERE root.id <> wanted.id
