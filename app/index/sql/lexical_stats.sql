-- in:    $1 workspace
-- out:   one row: docs of chunks, of recent, of tombstones (int8send, concatenated); members and dead of all
--        segments (u4, concatenated); number of segments; count and sums of each of the four
-- index: by workspace: uq_chunks_workspace_id_doc, pk_lex_recent, pk_lex_tombstone, pk_lex_segment
SELECT *
FROM (
    SELECT string_agg(int8send(doc), '') AS chunks, count(*) AS chunk_docs, coalesce(sum(words), 0) AS chunk_words,
           count(*) FILTER (WHERE grams > 0) AS chunk_gram_docs, coalesce(sum(grams), 0) AS chunk_grams
    FROM chunks
    WHERE workspace_id = $1
) AS chunk, (
    SELECT string_agg(int8send(doc), '') AS recent, count(*) AS recent_docs, coalesce(sum(words), 0) AS recent_words,
           count(*) FILTER (WHERE grams > 0) AS recent_gram_docs, coalesce(sum(grams), 0) AS recent_grams
    FROM lex_recent
    WHERE workspace_id = $1
) AS recent, (
    SELECT string_agg(int8send(doc), '') AS tombstones, count(*) AS tombstone_docs,
           coalesce(sum(words), 0) AS tombstone_words, count(*) FILTER (WHERE grams > 0) AS tombstone_gram_docs,
           coalesce(sum(grams), 0) AS tombstone_grams
    FROM lex_tombstone
    WHERE workspace_id = $1
) AS tombstone, (
    SELECT count(*) AS segments, string_agg(members, '') AS members, string_agg(dead, '') AS dead,
           coalesce(sum(docs), 0) AS segment_docs, coalesce(sum(words), 0) AS segment_words,
           coalesce(sum(gram_docs), 0) AS segment_gram_docs, coalesce(sum(grams), 0) AS segment_grams
    FROM lex_segment
    WHERE workspace_id = $1
) AS segment
