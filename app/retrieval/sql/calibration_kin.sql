-- in:    $1 workspace, $2 points, $3 most cards
-- out:   (point_id, entity_id, cards): the cards that mention the entity, none when there are more of them than $3
-- index: pk_point_entities, ix_mentions_entity_id
SELECT pe.point_id, pe.entity_id, CASE WHEN near.many <= $3 THEN near.cards ELSE '{}' END AS cards
FROM point_entities pe
CROSS JOIN LATERAL (
    SELECT count(*) AS many, coalesce(array_agg(found.card_id), '{}') AS cards
    FROM (
        SELECT DISTINCT m.card_id FROM mentions m WHERE m.workspace_id = $1 AND m.entity_id = pe.entity_id LIMIT $3 + 1
    ) AS found
) AS near
WHERE pe.workspace_id = $1 AND pe.point_id = ANY ($2::uuid[])
