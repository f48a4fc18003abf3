-- in:    $1 workspace, $2 entities, $3 cards to count; {root}, {counted}: see there
-- out:   (asked, entity_id, name, node, cards, titled, inside): what these entities stand for
-- index: those of the parts
WITH rooted AS MATERIALIZED (
    SELECT wanted.id AS asked, root.id, root.name, root.key, root.node
    FROM unnest($2::uuid[]) AS wanted (id)
    {root: wanted.id}
)
SELECT root.asked, root.id AS entity_id, root.name, root.node, counted.cards, counted.titled, counted.inside
FROM rooted AS root
{counted: root.id}
