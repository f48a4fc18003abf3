-- in:    $1 workspace, $2 collection; parallel arrays: $3 docs, $4 words, $5 grams, $6 word terms, $7 gram terms
-- out:   nothing
-- index: none; fails on pk_lex_recent when a doc is given twice
INSERT INTO lex_recent (workspace_id, collection, doc, words, grams, word_terms, gram_terms)
SELECT $1, $2, new.*
FROM unnest($3::bigint[], $4::int[], $5::int[], $6::bytea[], $7::bytea[]) AS new
