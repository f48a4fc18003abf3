-- in:    $1 workspace
-- out:   one row that is another one after every write that changes the graph: what is learned gets higher numbers,
--        what goes into the trash a date, and who is who a decision. What is removed for good was in the trash before,
--        or leaves behind nodes that no answer shows
-- index: uq_chunks_workspace_id_doc, uq_relations_doc, uq_entities_doc, ix_cards_trashed_at,
--        ix_entity_decisions_created_at
SELECT
    (SELECT max(doc) FROM chunks WHERE workspace_id = $1) AS chunks,
    (SELECT max(doc) FROM relations WHERE workspace_id = $1) AS relations,
    (SELECT max(doc) FROM entities WHERE workspace_id = $1) AS entities,
    (SELECT max(trashed_at) FROM cards WHERE workspace_id = $1 AND trashed_at IS NOT NULL) AS trashed,
    (SELECT max(created_at) FROM entity_decisions WHERE workspace_id = $1) AS decided
