-- A branch is never its own ancestor, over parents by fork and by merge, whoever writes and however many at once.
-- Whoever changes a parent waits for the conversation's row, and then sees what others have committed.
CREATE FUNCTION branches_check_parent(w uuid, c uuid, child uuid, parent uuid, parent_message uuid)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM conversations WHERE workspace_id = w AND id = c FOR NO KEY UPDATE;
    IF NOT EXISTS (
        SELECT FROM messages m
        WHERE m.workspace_id = w AND m.id = parent_message AND m.branch_id = parent AND m.conversation_id = c
    ) THEN
        RAISE EXCEPTION 'the parent message is not in the parent branch' USING ERRCODE = 'foreign_key_violation';
    END IF;
    IF child = parent OR EXISTS (
        WITH RECURSIVE above (id) AS (
            SELECT parent
            UNION
            SELECT up.id FROM above JOIN LATERAL (
                SELECT b.parent_branch_id FROM branches b WHERE b.workspace_id = w AND b.id = above.id
                UNION ALL
                SELECT p.parent_branch_id FROM branch_parents p WHERE p.workspace_id = w AND p.branch_id = above.id
            ) AS up (id) ON up.id IS NOT NULL
        )
        SELECT FROM above WHERE above.id = child
    ) THEN
        RAISE EXCEPTION 'a branch cannot be its own ancestor' USING ERRCODE = 'check_violation';
    END IF;
END $$
-- next
CREATE FUNCTION branches_check() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.parent_branch_id IS NOT NULL THEN
        PERFORM branches_check_parent(
            NEW.workspace_id, NEW.conversation_id, NEW.id, NEW.parent_branch_id, NEW.parent_message_id);
    END IF;
    RETURN NEW;
END $$
-- next
CREATE TRIGGER branches_check BEFORE INSERT OR UPDATE OF parent_branch_id, parent_message_id ON branches
    FOR EACH ROW EXECUTE FUNCTION branches_check()
-- next
CREATE FUNCTION branch_parents_check() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM branches_check_parent(
        NEW.workspace_id, b.conversation_id, NEW.branch_id, NEW.parent_branch_id, NEW.parent_message_id)
    FROM branches b WHERE b.workspace_id = NEW.workspace_id AND b.id = NEW.branch_id;
    RETURN NEW;
END $$
-- next
CREATE TRIGGER branch_parents_check BEFORE INSERT OR UPDATE ON branch_parents
    FOR EACH ROW EXECUTE FUNCTION branch_parents_check()
