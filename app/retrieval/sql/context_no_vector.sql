-- in:    nothing
-- out:   no rows: the vector legs of an embedder that does not answer
-- index: none
SELECT NULL::int AS kind, NULL::uuid AS owner_id, NULL::float8 AS distance WHERE false
