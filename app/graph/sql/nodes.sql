-- in:    $1 workspace; $2 entities (those that others were merged into), $3 cards, $4 episodes
-- out:   id, kind, label, degree: the number of entities that it is joined to; in the order of the input
-- index: pk_entities, ix_entities_merged_into, ix_relations_source_id, ix_relations_target_id, pk_cards,
--        ix_mentions_card_id, pk_episodes, ix_roles_episode_id, ix_points_episode_id, pk_point_entities
WITH members AS MATERIALIZED (
    SELECT f.id AS root, f.id FROM unnest($2::uuid[]) AS f (id)
    UNION ALL
    SELECT e.merged_into, e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = ANY ($2::uuid[])
),
joined AS (
    SELECT m.root AS node, r.target_id AS entity_id
    FROM members m JOIN relations r ON r.workspace_id = $1 AND r.source_id = m.id
    UNION
    SELECT m.root, r.source_id
    FROM members m JOIN relations r ON r.workspace_id = $1 AND r.target_id = m.id
    UNION
    SELECT c.id, m.entity_id
    FROM unnest($3::uuid[]) AS c (id) JOIN mentions m ON m.workspace_id = $1 AND m.card_id = c.id
    UNION
    SELECT f.id, r.entity_id
    FROM unnest($4::uuid[]) AS f (id) JOIN roles r ON r.workspace_id = $1 AND r.episode_id = f.id
    UNION
    SELECT f.id, pe.entity_id
    FROM unnest($4::uuid[]) AS f (id)
    JOIN points p ON p.workspace_id = $1 AND p.episode_id = f.id
    JOIN point_entities pe ON pe.workspace_id = $1 AND pe.point_id = p.id
),
degrees AS (
    SELECT j.node, count(DISTINCT root.id) AS degree
    FROM joined j
    CROSS JOIN LATERAL (
        SELECT coalesce(e.merged_into, e.id) AS id
        FROM entities e
        WHERE e.workspace_id = $1 AND e.id = j.entity_id
        LIMIT 1
    ) AS root
    WHERE root.id <> j.node
    GROUP BY j.node
)
SELECT node.id, node.kind, node.label, coalesce(d.degree, 0) AS degree
FROM (
    SELECT e.id, 'entity' AS kind, e.name AS label, 0 AS part, f.n
    FROM unnest($2::uuid[]) WITH ORDINALITY AS f (id, n) JOIN entities e ON e.workspace_id = $1 AND e.id = f.id
    UNION ALL
    SELECT c.id, 'card', c.title, 1, f.n
    FROM unnest($3::uuid[]) WITH ORDINALITY AS f (id, n) JOIN cards c ON c.workspace_id = $1 AND c.id = f.id
    UNION ALL
    SELECT e.id, 'episode', e.title, 2, f.n
    FROM unnest($4::uuid[]) WITH ORDINALITY AS f (id, n) JOIN episodes e ON e.workspace_id = $1 AND e.id = f.id
) AS node
LEFT JOIN degrees d ON d.node = node.id
ORDER BY node.part, node.n
