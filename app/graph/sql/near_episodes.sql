-- in:    $1 workspace, $2 space, $3 summary vectors of new episodes, $4 cards whose episodes do not count, $5 how many each;
--        $6 folders (null: none) and $7 periods (null: none), parallel to $3: one of the two must be common ground
-- out:   `number` of the vector (from 0), the root episode, and how much nearer than usual it is
-- index: pk_cards, pk_episodes, pk_episode_vectors; vectors are compared of those episodes alone that may be joined
WITH sample AS MATERIALIZED (
    SELECT v.dense
    FROM episode_vectors v
    WHERE v.workspace_id = $1 AND v.space_id = $2 AND v.role = 0
    LIMIT 200
),
asked AS MATERIALIZED (
    SELECT n.ord - 1 AS number, n.dense, n.folder, n.period, usual.mu, usual.sigma
    FROM unnest($3::halfvec[], $6::text[], $7::tstzrange[]) WITH ORDINALITY AS n (dense, folder, period, ord)
    CROSS JOIN LATERAL (
        SELECT avg(s.dense <=> n.dense) AS mu, stddev_samp(s.dense <=> n.dense) AS sigma FROM sample s
    ) AS usual
    WHERE (SELECT count(*) FROM sample) >= 30
),
there AS MATERIALIZED (
    SELECT e.id, e.happened, regexp_replace(c.source ->> 'path', '[^/]*$', '') AS folder
    FROM cards c
    JOIN episode_cards ec ON ec.workspace_id = $1 AND ec.card_id = c.id
    JOIN episodes e ON e.workspace_id = $1 AND e.id = ec.episode_id AND e.origin = 'own'
    WHERE c.workspace_id = $1
      AND (e.happened IS NOT NULL OR c.source ->> 'path' IS NOT NULL)
      AND EXISTS (SELECT FROM asked)
),
near AS MATERIALIZED (
    SELECT a.number, a.mu, a.sigma, v.owner_id, v.distance
    FROM asked a
    CROSS JOIN LATERAL (
        SELECT v.owner_id, v.dense <=> a.dense AS distance
        FROM there t
        JOIN episode_vectors v
            ON v.workspace_id = $1 AND v.owner_id = t.id AND v.space_id = $2 AND v.role = 0
        WHERE t.folder = a.folder OR t.happened && a.period
        ORDER BY v.dense <=> a.dense, v.owner_id
        LIMIT $5::int + 2
    ) AS v
)
SELECT n.number::int, root.id, root.title, root.summary, root.happened,
       c.source ->> 'path' AS path,
       (SELECT count(*) FROM facets f WHERE f.workspace_id = $1 AND f.episode_id = root.id)::int AS facets,
       ARRAY(
           SELECT DISTINCT e.key
           FROM mentions m
           JOIN entities e ON e.workspace_id = $1 AND e.id = m.entity_id
           WHERE m.workspace_id = $1 AND m.card_id = c.id AND e.key <> c.title_key
       ) AS entities,
       (n.mu - n.distance) / nullif(n.sigma, 0) AS z
FROM near n
JOIN episodes found ON found.workspace_id = $1 AND found.id = n.owner_id AND found.origin = 'own'
JOIN episodes root ON root.workspace_id = $1 AND root.id = coalesce(found.joined_to, found.id) AND root.origin = 'own'
JOIN LATERAL (
    SELECT c.id, c.source, c.title_key
    FROM episode_cards ec
    JOIN cards c ON c.workspace_id = $1 AND c.id = ec.card_id
    WHERE ec.workspace_id = $1 AND ec.episode_id = root.id
    ORDER BY c.id
    LIMIT 1
) AS c ON true
WHERE NOT EXISTS (
    SELECT FROM episode_cards own WHERE own.workspace_id = $1 AND own.episode_id = root.id AND own.card_id = ANY ($4::uuid[])
)
AND n.sigma > 0
ORDER BY n.number, n.distance, root.id
