-- in:    $1 workspace, $2 entities, $3 cards to count; {root}, {counted}: see there
-- out:   (entity_id, name, cards, titled, inside): what these entities stand for
-- index: those of the parts
WITH rooted AS MATERIALIZED (
    SELECT DISTINCT root.id, root.name, root.key
    FROM unnest($2::uuid[]) AS wanted (id)
    {root: wanted.id}
)
SELECT root.id AS entity_id, root.name, counted.cards, counted.titled, counted.inside
FROM rooted AS root
{counted: root.id}
