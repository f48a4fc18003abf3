-- in:    $1 workspace, $2 term hashes (words, then grams), $3 whether any of them are grams, $4 collections
-- out:   rows (collection, ord, a, b, c), their bytes as in `postings`:
--        ord >= 0  all postings in a of term $2[ord + 1]; absent terms have no row
--        ord = -1  one row: a the four sums over the segments (int8), b their dead docs, c the tombstones
--        ord = -2  recent docs: a RECENT_HEADs, b their word terms, c their gram terms
-- index: pk_lex_block once per collection and term; pk_lex_recent, pk_lex_tombstone, pk_lex_segment once per collection
-- One statement, because only one snapshot shows every doc exactly once while a fold commits. A
-- LATERAL per term, because `= ANY ($2)` gets a plan that reads far too much. Several rows of recent
-- docs, because one value of a megabyte takes the driver four times as long as sixteen of 64 kB.
SELECT wanted.collection, term.ord::int - 1 AS ord, found.postings AS a, NULL::bytea AS b, NULL::bytea AS c
FROM unnest($4::smallint[]) AS wanted (collection)
CROSS JOIN unnest($2::bigint[]) WITH ORDINALITY AS term (hash, ord)
CROSS JOIN LATERAL (
    SELECT string_agg(block.postings, '') AS postings
    FROM lex_block AS block
    WHERE block.workspace_id = $1 AND block.collection = wanted.collection AND block.term_hash = term.hash
) AS found
WHERE found.postings IS NOT NULL
UNION ALL
SELECT wanted.collection, -1, segments.sums, segments.dead, buried.tombstones
FROM unnest($4::smallint[]) AS wanted (collection)
CROSS JOIN LATERAL (
    SELECT
        int8send(coalesce(sum(docs), 0)::bigint) || int8send(coalesce(sum(words), 0)::bigint)
        || int8send(coalesce(sum(gram_docs), 0)::bigint) || int8send(coalesce(sum(grams), 0)::bigint) AS sums,
        string_agg(dead, '') AS dead
    FROM lex_segment AS segment
    WHERE segment.workspace_id = $1 AND segment.collection = wanted.collection
) AS segments
CROSS JOIN LATERAL (
    SELECT string_agg(int8send(doc) || int4send(words) || int4send(grams), '') AS tombstones
    FROM lex_tombstone AS tombstone
    WHERE tombstone.workspace_id = $1 AND tombstone.collection = wanted.collection
) AS buried
UNION ALL
SELECT wanted.collection, -2, recent.heads, recent.words, recent.grams
FROM unnest($4::smallint[]) AS wanted (collection)
CROSS JOIN LATERAL (
    SELECT
        string_agg(
            int8send(doc) || int4send(words) || int4send(grams)
            || int4send(octet_length(word_terms) / 10) || int4send(octet_length(gram_terms) / 10), ''
        ) AS heads,
        string_agg(word_terms, '') AS words,
        string_agg(gram_terms, '') FILTER (WHERE $3) AS grams
    FROM lex_recent AS new
    WHERE new.workspace_id = $1 AND new.collection = wanted.collection
    GROUP BY doc % 16
) AS recent
