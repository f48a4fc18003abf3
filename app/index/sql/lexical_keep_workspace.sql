-- in:    :id workspace
-- out:   one row, and nobody can delete the workspace until we commit; no row when somebody is deleting it
-- index: pk_workspaces
SELECT true FROM workspaces WHERE id = :id FOR KEY SHARE SKIP LOCKED
