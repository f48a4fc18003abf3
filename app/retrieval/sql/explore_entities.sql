-- in:    $1 workspace, $2 entities, $3 cards to count, $4 docs of more entities; {root}, {counted}: see there
-- out:   (asked, entity_id, name, cards, titled, inside): what these entities stand for
-- index: uq_entities_doc, and those of the parts
WITH wanted AS MATERIALIZED (
    SELECT given.id FROM unnest($2::uuid[]) AS given (id)
    UNION
    SELECT found.id
    FROM unnest($4::bigint[]) AS given (doc)
    CROSS JOIN LATERAL (
        SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.doc = given.doc OFFSET 0
    ) AS found
),
rooted AS MATERIALIZED (
    SELECT wanted.id AS asked, root.id, root.name, root.key
    FROM wanted
    {root: wanted.id}
)
SELECT root.asked, root.id AS entity_id, root.name, counted.cards, counted.titled, counted.inside
FROM rooted AS root
{counted: root.id}
