-- in:    $1 workspace, $2 question vector (null: none), $3 entities, $4 cards per entity, $5 cards that are known
--        already, $6 more cards, $7 and $8 nothing, $9-$13 filters; {space}; {many}: a condition or nothing
-- out:   rows (entity_id, card_id, title, own, in_title, chunk_id, doc, distance, start, end): the cards that name an
--        entity, those whose title does first, and each known card that does; the same of the further cards, without
--        an entity. Chunks are those that name it, each with the exact distance of its best window
-- index: ix_entities_merged_into, ix_mentions_in_title, ix_mentions_entity_id, ix_mentions_card_id, pk_cards,
--        pk_chunks, pk_windows
WITH types AS (
    SELECT $7::int, $8::int, $9::text[], $10::uuid[], $11::timestamptz, $12::timestamptz, $13::jsonb
),
members AS MATERIALIZED (
    SELECT wanted.id AS root, wanted.id FROM unnest($3::uuid[]) AS wanted (id)
    UNION ALL
    SELECT wanted.id, merged.id
    FROM unnest($3::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = wanted.id OFFSET 0
    ) AS merged
),
named AS MATERIALIZED (
    SELECT member.root, found.card_id, found.chunk_id, found.title_name
    FROM members member
    CROSS JOIN LATERAL (
        SELECT m.card_id, m.chunk_id, m.name AS title_name
        FROM mentions m
        WHERE m.workspace_id = $1 AND m.entity_id = member.id AND m.in_title
        LIMIT $4
    ) AS found
    UNION ALL
    SELECT member.root, found.card_id, found.chunk_id, NULL
    FROM members member
    CROSS JOIN LATERAL (
        SELECT m.card_id, m.chunk_id
        FROM mentions m
        WHERE m.workspace_id = $1 AND m.entity_id = member.id
        ORDER BY m.card_id DESC
        LIMIT $4
    ) AS found
    UNION ALL
    SELECT member.root, known.id, found.chunk_id, NULL
    FROM unnest($5::uuid[]) AS known (id)
    CROSS JOIN members member
    CROSS JOIN LATERAL (
        SELECT m.chunk_id
        FROM mentions m
        WHERE m.workspace_id = $1 AND m.card_id = known.id AND m.entity_id = member.id
        OFFSET 0
    ) AS found
),
links AS MATERIALIZED (
    SELECT root, card_id, chunk_id, max(title_name) AS title_name FROM named GROUP BY root, card_id, chunk_id
    UNION ALL
    SELECT NULL, more.card_id, first.id, NULL
    FROM unnest($6::uuid[]) AS more (card_id)
    CROSS JOIN LATERAL (
        SELECT ch.id
        FROM chunks ch
        WHERE ch.workspace_id = $1 AND ch.card_id = more.card_id
        ORDER BY ch.ordinal
        LIMIT 1
    ) AS first
),
chunks_of AS MATERIALIZED (
    SELECT DISTINCT card_id, chunk_id FROM links
),
scored AS MATERIALIZED (
    SELECT one.card_id, one.chunk_id, card.title, chunk.doc, best.distance, best.start, best."end"
    FROM chunks_of one
    CROSS JOIN LATERAL (
        SELECT c.title FROM cards c WHERE c.workspace_id = $1 AND c.id = one.card_id OFFSET 0
    ) AS card
    CROSS JOIN LATERAL (
        SELECT ch.doc FROM chunks ch WHERE ch.workspace_id = $1 AND ch.id = one.chunk_id OFFSET 0
    ) AS chunk
    LEFT JOIN LATERAL (
        SELECT w.dense <=> $2::halfvec AS distance, w.start, w."end"
        FROM windows w
        WHERE w.workspace_id = $1 AND w.chunk_id = one.chunk_id AND w.space_id = {space}
        ORDER BY 1, w.ordinal
        LIMIT 1
    ) AS best ON true
    WHERE true
      {many: one.card_id}
)
SELECT
    links.root AS entity_id,
    links.card_id,
    scored.title,
    links.title_name,
    links.chunk_id,
    scored.doc,
    scored.distance,
    scored.start,
    scored."end"
FROM links
JOIN scored ON scored.card_id = links.card_id AND scored.chunk_id = links.chunk_id
