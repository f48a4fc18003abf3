-- in:    $1 workspace, $2 term hashes, $3 collection, $4 bytes
-- out:   those of the terms, the rarest first, whose folded postings are together no more than so many bytes
-- index: pk_lex_block once per term; how long a value is stands beside it
SELECT rarest.hash
FROM (
    SELECT term.hash, sum(found.bytes) OVER (ORDER BY found.bytes, term.hash) AS bytes
    FROM unnest($2::bigint[]) AS term (hash)
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(octet_length(block.postings)), 0) AS bytes
        FROM lex_block AS block
        WHERE block.workspace_id = $1 AND block.collection = $3 AND block.term_hash = term.hash
    ) AS found
) AS rarest
WHERE rarest.bytes <= $4
