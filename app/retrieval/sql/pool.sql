-- in:    $1 workspace, $2 question vector (null: none), $3 cards per leg, $4 lexical docs, best first, $5 k of RRF,
--        $6 docs that filters let pass (for {few}), $7 windows to read per vector leg, $8 sparse question vector,
--        $9-$13 filters (for {many}), $14 lexical docs to read;
--        {dense}, {other} (a dense one of {other_chunks}, in the script that the question is not in) and {sparse} are the
--        legs, {in_other} is a column, {space} the embedding space, {few} and {many} conditions or nothing
-- out:   one row per pooled chunk: its card's rank in each leg and RRF score (Cormack, Clarke, Buettcher,
--        SIGIR 2009), the chunk's `doc`, the exact distance and place of its best window, and whether it is in that
--        other script
-- index: the legs' own; uq_chunks_workspace_id_doc; pk_chunks; pk_windows
-- Each LATERAL with OFFSET 0 is a look-up per row and stays one: the planner does not know how short these
-- lists are, and its generic plan would rather read the whole table.
WITH types AS (
    -- Never read; the parameters have their types from here, whichever legs are left out.
    SELECT $2::halfvec, $6::bigint[], $7::int, $8::sparsevec, $9::text[], $10::uuid[], $11::timestamptz,
           $12::timestamptz, $13::jsonb
),
dense_windows AS MATERIALIZED (
{dense}
),
{other_chunks}
other_windows AS MATERIALIZED (
{other}
),
sparse_windows AS MATERIALIZED (
{sparse}
),
lexical_chunks AS MATERIALIZED (
    SELECT chunk.card_id, chunk.id AS chunk_id, found.doc, found.position
    FROM unnest($4::bigint[]) WITH ORDINALITY AS found (doc, position)
    CROSS JOIN LATERAL (
        SELECT ch.card_id, ch.id
        FROM chunks ch
        WHERE ch.workspace_id = $1
          AND ch.doc = found.doc
          {many: ch.card_id}
        OFFSET 0
    ) AS chunk
    -- The first ones: look-ups keep the order of what is looked up.
    LIMIT $14
),
dense_cards AS (
    SELECT card_id, row_number() OVER (ORDER BY min(distance), card_id) AS rank FROM dense_windows GROUP BY card_id
),
-- Each script has its best first: distances to one do not compare with distances to the other.
other_cards AS (
    SELECT o.card_id, row_number() OVER (ORDER BY min(o.distance), o.card_id) AS rank
    FROM other_windows o
    WHERE NOT EXISTS (SELECT 1 FROM dense_cards d WHERE d.card_id = o.card_id AND d.rank <= $3)
    GROUP BY o.card_id
),
sparse_cards AS (
    SELECT card_id, row_number() OVER (ORDER BY min(distance), card_id) AS rank FROM sparse_windows GROUP BY card_id
),
lexical_cards AS (
    SELECT card_id, row_number() OVER (ORDER BY min(position), card_id) AS rank FROM lexical_chunks GROUP BY card_id
),
ranked AS (
    SELECT card_id, rank AS dense_rank, NULL::bigint AS lexical_rank, NULL::bigint AS sparse_rank
    FROM dense_cards WHERE rank <= $3
    UNION ALL
    SELECT card_id, rank, NULL, NULL FROM other_cards WHERE rank <= $3
    UNION ALL
    SELECT card_id, NULL, rank, NULL FROM lexical_cards WHERE rank <= $3
    UNION ALL
    SELECT card_id, NULL, NULL, rank FROM sparse_cards WHERE rank <= $3
),
fused AS MATERIALIZED (
    SELECT
        card_id,
        max(dense_rank) AS dense_rank,
        max(lexical_rank) AS lexical_rank,
        max(sparse_rank) AS sparse_rank,
        sum(1.0 / ($5::int + coalesce(dense_rank, lexical_rank, sparse_rank)))::float8 AS rrf
    FROM ranked
    GROUP BY card_id
),
pooled AS MATERIALIZED (
    SELECT card_id, chunk_id, max(doc) AS doc
    FROM (
        SELECT card_id, chunk_id, NULL::bigint AS doc FROM dense_windows
        UNION ALL
        SELECT card_id, chunk_id, NULL FROM other_windows
        UNION ALL
        SELECT card_id, chunk_id, doc FROM lexical_chunks
        UNION ALL
        SELECT card_id, chunk_id, NULL FROM sparse_windows
    ) AS found
    GROUP BY card_id, chunk_id
)
SELECT
    f.card_id,
    f.dense_rank,
    f.lexical_rank,
    f.sparse_rank,
    f.rrf,
    p.chunk_id,
    coalesce(
        p.doc,
        (SELECT ch.doc FROM chunks ch WHERE ch.workspace_id = $1 AND ch.id = p.chunk_id)
    ) AS doc,
    best.distance,
    best.start,
    best."end",
    {in_other}
FROM fused f
JOIN pooled p ON p.card_id = f.card_id
LEFT JOIN LATERAL (
    SELECT w.dense <=> $2::halfvec AS distance, w.start, w."end"
    FROM windows w
    WHERE w.workspace_id = $1 AND w.chunk_id = p.chunk_id AND w.space_id = {space}
    ORDER BY 1, w.ordinal
    LIMIT 1
) AS best ON true
