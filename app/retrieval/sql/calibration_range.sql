-- in:    $1 workspace; {table}
-- out:   one row: first and last number of the postings (nulls: no rows)
-- index: uq_{table}_doc
SELECT min(o.doc), max(o.doc) FROM {table} o WHERE o.workspace_id = $1
