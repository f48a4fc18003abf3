-- As with the other texts of the graph: what is deleted, or says something else, leaves the postings at once.
CREATE TRIGGER lexical_forget AFTER DELETE OR UPDATE OF doc ON reports FOR EACH ROW EXECUTE FUNCTION lexical_forget(7);
-- next
CREATE TRIGGER lexical_forget_all AFTER TRUNCATE ON reports FOR EACH STATEMENT EXECUTE FUNCTION lexical_forget_all(7);
-- next
ALTER TABLE report_vectors ALTER COLUMN dense SET STORAGE PLAIN;
-- next
-- Names nodes for the next run. Before there is a first one, everything is new, and one row that says so is enough.
CREATE FUNCTION communities_note(workspace uuid, nodes uuid[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM community_runs WHERE workspace_id = workspace AND is_current) THEN
        INSERT INTO community_changes (workspace_id, entity_id) SELECT workspace, node FROM unnest(nodes) AS node;
    ELSIF NOT EXISTS (SELECT FROM community_changes WHERE workspace_id = workspace) THEN
        -- Not while the workspace itself is going.
        INSERT INTO community_changes (workspace_id) SELECT id FROM workspaces WHERE id = workspace;
    END IF;
END
$$;
-- next
CREATE FUNCTION communities_note_relations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM communities_note(t.workspace_id, array_agg(DISTINCT node))
    FROM touched t CROSS JOIN LATERAL (VALUES (t.source_id), (t.target_id)) AS ends (node)
    GROUP BY t.workspace_id;
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER communities_inserted AFTER INSERT ON relations
    REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION communities_note_relations();
-- next
CREATE TRIGGER communities_deleted AFTER DELETE ON relations
    REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION communities_note_relations();
-- next
-- A split gives statements to another entity.
CREATE FUNCTION communities_note_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM communities_note(
        NEW.workspace_id, ARRAY[OLD.source_id, OLD.target_id, NEW.source_id, NEW.target_id]
    );
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER communities_moved AFTER UPDATE ON relations
    FOR EACH ROW WHEN (OLD.source_id <> NEW.source_id OR OLD.target_id <> NEW.target_id)
    EXECUTE FUNCTION communities_note_moved();
-- next
CREATE FUNCTION communities_note_entity() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM communities_note(
        NEW.workspace_id, array_remove(ARRAY[NEW.id, OLD.merged_into, NEW.merged_into], NULL)
    );
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER communities_changed AFTER UPDATE ON entities
    FOR EACH ROW WHEN (
        (OLD.name, OLD.type, OLD.description) IS DISTINCT FROM (NEW.name, NEW.type, NEW.description)
        OR OLD.merged_into IS DISTINCT FROM NEW.merged_into
    )
    EXECUTE FUNCTION communities_note_entity();
-- next
-- A member that is gone is in no log of nodes: its community is.
CREATE FUNCTION communities_note_member() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO community_changes (workspace_id, community_id)
    SELECT OLD.workspace_id, c.id FROM communities c
    WHERE c.workspace_id = OLD.workspace_id AND c.id = OLD.community_id
      AND EXISTS (SELECT FROM workspaces w WHERE w.id = OLD.workspace_id);
    RETURN NULL;
END
$$;
-- next
-- Only where a cascade takes it: a run that moves members says so itself.
CREATE TRIGGER communities_lost AFTER DELETE ON community_members
    FOR EACH ROW WHEN (pg_trigger_depth() > 0) EXECUTE FUNCTION communities_note_member();
-- next
-- A community without a member goes, with its report. At commit, and under the lock of the graph, as entities do.
CREATE FUNCTION communities_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM community_members WHERE workspace_id = OLD.workspace_id AND community_id = OLD.community_id
    ) OR NOT EXISTS (
        SELECT FROM communities WHERE workspace_id = OLD.workspace_id AND id = OLD.community_id
    ) THEN
        RETURN NULL;
    END IF;
    PERFORM graph_lock(OLD.workspace_id);
    DELETE FROM communities c
    WHERE c.workspace_id = OLD.workspace_id
      AND c.id = OLD.community_id
      AND NOT EXISTS (
          SELECT FROM community_members m WHERE m.workspace_id = OLD.workspace_id AND m.community_id = OLD.community_id
      );
    RETURN NULL;
END
$$;
-- next
CREATE CONSTRAINT TRIGGER communities_forget AFTER DELETE ON community_members
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION communities_forget();
-- next
-- What is there already has no communities yet.
INSERT INTO community_changes (workspace_id) SELECT id FROM workspaces WHERE EXISTS (
    SELECT FROM relations r WHERE r.workspace_id = workspaces.id
);
