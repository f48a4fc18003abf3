-- in:    nothing
-- out:   no rows: the leg of an embedder that does not answer
-- index: none
SELECT NULL::uuid AS card_id, NULL::uuid AS chunk_id, NULL::float8 AS distance
WHERE $2::halfvec IS NOT NULL AND $6::bigint[] IS NOT NULL AND $7::int IS NULL
