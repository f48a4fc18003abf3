-- in:    $1 workspace, $2 ids; {table}; {card} and {said}: expressions over `o`
-- out:   (id, card_id, said)
-- index: pk_{table}
SELECT o.id, {card} AS card_id, {said} AS said
FROM {table} o
WHERE o.workspace_id = $1 AND o.id = ANY ($2::uuid[])
