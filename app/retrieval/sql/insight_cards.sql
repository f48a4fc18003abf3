-- in:    $1 workspace, $2 ids of cards, then the values of the filters
-- out:   those of the cards that are there, and pass the filters
-- index: pk_cards
SELECT c.id
FROM unnest($2::uuid[]) AS wanted (id)
JOIN cards c ON c.workspace_id = $1 AND c.id = wanted.id
WHERE c.trashed_at IS NULL AND {conditions}
