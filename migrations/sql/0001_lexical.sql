-- Storage: postings are incompressible, so no time is spent on trying; and most blocks and recent
-- rows stay inside their heap page, which saves the detour through the TOAST index.
ALTER TABLE lex_block ALTER COLUMN postings SET STORAGE EXTERNAL;
-- next
ALTER TABLE lex_block SET (toast_tuple_target = 8160);
-- next
ALTER TABLE lex_recent ALTER COLUMN word_terms SET STORAGE EXTERNAL, ALTER COLUMN gram_terms SET STORAGE EXTERNAL;
-- next
-- Every recent row dies young: dead ones must not pile up in front of the brute-force scan.
ALTER TABLE lex_recent SET (
    toast_tuple_target = 8160,
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 5000
);
-- next
ALTER TABLE lex_segment ALTER COLUMN members SET STORAGE EXTERNAL, ALTER COLUMN dead SET STORAGE EXTERNAL;
-- next
-- A deleted chunk leaves the index in the deleting transaction, whatever deletes it (cascades too).
-- Under READ COMMITTED this cannot miss the fold: if the fold has removed the recent row but not
-- committed, the DELETE waits for it and then finds nothing, so the doc is in a segment and gets its
-- tombstone; if this DELETE came first, the fold skips the locked row.
CREATE FUNCTION lexical_forget_chunk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lex_recent WHERE workspace_id = OLD.workspace_id AND doc = OLD.doc;
    IF NOT FOUND THEN
        INSERT INTO lex_tombstone (workspace_id, doc, words, grams)
        VALUES (OLD.workspace_id, OLD.doc, OLD.words, OLD.grams)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER lexical_forget_chunk AFTER DELETE ON chunks
    FOR EACH ROW EXECUTE FUNCTION lexical_forget_chunk();
-- next
CREATE FUNCTION lexical_forget_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE lex_recent, lex_block, lex_segment, lex_tombstone;
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON chunks
    FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all();
-- next
CREATE FUNCTION lexical_forget_workspace() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lex_block WHERE workspace_id = OLD.id;
    DELETE FROM lex_segment WHERE workspace_id = OLD.id;
    DELETE FROM lex_tombstone WHERE workspace_id = OLD.id;
    DELETE FROM lex_recent WHERE workspace_id = OLD.id;
    RETURN NULL;
END
$$;
-- next
-- At commit, because the cascades to the chunks, which may write tombstones, end after the
-- statement's own triggers.
CREATE CONSTRAINT TRIGGER lexical_forget_workspace AFTER DELETE ON workspaces
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION lexical_forget_workspace();
