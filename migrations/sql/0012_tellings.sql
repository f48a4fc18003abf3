-- What is told of an entity has changed: its description is to be put together anew. What only one card tells has been
-- written with that card. At the end of the statement, so that an entity that goes with its last card is gone already.
CREATE FUNCTION descriptions_note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO descriptions_due (workspace_id, entity_id)
    SELECT DISTINCT e.workspace_id, e.id
    FROM touched t
    JOIN entities e ON e.workspace_id = t.workspace_id AND e.id = t.entity_id
    WHERE TG_OP = 'DELETE' OR EXISTS (
        SELECT FROM entity_tellings o
        WHERE o.workspace_id = t.workspace_id AND o.entity_id = t.entity_id AND o.card_id <> t.card_id
    );
    RETURN NULL;
END
$$;
-- next
CREATE TRIGGER descriptions_inserted AFTER INSERT ON entity_tellings
    REFERENCING NEW TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION descriptions_note();
-- next
CREATE TRIGGER descriptions_deleted AFTER DELETE ON entity_tellings
    REFERENCING OLD TABLE AS touched FOR EACH STATEMENT EXECUTE FUNCTION descriptions_note();
