-- in:    $1 workspace, $2 docs, $3 words, $4 grams, $5 word terms, $6 gram terms (parallel arrays)
-- out:   nothing
-- index: none; fails on pk_lex_recent when a doc is given twice
INSERT INTO lex_recent (workspace_id, doc, words, grams, word_terms, gram_terms)
SELECT $1, new.*
FROM unnest($2::bigint[], $3::int[], $4::int[], $5::bytea[], $6::bytea[]) AS new
