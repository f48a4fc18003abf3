-- in:    $1 workspace, $2 collection; {owners}: the collection's table
-- out:   one row: docs of the owners, of recent, of tombstones (int8send, concatenated); members and dead of all
--        segments (u4, concatenated); number of segments; count and sums of each of the four
-- index: by workspace: uq_{owners}_doc, pk_lex_recent, pk_lex_tombstone, pk_lex_segment
SELECT *
FROM (
    SELECT string_agg(int8send(doc), '') AS owners, count(*) AS owner_docs, coalesce(sum(words), 0) AS owner_words,
           count(*) FILTER (WHERE grams > 0) AS owner_gram_docs, coalesce(sum(grams), 0) AS owner_grams
    FROM {owners}
    WHERE workspace_id = $1
) AS owner, (
    SELECT string_agg(int8send(doc), '') AS recent, count(*) AS recent_docs, coalesce(sum(words), 0) AS recent_words,
           count(*) FILTER (WHERE grams > 0) AS recent_gram_docs, coalesce(sum(grams), 0) AS recent_grams
    FROM lex_recent
    WHERE workspace_id = $1 AND collection = $2
) AS recent, (
    SELECT string_agg(int8send(doc), '') AS tombstones, count(*) AS tombstone_docs,
           coalesce(sum(words), 0) AS tombstone_words, count(*) FILTER (WHERE grams > 0) AS tombstone_gram_docs,
           coalesce(sum(grams), 0) AS tombstone_grams
    FROM lex_tombstone
    WHERE workspace_id = $1 AND collection = $2
) AS tombstone, (
    SELECT count(*) AS segments, string_agg(members, '') AS members, string_agg(dead, '') AS dead,
           coalesce(sum(docs), 0) AS segment_docs, coalesce(sum(words), 0) AS segment_words,
           coalesce(sum(gram_docs), 0) AS segment_gram_docs, coalesce(sum(grams), 0) AS segment_grams
    FROM lex_segment
    WHERE workspace_id = $1 AND collection = $2
) AS segment
