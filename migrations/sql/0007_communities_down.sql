DROP TRIGGER communities_changed ON entities;
-- next
DROP TRIGGER communities_inserted ON relations;
-- next
DROP TRIGGER communities_deleted ON relations;
-- next
DROP TRIGGER communities_moved ON relations;
-- next
DELETE FROM lex_block WHERE collection = 7;
-- next
DELETE FROM lex_recent WHERE collection = 7;
-- next
DELETE FROM lex_segment WHERE collection = 7;
-- next
DELETE FROM lex_tombstone WHERE collection = 7;
