-- An index over described entities alone cannot outlive the column; a worker builds it again over all.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT c.relname FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
        WHERE pg_table_is_visible(c.oid) AND c.relname ~ '^ix_entity_vectors_hnsw_\d+_0$'
    LOOP
        EXECUTE format('DROP INDEX %I', name);
    END LOOP;
END $$;
