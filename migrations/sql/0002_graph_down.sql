DROP TRIGGER claims_dated ON cards;
-- next
DELETE FROM lex_block WHERE collection <> 0;
-- next
DELETE FROM lex_recent WHERE collection <> 0;
-- next
DELETE FROM lex_segment WHERE collection <> 0;
-- next
DELETE FROM lex_tombstone WHERE collection <> 0;
-- next
ALTER TABLE lex_block DROP COLUMN collection, ADD CONSTRAINT pk_lex_block PRIMARY KEY (workspace_id, term_hash, seg);
-- next
ALTER TABLE lex_recent DROP COLUMN collection, ADD CONSTRAINT pk_lex_recent PRIMARY KEY (workspace_id, doc);
-- next
ALTER TABLE lex_segment DROP COLUMN collection, ADD CONSTRAINT pk_lex_segment PRIMARY KEY (workspace_id, seg);
-- next
ALTER TABLE lex_tombstone DROP COLUMN collection, ADD CONSTRAINT pk_lex_tombstone PRIMARY KEY (workspace_id, doc);
-- next
DROP TRIGGER lexical_forget ON chunks;
-- next
DROP TRIGGER lexical_forget_all ON chunks;
-- next
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
CREATE OR REPLACE FUNCTION lexical_forget_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    TRUNCATE lex_recent, lex_block, lex_segment, lex_tombstone;
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON chunks
    FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all();
