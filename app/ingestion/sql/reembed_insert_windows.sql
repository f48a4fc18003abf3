-- in:    $1 workspace, $2 space; parallel arrays: $3 chunks, $4 ordinals, $5 starts, $6 ends, $7 text hashes,
--        $8 vectors, $9 lexical weights
-- out:   nothing; windows of chunks that are gone, or that are there already, are left out
-- index: pk_chunks, pk_windows
INSERT INTO windows (workspace_id, chunk_id, space_id, ordinal, card_id, start, "end", text_hash, dense, sparse)
SELECT $1, ch.id, $2, new.ordinal, ch.card_id, new.start, new.stop, new.text_hash, new.dense, new.sparse
FROM unnest($3::uuid[], $4::int[], $5::int[], $6::int[], $7::uuid[], $8::halfvec[], $9::sparsevec[])
     AS new (chunk_id, ordinal, start, stop, text_hash, dense, sparse)
JOIN chunks ch ON ch.workspace_id = $1 AND ch.id = new.chunk_id
ON CONFLICT DO NOTHING
