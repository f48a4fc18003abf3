-- in:    $1 workspace, $9 tags (all of them), $10 card ids (any of them), $11 created after, $12 created before,
--        $13 metadata that must be equal; null means no such filter; {row} is the card id of the row
-- out:   the condition on rows that come best first, where many cards pass: asked of one after the other
-- index: pk_cards
-- OFFSET 0 keeps it a look-up per row: as a join it could be done first, and for all cards.
AND EXISTS (
    SELECT 1
    FROM cards c
    WHERE c.workspace_id = $1
      AND c.id = {row}
      AND ($9::text[] IS NULL OR c.tags @> $9)
      AND ($10::uuid[] IS NULL OR c.id = ANY ($10))
      AND ($11::timestamptz IS NULL OR c.created_at >= $11)
      AND ($12::timestamptz IS NULL OR c.created_at < $12)
      AND ($13::jsonb IS NULL OR c.metadata @> $13)
    OFFSET 0
)
