-- in:    $1 workspace, $9-$13 filters; {table}; {row} is the id of a row of it
-- out:   the condition on rows that come best first, where many cards pass: asked of one after the other
-- index: pk_{table}, pk_cards
AND EXISTS (
    SELECT 1
    FROM {table} o
    WHERE o.workspace_id = $1
      AND o.id = {row}
      {many: o.card_id}
    OFFSET 0
)
