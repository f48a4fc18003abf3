-- in:    $1 workspace; {passage}: which passages are in another script than the question
-- out:   their ids, for the legs of `pool`
-- index: uq_chunks_workspace_id_card_id_ordinal, pk_cards
other_chunks AS MATERIALIZED (
    SELECT ch.id
    FROM chunks ch
    JOIN cards c ON c.workspace_id = $1 AND c.id = ch.card_id
    WHERE ch.workspace_id = $1
      {passage}
),
