-- in:    $1 workspace, $2 relations, $3 points, $4 cards to count; {root}, {counted}: see there
-- out:   rows (relation_id, point_id, entity_id, name, cards, titled, inside): whom each of these facts is about
-- index: pk_relations, pk_point_entities, and those of the parts
WITH about AS MATERIALIZED (
    SELECT r.id AS relation_id, NULL::uuid AS point_id, one.id AS entity_id
    FROM unnest($2::uuid[]) AS wanted (id)
    JOIN relations r ON r.workspace_id = $1 AND r.id = wanted.id
    CROSS JOIN LATERAL unnest(ARRAY[r.source_id, r.target_id]) AS one (id)
    UNION ALL
    SELECT NULL, pe.point_id, pe.entity_id
    FROM unnest($3::uuid[]) AS wanted (id)
    JOIN point_entities pe ON pe.workspace_id = $1 AND pe.point_id = wanted.id
),
rooted AS MATERIALIZED (
    SELECT DISTINCT about.relation_id, about.point_id, root.id, root.name, root.key
    FROM about
    {root: about.entity_id}
),
numbers AS MATERIALIZED (
    SELECT root.id, counted.cards, counted.titled, counted.inside
    FROM (SELECT DISTINCT id, key FROM rooted) AS root
    {counted: root.id}
)
SELECT rooted.relation_id, rooted.point_id, rooted.id AS entity_id, rooted.name, numbers.cards,
       numbers.titled, numbers.inside
FROM rooted
JOIN numbers ON numbers.id = rooted.id
