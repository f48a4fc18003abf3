-- in:    $1 workspace, $2 question vector, $7 windows to read; {space}; {few}: a condition on windows or nothing; after
--        `other_chunks`
-- out:   the nearest windows of passages in another script than the question's, exactly
-- index: pk_windows (the workspace's own rows)
SELECT w.card_id, w.chunk_id, w.dense <=> $2::halfvec AS distance
FROM windows w
WHERE w.workspace_id = $1
  AND w.space_id = {space}
  -- IS TRUE keeps it a look-up in a hash table: the planner would rather fetch the windows of one passage after another.
  AND (w.chunk_id IN (SELECT id FROM other_chunks)) IS TRUE
  {few}
ORDER BY distance, w.chunk_id
LIMIT $7
