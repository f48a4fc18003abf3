-- in:    $1 workspace, $2 question vector, $7 windows to read; {space}; {passage}: which passages are in the other script;
--        {few}: a condition on windows or nothing
-- out:   the nearest windows of passages in another script than the question's, exactly
-- index: uq_chunks_workspace_id_doc, pk_cards, pk_windows (the workspace's own rows)
SELECT w.card_id, w.chunk_id, w.dense <=> $2::halfvec AS distance
FROM chunks ch
JOIN cards c ON c.workspace_id = $1 AND c.id = ch.card_id
JOIN windows w ON w.workspace_id = $1 AND w.chunk_id = ch.id AND w.space_id = {space}
WHERE ch.workspace_id = $1
  {passage}
  {few}
ORDER BY distance, w.chunk_id
LIMIT $7
