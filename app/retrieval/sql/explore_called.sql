-- in:    $1 workspace, $2 entities, $3 docs of more entities; {root}: see there
-- out:   (asked, entity_id, name): what these entities stand for
-- index: uq_entities_doc, and those of the parts
SELECT wanted.id AS asked, root.id AS entity_id, root.name
FROM (
    SELECT given.id FROM unnest($2::uuid[]) AS given (id)
    UNION
    SELECT found.id
    FROM unnest($3::bigint[]) AS given (doc)
    CROSS JOIN LATERAL (
        SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.doc = given.doc OFFSET 0
    ) AS found
) AS wanted
{root: wanted.id}
