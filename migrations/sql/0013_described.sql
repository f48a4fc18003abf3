-- A worker builds those that are asked again, the entities' with fewer rows in it: first they go, as every row that is
-- updated below would be put into them.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.relname FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        WHERE pg_table_is_visible(c.oid) AND c.relname ~ '^ix_((entity|episode|role|point)_vectors_hnsw_\d+_0|facet_vectors_hnsw_\d+_[02])$'
    LOOP
        EXECUTE format('DROP INDEX %I', name);
    END LOOP;
END $$;
-- next
UPDATE entity_vectors v SET described = true
FROM entities e
WHERE e.workspace_id = v.workspace_id AND e.id = v.owner_id AND e.description <> '';
