-- in:    $1 workspace, $6 docs that filters let pass; `w` is a row of windows
-- out:   the condition on windows where few cards pass
-- index: uq_chunks_workspace_id_doc, pk_windows
-- As an array, so that the windows are looked up; a join would be planned as a scan of all windows.
AND w.chunk_id = ANY (ARRAY(SELECT ch.id FROM chunks ch WHERE ch.workspace_id = $1 AND ch.doc = ANY ($6::bigint[])))
