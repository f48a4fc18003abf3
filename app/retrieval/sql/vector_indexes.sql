-- in:    $1 names of vector indexes
-- out:   (name, entries as the planner believes) of those that can be used
-- index: pg_class_relname_nsp_index
SELECT c.relname::text AS name, greatest(c.reltuples, 0)::bigint AS entries
FROM pg_class c
JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relname = ANY ($1::text[]) AND i.indisvalid
