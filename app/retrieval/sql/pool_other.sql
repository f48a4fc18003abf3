-- in:    $1 workspace; `p` is a row with a chunk_id; {passage}: as in `dense_other`
-- out:   whether the passage is in another script than the question, as a column
-- index: pk_chunks, pk_cards
EXISTS (
    SELECT 1
    FROM chunks ch
    JOIN cards c ON c.workspace_id = $1 AND c.id = ch.card_id
    WHERE ch.workspace_id = $1
      AND ch.id = p.chunk_id
      {passage}
    OFFSET 0
) AS in_other
