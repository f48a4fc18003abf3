-- in:    $2 cards; {row} is the card of the row
-- out:   the condition on rows of these cards
-- index: none of its own
AND {row} = ANY ($2::uuid[])
