-- in:    $1 workspace, $2 question vector, $3 cards, $4 facts per card and kind, $5 entities per card, $6 cards to
--        count; {space}; {counted}: how they are counted
-- out:   rows (card_id, title, entity_id, name, cards, titled, inside, relation_id, relation_distance, point_id,
--        point_distance): of each card the entities whose facts are nearest to the question, each with the nearest
--        relation and claim; what its own title names is none of them
-- index: ix_relations_card_id, pk_relation_vectors, ix_points_card_id, pk_point_vectors, pk_point_entities,
--        ix_mentions_card_id, pk_entities, and those of `explore_counts`
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
    SELECT card.id, NULL, said.id, ARRAY[said.entity_id], said.distance
    FROM unnest($3::uuid[]) AS card (id)
    CROSS JOIN LATERAL (
        SELECT p.id, about.entity_id, vector.distance
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
            SELECT pe.entity_id FROM point_entities pe WHERE pe.workspace_id = $1 AND pe.point_id = p.id OFFSET 0
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
rooted AS (
    SELECT a.card_id, root.id, a.relation_id, a.point_id, a.distance, a.own
    FROM about a
    CROSS JOIN LATERAL (
        SELECT coalesce(e.merged_into, e.id) AS id FROM entities e WHERE e.workspace_id = $1 AND e.id = a.id OFFSET 0
    ) AS root
),
best AS (
    SELECT
        card_id,
        id,
        (array_agg(relation_id ORDER BY distance, relation_id) FILTER (WHERE relation_id IS NOT NULL))[1] AS relation_id,
        min(distance) FILTER (WHERE relation_id IS NOT NULL) AS relation_distance,
        (array_agg(point_id ORDER BY distance, point_id) FILTER (WHERE point_id IS NOT NULL))[1] AS point_id,
        min(distance) FILTER (WHERE point_id IS NOT NULL) AS point_distance
    FROM rooted
    GROUP BY card_id, id
    HAVING NOT bool_or(own)
),
ranked AS MATERIALIZED (
    SELECT
        best.*,
        row_number() OVER (
            PARTITION BY card_id ORDER BY least(relation_distance, point_distance) NULLS LAST, id
        ) AS place
    FROM best
)
SELECT
    ranked.card_id,
    (SELECT c.title FROM cards c WHERE c.workspace_id = $1 AND c.id = ranked.card_id) AS title,
    ranked.id AS entity_id,
    root.name,
    counted.cards,
    counted.titled,
    counted.inside,
    ranked.relation_id,
    ranked.relation_distance,
    ranked.point_id,
    ranked.point_distance
FROM ranked
CROSS JOIN LATERAL (
    SELECT e.id, e.name FROM entities e WHERE e.workspace_id = $1 AND e.id = ranked.id OFFSET 0
) AS root
{counted}
WHERE ranked.place <= $5
