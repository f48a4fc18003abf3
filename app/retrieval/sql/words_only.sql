-- in:    $1 workspace, $2 tsquery literal (OR of terms), $3 chunks to read, $4 docs that filters allow (null: all)
-- out:   docs by words from the full text of record, best first, for a workspace whose postings are missing
-- index: ix_chunks_terms
SELECT ch.doc, ts_rank_cd(ch.terms, $2::tsquery)::float8 AS score
FROM chunks ch
WHERE ch.workspace_id = $1
  AND ch.terms @@ $2::tsquery
  AND ($4::bigint[] IS NULL OR ch.doc = ANY ($4))
ORDER BY score DESC, ch.doc
LIMIT $3
