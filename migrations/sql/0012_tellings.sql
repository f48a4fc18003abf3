-- What is described already, is by the card that is called so, or else by the oldest that mentions it.
INSERT INTO entity_tellings (workspace_id, entity_id, card_id, description)
SELECT e.workspace_id, e.id, told.card_id, e.description
FROM entities e
CROSS JOIN LATERAL (
    SELECT m.card_id FROM mentions m
    WHERE m.workspace_id = e.workspace_id AND m.entity_id = e.id
    ORDER BY m.in_title DESC, m.card_id
    LIMIT 1
) AS told
WHERE e.description <> '' AND NOT e.is_edited;
-- next
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
