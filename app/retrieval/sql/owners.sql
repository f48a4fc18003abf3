-- in:    $1 workspace, ${place} docs of a collection; {collection}, {table}, {owner}: which id
-- out:   (collection, doc, owner_id); docs whose row has gone have none
-- index: uq_{table}_doc
SELECT {collection} AS collection, found.doc, owner.id AS owner_id
FROM unnest(${place}::bigint[]) AS found (doc)
CROSS JOIN LATERAL (
    SELECT {owner} AS id FROM {table} o WHERE o.workspace_id = $1 AND o.doc = found.doc OFFSET 0
) AS owner
