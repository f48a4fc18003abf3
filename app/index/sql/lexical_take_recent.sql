-- in:    $1 workspace, $2 collection, $3 how many
-- out:   the oldest recent docs, which are thereby no longer recent: doc, words, grams, word_terms, gram_terms
-- index: pk_lex_recent
-- SKIP LOCKED: a row that somebody is deleting is theirs. MATERIALIZED: the locked set must be
-- decided once, whatever join the planner picks.
WITH taken AS MATERIALIZED (
    SELECT doc
    FROM lex_recent
    WHERE workspace_id = $1 AND collection = $2
    ORDER BY doc
    LIMIT $3
    FOR UPDATE SKIP LOCKED
)
DELETE FROM lex_recent AS recent
USING taken
WHERE recent.workspace_id = $1 AND recent.collection = $2 AND recent.doc = taken.doc
RETURNING recent.doc, recent.words, recent.grams, recent.word_terms, recent.gram_terms
