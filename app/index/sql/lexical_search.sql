-- in:    $1 workspace, $2 term hashes (words, then grams), $3 whether any of them are grams
-- out:   rows (ord, a, b, c), their bytes as in `postings`:
--        ord >= 0  all postings in a of term $2[ord + 1]; absent terms have no row; first, by ord
--        ord = -1  one row: a the four sums over the segments (int8), b their dead docs, c the tombstones
--        ord = -2  recent docs: a RECENT_HEADs, b their word terms, c their gram terms
-- index: pk_lex_block once per term; pk_lex_recent, pk_lex_tombstone, pk_lex_segment by workspace
-- One statement, because only one snapshot shows every doc exactly once while a fold commits. A
-- LATERAL per term, because `= ANY ($2)` gets a plan that reads far too much. Several rows of recent
-- docs, because one value of a megabyte takes the driver four times as long as sixteen of 64 kB.
SELECT term.ord::int - 1 AS ord, found.postings AS a, NULL::bytea AS b, NULL::bytea AS c
FROM unnest($2::bigint[]) WITH ORDINALITY AS term (hash, ord)
CROSS JOIN LATERAL (
    SELECT string_agg(block.postings, '') AS postings
    FROM lex_block AS block
    WHERE block.workspace_id = $1 AND block.term_hash = term.hash
) AS found
WHERE found.postings IS NOT NULL
UNION ALL
SELECT
    -1,
    int8send(coalesce(sum(docs), 0)::bigint) || int8send(coalesce(sum(words), 0)::bigint)
    || int8send(coalesce(sum(gram_docs), 0)::bigint) || int8send(coalesce(sum(grams), 0)::bigint),
    string_agg(dead, ''),
    (
        SELECT string_agg(int8send(doc) || int4send(words) || int4send(grams), '')
        FROM lex_tombstone
        WHERE workspace_id = $1
    )
FROM lex_segment
WHERE workspace_id = $1
UNION ALL
SELECT
    -2,
    string_agg(
        int8send(doc) || int4send(words) || int4send(grams)
        || int4send(octet_length(word_terms) / 10) || int4send(octet_length(gram_terms) / 10), ''
    ),
    string_agg(word_terms, ''),
    string_agg(gram_terms, '') FILTER (WHERE $3)
FROM lex_recent
WHERE workspace_id = $1
GROUP BY doc % 16
