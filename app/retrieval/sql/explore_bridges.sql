-- in:    $1 workspace, $2 question vector, $3 cards, $4 facts per card and kind, $5 entities per card, $6 cards to
--        count; {space}; {root}, {counted}: see there
-- out:   rows (card_id, title, entity_id, name, cards, titled, inside, relation_id, relation_distance, point_id,
--        point_distance): of each card the entities whose facts are nearest to the question, each with the nearest
--        relation and claim; what its own title names is none of them
-- index: ix_relations_card_id, pk_relation_vectors, ix_points_card_id, pk_point_vectors, pk_point_entities,
--        ix_mentions_card_id, pk_cards, and those of the parts
WITH facts AS MATERIALIZED (
    SELECT card.id AS card_id, said.id AS relation_id, NULL::uuid AS point_id, said.ends, said.distance
    FROM unnest($3::uuid[]) AS card (id)
    CROSS JOIN LATERAL (
        SELECT r.id, ARRAY[r.source_id, r.target_id] AS ends, vector.distance
        FROM (
            SELECT o.id, o.source_id, o.target_id
            FROM relations o
            WHERE o.workspace_id = $1 AND o.card_id = card.id
            LIMIT $4
        ) AS r
        CROSS JOIN LATERAL (
            SELECT v.dense <=> $2::halfvec AS distance
            FROM relation_vectors v
            WHERE v.workspace_id = $1 AND v.owner_id = r.id AND v.space_id = {space} AND v.role = 0
            OFFSET 0
        ) AS vector
    ) AS said
    UNION ALL
    SELECT card.id, NULL, said.id, said.about, said.distance
    FROM unnest($3::uuid[]) AS card (id)
    CROSS JOIN LATERAL (
        SELECT p.id, about.ids AS about, vector.distance
        FROM (
            SELECT o.id FROM points o WHERE o.workspace_id = $1 AND o.card_id = card.id LIMIT $4
        ) AS p
        CROSS JOIN LATERAL (
            SELECT min(v.dense <=> $2::halfvec) AS distance
            FROM point_vectors v
            WHERE v.workspace_id = $1 AND v.owner_id = p.id AND v.space_id = {space}
            OFFSET 0
        ) AS vector
        CROSS JOIN LATERAL (
            SELECT array_agg(pe.entity_id) AS ids
            FROM point_entities pe
            WHERE pe.workspace_id = $1 AND pe.point_id = p.id
            OFFSET 0
        ) AS about
    ) AS said
),
about AS MATERIALIZED (
    SELECT f.card_id, one.id, f.relation_id, f.point_id, f.distance, false AS own
    FROM facts f
    CROSS JOIN LATERAL unnest(f.ends) AS one (id)
    UNION ALL
    SELECT card.id, named.entity_id, NULL, NULL, NULL, named.own
    FROM unnest($3::uuid[]) AS card (id)
    CROSS JOIN LATERAL (
        SELECT m.entity_id, bool_or(m.in_title AND m.name = c.title) AS own
        FROM cards c
        JOIN mentions m ON m.workspace_id = $1 AND m.card_id = c.id
        WHERE c.workspace_id = $1 AND c.id = card.id
        GROUP BY m.entity_id
        LIMIT $4
    ) AS named
),
roots AS MATERIALIZED (
    SELECT one.id AS member, root.id, root.name, root.key
    FROM (SELECT DISTINCT id FROM about) AS one
    {root: one.id}
),
titles AS MATERIALIZED (
    SELECT card.id, found.title, found.title_key
    FROM unnest($3::uuid[]) AS card (id)
    CROSS JOIN LATERAL (
        SELECT c.title, c.title_key FROM cards c WHERE c.workspace_id = $1 AND c.id = card.id OFFSET 0
    ) AS found
),
best AS (
    SELECT
        a.card_id,
        t.title,
        r.id,
        r.name,
        r.key,
        (array_agg(a.relation_id ORDER BY a.distance, a.relation_id) FILTER (WHERE a.relation_id IS NOT NULL))[1]
            AS relation_id,
        min(a.distance) FILTER (WHERE a.relation_id IS NOT NULL) AS relation_distance,
        (array_agg(a.point_id ORDER BY a.distance, a.point_id) FILTER (WHERE a.point_id IS NOT NULL))[1] AS point_id,
        min(a.distance) FILTER (WHERE a.point_id IS NOT NULL) AS point_distance
    FROM about a
    JOIN roots r ON r.member = a.id
    JOIN titles t ON t.id = a.card_id
    WHERE r.key <> t.title_key
    GROUP BY a.card_id, t.title, r.id, r.name, r.key
    HAVING NOT bool_or(a.own)
),
ranked AS (
    SELECT
        best.*,
        row_number() OVER (
            PARTITION BY card_id ORDER BY least(relation_distance, point_distance) NULLS LAST, id
        ) AS place
    FROM best
),
kept AS MATERIALIZED (
    SELECT * FROM ranked WHERE place <= $5
),
-- A hub that all these cards name is counted once.
numbers AS MATERIALIZED (
    SELECT root.id, counted.cards, counted.titled, counted.inside
    FROM (SELECT DISTINCT id, key FROM kept) AS root
    {counted: root.id}
)
SELECT
    kept.card_id,
    kept.title,
    kept.id AS entity_id,
    kept.name,
    numbers.cards,
    numbers.titled,
    numbers.inside,
    kept.relation_id,
    kept.relation_distance,
    kept.point_id,
    kept.point_distance
FROM kept
JOIN numbers ON numbers.id = kept.id
