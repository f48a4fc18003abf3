-- in:    $1 workspace, $2 question vector (null: none), $3 anchors per leg; docs by words, best first: $4 of points, $5 of
--        facets, $6 of episodes; $7 k of RRF, $8 nodes to compare, $9-$13 filters (for {many}), $14 cards that filters
--        let pass (for {few}), $15 episodes to reach;
--        {cards} is one more leg or nothing ($16: cards at hand);
--        {near} is the vector legs, {space} the embedding space, {few} and {many} conditions or nothing, {links} more
--        parts or nothing, {vectors} the claims' own vectors or nothing
-- out:   rows (part, place, packed), part 0 tellings (an episode as one card tells it), 1 their facets, 2 their points,
--        everything in order, layout as in `context_queries`: the reached episodes by RRF over the ranks of their best
--        anchors, with the exact distances of ALL their facets and points
-- index: the legs' own; uq_points_doc, uq_facets_doc, uq_episodes_doc, pk_points, pk_facets; ix_points_episode_id,
--        pk_episode_cards, ix_facets_episode_id, ix_points_facet_id, pk_point_vectors, pk_facet_vectors, pk_cards
-- Each LATERAL with OFFSET 0 is a look-up per row and stays one.
WITH types AS (
    SELECT $2::halfvec, $9::text[], $10::uuid[], $11::timestamptz, $12::timestamptz, $13::jsonb, $14::uuid[]
),
near AS MATERIALIZED (
{near}
),
near_ranked AS (
    SELECT kind, owner_id, row_number() OVER (PARTITION BY kind ORDER BY distance, owner_id) AS rank FROM near
),
anchors AS MATERIALIZED (
    SELECT n.kind AS leg, o.episode_id, n.rank
    FROM near_ranked n
    CROSS JOIN LATERAL (
        SELECT p.episode_id FROM points p WHERE p.workspace_id = $1 AND p.id = n.owner_id OFFSET 0
    ) AS o
    WHERE n.kind IN (0, 2, 4)
    UNION ALL
    SELECT n.kind, o.episode_id, n.rank
    FROM near_ranked n
    CROSS JOIN LATERAL (
        SELECT f.episode_id FROM facets f WHERE f.workspace_id = $1 AND f.id = n.owner_id OFFSET 0
    ) AS o
    WHERE n.kind IN (1, 3)
    UNION ALL
    (
        SELECT 10, o.episode_id, found.rank
        FROM unnest($4::bigint[]) WITH ORDINALITY AS found (doc, rank)
        CROSS JOIN LATERAL (
            SELECT p.episode_id
            FROM points p
            WHERE p.workspace_id = $1 AND p.doc = found.doc
              {many: p.card_id}
            OFFSET 0
        ) AS o
        LIMIT $3
    )
    UNION ALL
    (
        SELECT 11, o.episode_id, found.rank
        FROM unnest($5::bigint[]) WITH ORDINALITY AS found (doc, rank)
        CROSS JOIN LATERAL (
            SELECT f.episode_id
            FROM facets f
            WHERE f.workspace_id = $1 AND f.doc = found.doc
              {many: f.card_id}
            OFFSET 0
        ) AS o
        LIMIT $3
    )
    UNION ALL
    (
        SELECT 12, o.episode_id, found.rank
        FROM unnest($6::bigint[]) WITH ORDINALITY AS found (doc, rank)
        CROSS JOIN LATERAL (
            SELECT e.id AS episode_id FROM episodes e WHERE e.workspace_id = $1 AND e.doc = found.doc OFFSET 0
        ) AS o
        LIMIT $3
    )
{cards}
),
reached AS MATERIALIZED (
    SELECT episode_id, row_number() OVER (ORDER BY sum(1.0 / ($7::int + rank)) DESC, episode_id) AS place
    FROM (SELECT leg, episode_id, min(rank) AS rank FROM anchors GROUP BY leg, episode_id) AS best
    GROUP BY episode_id
),
sized AS (
    SELECT r.episode_id, r.place, sum(nodes.points) OVER (ORDER BY r.place) - nodes.points AS before
    FROM reached r
    CROSS JOIN LATERAL (
        SELECT count(*) + 1 AS points
        FROM (
            SELECT 1 FROM points p WHERE p.workspace_id = $1 AND p.episode_id = r.episode_id LIMIT $8
        ) AS told
    ) AS nodes
    WHERE r.place <= $15
),
tellings AS MATERIALIZED (
    SELECT
        row_number() OVER (ORDER BY s.place, t.card_id) - 1 AS place,
        s.episode_id,
        t.card_id,
        t.doc,
        t.happened,
        t.created_at
    FROM sized s
    CROSS JOIN LATERAL (
        SELECT c.id AS card_id, c.created_at, e.doc, e.happened
        FROM episode_cards ec
        JOIN cards c ON c.workspace_id = $1 AND c.id = ec.card_id AND c.trashed_at IS NULL
        JOIN episodes e ON e.workspace_id = $1 AND e.id = ec.episode_id
        WHERE ec.workspace_id = $1 AND ec.episode_id = s.episode_id
          {few: ec.card_id}
          {many: ec.card_id}
        ORDER BY c.id
        LIMIT $8
    ) AS t
    WHERE s.before < $8
),
told AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY t.place, f.ordinal, f.id) - 1 AS place, t.place AS telling, f.id, f.doc, f.han
    FROM tellings t
    CROSS JOIN LATERAL (
        SELECT
            o.id, o.ordinal, o.doc,
            50 * (octet_length(o.description) - length(o.description)) / greatest(length(o.description), 1) AS han
        FROM facets o
        WHERE o.workspace_id = $1 AND o.episode_id = t.episode_id AND o.card_id = t.card_id
        OFFSET 0
    ) AS f
    ORDER BY 1
    LIMIT $8
),
claimed AS (
    SELECT t.place AS facet, p.id, p.doc, p.ordinal, p.han, p.valid_during
    FROM told t
    CROSS JOIN LATERAL (
        SELECT
            o.id, o.doc, o.ordinal, o.valid_during,
            50 * (octet_length(o.text) - length(o.text)) / greatest(length(o.text), 1) AS han
        FROM points o
        WHERE o.workspace_id = $1 AND o.facet_id = t.id
        ORDER BY o.ordinal, o.id
    ) AS p
    LIMIT 2 * $8::int
)
SELECT
    0 AS part,
    place,
    uuid_send(episode_id) || uuid_send(card_id) || int8send(doc)
    || float8send(coalesce(extract(epoch FROM lower(happened))::float8, 'NaN'))
    || float8send(extract(epoch FROM created_at)::float8) AS packed
FROM tellings
UNION ALL
SELECT
    1,
    t.place,
    uuid_send(t.id) || int8send(t.doc) || int4send(t.telling::int) || int4send(t.han::int)
    || float4send(coalesce(d.title, 'NaN')) || float4send(coalesce(d.description, 'NaN'))
    || float4send(coalesce(d.edge, 'NaN'))
FROM told t
CROSS JOIN LATERAL (
    SELECT
        (min(v.dense <=> $2::halfvec) FILTER (WHERE v.role = 0))::float4 AS title,
        (min(v.dense <=> $2::halfvec) FILTER (WHERE v.role = 1))::float4 AS description,
        (min(v.dense <=> $2::halfvec) FILTER (WHERE v.role = 2))::float4 AS edge
    FROM facet_vectors v
    WHERE v.workspace_id = $1 AND v.owner_id = t.id AND v.space_id = {space}
) AS d
UNION ALL
SELECT
    2,
    row_number() OVER (ORDER BY p.facet, p.ordinal, p.id),
    uuid_send(p.id) || int8send(p.doc) || int4send(p.facet::int) || int4send(p.han::int)
    || float4send(coalesce(d.claim, 'NaN')) || float4send(coalesce(d.edge, 'NaN'))
    || float8send(coalesce(extract(epoch FROM upper(p.valid_during))::float8, 'NaN'))
    {vectors}
FROM claimed p
CROSS JOIN LATERAL (
    SELECT
        (min(v.dense <=> $2::halfvec) FILTER (WHERE v.role = 0))::float4 AS claim,
        (min(v.dense <=> $2::halfvec) FILTER (WHERE v.role = 2))::float4 AS edge,
        -- There is one of each.
        avg(v.dense) FILTER (WHERE v.role = 0) AS dense
    FROM point_vectors v
    WHERE v.workspace_id = $1 AND v.owner_id = p.id AND v.space_id = {space}
) AS d
{links}
