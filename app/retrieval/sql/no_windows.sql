-- in:    nothing
-- out:   no rows: the leg of an embedder that does not answer, or of a space without lexical weights
-- index: none
SELECT NULL::uuid AS card_id, NULL::uuid AS chunk_id, NULL::float8 AS distance WHERE false
