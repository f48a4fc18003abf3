-- in:    $1 workspace, $14 cards that filters let pass; {table}; `v` is a row of vectors
-- out:   the condition on vectors where few cards pass
-- index: ix_{table}_card_id, pk of the vectors
-- As an array, so that the vectors are looked up; a join would be planned as a scan of all of them.
AND v.owner_id = ANY (ARRAY(SELECT o.id FROM {table} o WHERE o.workspace_id = $1 AND o.card_id = ANY ($14::uuid[])))
