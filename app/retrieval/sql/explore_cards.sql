-- in:    $1 workspace, $2 question vector (null: none), $3 entities, $4 cards per entity, $5 cards that are known
--        already, $6 more cards, $7 docs and $8 the entity that each may have in its title, $9-$13 filters; {space}; {members}: see there; {many}: a condition
--        or nothing
-- out:   rows (entity_id, card_id, title, own, title_name, chunk_id, doc, distance, start, end): the cards whose title
--        names an entity, cards that do elsewhere, and each known card that does; the same of the further cards, without
--        an entity. Chunks are those that name it, each with the exact distance of its best window
-- index: uq_chunks_workspace_id_doc, ix_mentions_in_title, ix_mentions_entity_id, ix_mentions_card_id, pk_cards, ix_cards_title_key, pk_chunks,
--        uq_chunks_workspace_id_card_id_ordinal, pk_windows, and those of the members
WITH types AS (
    SELECT $9::text[], $10::uuid[], $11::timestamptz, $12::timestamptz, $13::jsonb
),
members AS MATERIALIZED (
    SELECT wanted.id AS root, member.id
    FROM unnest($3::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        {members: wanted.id}
    ) AS member
),
asked AS MATERIALIZED (
    SELECT wanted.id, entity.key, entity.name
    FROM unnest($3::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
        SELECT e.key, e.name FROM entities e WHERE e.workspace_id = $1 AND e.id = wanted.id OFFSET 0
    ) AS entity
),
named AS MATERIALIZED (
    SELECT member.root, found.card_id, found.chunk_id, found.name AS title_name, false AS own
    FROM members member
    CROSS JOIN LATERAL (
        SELECT m.card_id, m.chunk_id, m.name
        FROM mentions m
        WHERE m.workspace_id = $1 AND m.entity_id = member.id AND m.in_title
        LIMIT $4
    ) AS found
    UNION ALL
    SELECT asked.id, found.card_id, found.chunk_id, NULL, true
    FROM asked
    CROSS JOIN LATERAL (
        SELECT c.id AS card_id, ch.id AS chunk_id
        FROM cards c
        JOIN chunks ch ON ch.workspace_id = $1 AND ch.card_id = c.id AND ch.ordinal = 0
        WHERE c.workspace_id = $1 AND c.title_key = asked.key AND c.trashed_at IS NULL
        LIMIT $4
    ) AS found
    UNION ALL
    SELECT member.root, found.card_id, found.chunk_id, NULL, false
    FROM members member
    CROSS JOIN LATERAL (
        SELECT m.card_id, m.chunk_id
        FROM mentions m
        WHERE m.workspace_id = $1 AND m.entity_id = member.id
        ORDER BY m.card_id DESC
        LIMIT $4
    ) AS found
    UNION ALL
    SELECT member.root, known.id, found.chunk_id, NULL, false
    FROM unnest($5::uuid[]) AS known (id)
    CROSS JOIN members member
    CROSS JOIN LATERAL (
        SELECT m.chunk_id
        FROM mentions m
        WHERE m.workspace_id = $1 AND m.card_id = known.id AND m.entity_id = member.id
        OFFSET 0
    ) AS found
),
written AS MATERIALIZED (
    SELECT wanted.id, entity.key, entity.name
    FROM (SELECT DISTINCT maybe.id FROM unnest($8::uuid[]) AS maybe (id)) AS wanted
    CROSS JOIN LATERAL (
        SELECT e.key, e.name FROM entities e WHERE e.workspace_id = $1 AND e.id = wanted.id OFFSET 0
    ) AS entity
),
titled AS MATERIALIZED (
    SELECT maybe.entity_id AS root, card.id AS card_id, chunk.id AS chunk_id, entity.name AS title_name, false AS own
    FROM unnest($7::bigint[], $8::uuid[]) AS maybe (doc, entity_id)
    CROSS JOIN LATERAL (
        SELECT ch.id, ch.card_id FROM chunks ch WHERE ch.workspace_id = $1 AND ch.doc = maybe.doc OFFSET 0
    ) AS chunk
    JOIN written entity ON entity.id = maybe.entity_id
    CROSS JOIN LATERAL (
        SELECT c.id, c.title_key FROM cards c WHERE c.workspace_id = $1 AND c.id = chunk.card_id OFFSET 0
    ) AS card
    WHERE strpos(card.title_key, entity.key) > 0
),
links AS MATERIALIZED (
    SELECT root, card_id, chunk_id, max(title_name) AS title_name, bool_or(own) AS own
    FROM (SELECT * FROM named UNION ALL SELECT * FROM titled) AS found
    GROUP BY root, card_id, chunk_id
    UNION ALL
    SELECT NULL, more.card_id, first.id, NULL, false
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
    links.own OR coalesce(links.title_name = scored.title, false) AS own,
    links.title_name,
    links.chunk_id,
    scored.doc,
    scored.distance,
    scored.start,
    scored."end"
FROM links
JOIN scored ON scored.card_id = links.card_id AND scored.chunk_id = links.chunk_id
