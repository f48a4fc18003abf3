-- in:    :at_least rows
-- out:   workspaces and collections with so many recent docs or so many tombstones
-- index: pk_lex_recent, pk_lex_tombstone (index only); both tables are kept small by folding
SELECT workspace_id, collection FROM lex_recent GROUP BY workspace_id, collection HAVING count(*) >= :at_least
UNION
SELECT workspace_id, collection FROM lex_tombstone GROUP BY workspace_id, collection HAVING count(*) >= :at_least
