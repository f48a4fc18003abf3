-- in:    $1 workspace
-- out:   one number, the rows of all collections that the postings know
-- index: pk_lex_segment, pk_lex_recent
SELECT
    coalesce((SELECT sum(s.docs) FROM lex_segment s WHERE s.workspace_id = $1), 0)
    + (SELECT count(*) FROM lex_recent r WHERE r.workspace_id = $1)
