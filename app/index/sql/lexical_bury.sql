-- in:    :workspace_id, :collection, :seg, :gone (packed docs, members of the segment), and what they take from its sums
-- out:   nothing
-- index: pk_lex_segment
UPDATE lex_segment
SET docs = docs - :docs, words = words - :words, gram_docs = gram_docs - :gram_docs, grams = grams - :grams,
    dead = dead || CAST(:gone AS bytea)
WHERE workspace_id = :workspace_id AND collection = :collection AND seg = :seg
