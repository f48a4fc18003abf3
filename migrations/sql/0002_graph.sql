-- The postings hold every collection now; what is there already are chunks (0).
ALTER TABLE lex_block ADD COLUMN collection smallint NOT NULL DEFAULT 0, DROP CONSTRAINT pk_lex_block;
-- next
ALTER TABLE lex_block ALTER COLUMN collection DROP DEFAULT,
    ADD CONSTRAINT pk_lex_block PRIMARY KEY (workspace_id, collection, term_hash, seg);
-- next
ALTER TABLE lex_recent ADD COLUMN collection smallint NOT NULL DEFAULT 0, DROP CONSTRAINT pk_lex_recent;
-- next
ALTER TABLE lex_recent ALTER COLUMN collection DROP DEFAULT,
    ADD CONSTRAINT pk_lex_recent PRIMARY KEY (workspace_id, collection, doc);
-- next
ALTER TABLE lex_segment ADD COLUMN collection smallint NOT NULL DEFAULT 0, DROP CONSTRAINT pk_lex_segment;
-- next
ALTER TABLE lex_segment ALTER COLUMN collection DROP DEFAULT,
    ADD CONSTRAINT pk_lex_segment PRIMARY KEY (workspace_id, collection, seg);
-- next
ALTER TABLE lex_tombstone ADD COLUMN collection smallint NOT NULL DEFAULT 0, DROP CONSTRAINT pk_lex_tombstone;
-- next
ALTER TABLE lex_tombstone ALTER COLUMN collection DROP DEFAULT,
    ADD CONSTRAINT pk_lex_tombstone PRIMARY KEY (workspace_id, collection, doc);
-- next
DROP TRIGGER lexical_forget_chunk ON chunks;
-- next
DROP FUNCTION lexical_forget_chunk();
-- next
-- A deleted row leaves the index in the deleting transaction, whatever deletes it (cascades too), and so does one
-- that gets another number because its words have changed. The argument is the collection.
-- Under READ COMMITTED this cannot miss the fold: if the fold has removed the recent row but not
-- committed, the DELETE waits for it and then finds nothing, so the doc is in a segment and gets its
-- tombstone; if this DELETE came first, the fold skips the locked row.
CREATE FUNCTION lexical_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lex_recent WHERE workspace_id = OLD.workspace_id AND collection = TG_ARGV[0]::smallint AND doc = OLD.doc;
    IF NOT FOUND THEN
        INSERT INTO lex_tombstone (workspace_id, collection, doc, words, grams)
        VALUES (OLD.workspace_id, TG_ARGV[0]::smallint, OLD.doc, OLD.words, OLD.grams)
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER lexical_forget AFTER DELETE ON chunks FOR EACH ROW EXECUTE FUNCTION lexical_forget(0);
-- next
CREATE TRIGGER lexical_forget AFTER DELETE OR UPDATE OF doc ON episodes FOR EACH ROW EXECUTE FUNCTION lexical_forget(1);
-- next
CREATE TRIGGER lexical_forget AFTER DELETE ON facets FOR EACH ROW EXECUTE FUNCTION lexical_forget(2);
-- next
CREATE TRIGGER lexical_forget AFTER DELETE ON points FOR EACH ROW EXECUTE FUNCTION lexical_forget(3);
-- next
CREATE TRIGGER lexical_forget AFTER DELETE OR UPDATE OF doc ON entities FOR EACH ROW EXECUTE FUNCTION lexical_forget(4);
-- next
CREATE TRIGGER lexical_forget AFTER DELETE ON relations FOR EACH ROW EXECUTE FUNCTION lexical_forget(5);
-- next
CREATE TRIGGER lexical_forget AFTER DELETE ON roles FOR EACH ROW EXECUTE FUNCTION lexical_forget(6);
-- next
CREATE OR REPLACE FUNCTION lexical_forget_all() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM lex_block WHERE collection = TG_ARGV[0]::smallint;
    DELETE FROM lex_segment WHERE collection = TG_ARGV[0]::smallint;
    DELETE FROM lex_tombstone WHERE collection = TG_ARGV[0]::smallint;
    DELETE FROM lex_recent WHERE collection = TG_ARGV[0]::smallint;
    RETURN NULL;
END
$$;
-- next
DROP TRIGGER lexical_forget_all ON chunks;
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON chunks FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(0);
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON episodes FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(1);
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON facets FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(2);
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON points FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(3);
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON entities FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(4);
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON relations FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(5);
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON roles FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(6);
-- next
-- Held until commit by whoever changes what entities and episodes a workspace has: two cannot both believe that the
-- other's mention keeps an entity alive, or both make the same one. Taken after the locks on cards.
CREATE FUNCTION graph_lock(workspace uuid) RETURNS void LANGUAGE sql AS $$
    SELECT pg_advisory_xact_lock(1735549288, hashtext(workspace::text))
$$;
-- next
-- An entity without a mention goes, unless another was merged into it. At commit, so that a card's new rows may come
-- after its old ones have gone, and the entity stays the same one. Every statement of a volatile function sees what
-- was committed before the lock was given.
CREATE FUNCTION graph_forget_entity() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    workspace uuid := OLD.workspace_id;
    entity uuid;
    root uuid;
BEGIN
    IF TG_TABLE_NAME = 'mentions' THEN
        entity := OLD.entity_id;
    ELSE
        entity := OLD.merged_into;
    END IF;
    IF entity IS NULL OR EXISTS (SELECT FROM mentions WHERE workspace_id = workspace AND entity_id = entity) THEN
        RETURN NULL;
    END IF;
    IF NOT EXISTS (SELECT FROM entities WHERE workspace_id = workspace AND id = entity) THEN
        RETURN NULL;
    END IF;
    PERFORM graph_lock(workspace);
    DELETE FROM entities e
    WHERE e.workspace_id = workspace
      AND e.id = entity
      AND NOT EXISTS (SELECT FROM mentions m WHERE m.workspace_id = workspace AND m.entity_id = entity)
      AND NOT EXISTS (SELECT FROM entities o WHERE o.workspace_id = workspace AND o.merged_into = entity);
    RETURN NULL;
END
$$;
-- next
CREATE CONSTRAINT TRIGGER graph_forget_entity AFTER DELETE OR UPDATE OF entity_id ON mentions
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION graph_forget_entity();
-- next
CREATE CONSTRAINT TRIGGER graph_forget_entity AFTER DELETE OR UPDATE OF merged_into ON entities
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION graph_forget_entity();
-- next
CREATE FUNCTION graph_forget_episode() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM episode_cards WHERE workspace_id = OLD.workspace_id AND episode_id = OLD.episode_id) THEN
        RETURN NULL;
    END IF;
    IF NOT EXISTS (SELECT FROM episodes WHERE workspace_id = OLD.workspace_id AND id = OLD.episode_id) THEN
        RETURN NULL;
    END IF;
    PERFORM graph_lock(OLD.workspace_id);
    DELETE FROM episodes e
    WHERE e.workspace_id = OLD.workspace_id
      AND e.id = OLD.episode_id
      AND NOT EXISTS (SELECT FROM episode_cards c WHERE c.workspace_id = OLD.workspace_id AND c.episode_id = OLD.episode_id);
    RETURN NULL;
END
$$;
-- next
CREATE CONSTRAINT TRIGGER graph_forget_episode AFTER DELETE ON episode_cards
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION graph_forget_episode();
-- next
-- Of claims with one key the newest is valid; each older one until the next that says something else. Cards that give
-- several values themselves decide nothing. A claim speaks from its card's date.
CREATE FUNCTION claims_settle(workspace uuid, key uuid) RETURNS void LANGUAGE sql AS $$
    WITH said AS (
        SELECT p.id, p.card_id, p.claim_value, c.created_at, p.valid_during, p.superseded_by,
               min(p.claim_value) OVER (PARTITION BY p.card_id) = max(p.claim_value) OVER (PARTITION BY p.card_id) AS is_clear
        FROM points p
        JOIN cards c ON c.workspace_id = p.workspace_id AND c.id = p.card_id
        WHERE p.workspace_id = workspace AND p.claim_key = key
    ),
    settled AS (
        SELECT said.id, said.created_at, next.id AS next_id, next.created_at AS next_at
        FROM said
        LEFT JOIN LATERAL (
            SELECT o.id, o.created_at
            FROM said o
            WHERE said.is_clear AND o.is_clear AND o.created_at > said.created_at AND o.claim_value <> said.claim_value
            ORDER BY o.created_at, o.id
            LIMIT 1
        ) AS next ON true
    )
    UPDATE points p
    SET valid_during = CASE WHEN s.next_id IS NULL THEN NULL ELSE tstzrange(s.created_at, s.next_at) END,
        superseded_by = s.next_id
    FROM settled s
    WHERE p.workspace_id = workspace AND p.id = s.id
      AND (p.superseded_by IS DISTINCT FROM s.next_id
           OR p.valid_during IS DISTINCT FROM CASE WHEN s.next_id IS NULL THEN NULL ELSE tstzrange(s.created_at, s.next_at) END)
$$;
-- next
CREATE FUNCTION claims_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM graph_lock(coalesce(NEW.workspace_id, OLD.workspace_id));
    PERFORM claims_settle(coalesce(NEW.workspace_id, OLD.workspace_id), coalesce(NEW.claim_key, OLD.claim_key));
    RETURN NULL;
END
$$;
-- next
CREATE CONSTRAINT TRIGGER claims_inserted AFTER INSERT ON points
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.claim_key IS NOT NULL) EXECUTE FUNCTION claims_changed();
-- next
CREATE CONSTRAINT TRIGGER claims_deleted AFTER DELETE ON points
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.claim_key IS NOT NULL) EXECUTE FUNCTION claims_changed();
-- next
CREATE FUNCTION claims_dated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    key uuid;
BEGIN
    FOR key IN
        SELECT DISTINCT claim_key FROM points
        WHERE workspace_id = NEW.workspace_id AND card_id = NEW.id AND claim_key IS NOT NULL
    LOOP
        PERFORM graph_lock(NEW.workspace_id);
        PERFORM claims_settle(NEW.workspace_id, key);
    END LOOP;
    RETURN NULL;
END
$$;
-- next
CREATE CONSTRAINT TRIGGER claims_dated AFTER UPDATE OF created_at ON cards
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (OLD.created_at <> NEW.created_at) EXECUTE FUNCTION claims_dated();
-- next
-- As with windows: one row, one page, no detour through TOAST.
ALTER TABLE episode_vectors ALTER COLUMN dense SET STORAGE PLAIN;
-- next
ALTER TABLE facet_vectors ALTER COLUMN dense SET STORAGE PLAIN;
-- next
ALTER TABLE point_vectors ALTER COLUMN dense SET STORAGE PLAIN;
-- next
ALTER TABLE entity_vectors ALTER COLUMN dense SET STORAGE PLAIN;
-- next
ALTER TABLE relation_vectors ALTER COLUMN dense SET STORAGE PLAIN;
-- next
ALTER TABLE role_vectors ALTER COLUMN dense SET STORAGE PLAIN;
