-- in:    $1 workspace, $2 relations, $3 points, $4 cards to count; {counted}: how they are counted
-- out:   rows (relation_id, point_id, card_id, entity_id, name, cards, titled, inside): whom each of these facts is about
-- index: pk_relations, pk_points, pk_point_entities, pk_entities, and those of `explore_counts`
SELECT fact.relation_id, fact.point_id, fact.card_id, root.id AS entity_id, root.name, counted.cards, counted.titled,
       counted.inside
FROM (
    SELECT r.id AS relation_id, NULL::uuid AS point_id, r.card_id, one.id AS entity_id
    FROM unnest($2::uuid[]) AS wanted (id)
    JOIN relations r ON r.workspace_id = $1 AND r.id = wanted.id
    CROSS JOIN LATERAL unnest(ARRAY[r.source_id, r.target_id]) AS one (id)
    UNION ALL
    SELECT NULL, p.id, p.card_id, pe.entity_id
    FROM unnest($3::uuid[]) AS wanted (id)
    JOIN points p ON p.workspace_id = $1 AND p.id = wanted.id
    JOIN point_entities pe ON pe.workspace_id = $1 AND pe.point_id = p.id
) AS fact
CROSS JOIN LATERAL (
    SELECT o.id, o.name
    FROM entities e
    JOIN entities o ON o.workspace_id = $1 AND o.id = coalesce(e.merged_into, e.id)
    WHERE e.workspace_id = $1 AND e.id = fact.entity_id
    OFFSET 0
) AS root
{counted}
