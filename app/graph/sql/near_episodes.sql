-- in:    $1 workspace, $2 space, $3 summary vectors of new episodes, $4 cards whose episodes do not count, $5 how many each
-- out:   `number` of the vector (from 0), the root episode, and how much nearer than usual it is
-- index: pk_episode_vectors, or ix_episode_vectors_hnsw_*; pk_episodes
WITH sample AS MATERIALIZED (
    SELECT v.dense
    FROM episode_vectors v
    WHERE v.workspace_id = $1 AND v.space_id = $2 AND v.role = 0
    LIMIT 200
),
asked AS MATERIALIZED (
    SELECT n.ord - 1 AS number, n.dense, usual.mu, usual.sigma
    FROM unnest($3::halfvec[]) WITH ORDINALITY AS n (dense, ord)
    CROSS JOIN LATERAL (
        SELECT avg(s.dense <=> n.dense) AS mu, stddev_samp(s.dense <=> n.dense) AS sigma FROM sample s
    ) AS usual
    WHERE (SELECT count(*) FROM sample) >= 30
),
near AS MATERIALIZED (
    SELECT a.number, a.mu, a.sigma, v.owner_id, v.distance
    FROM asked a
    CROSS JOIN LATERAL (
        SELECT v.owner_id, v.dense <=> a.dense AS distance
        FROM episode_vectors v
        WHERE v.workspace_id = $1 AND v.space_id = $2 AND v.role = 0
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
