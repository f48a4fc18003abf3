-- in:    $1 workspace; $2 entities (those that others were merged into), $3 cards, $4 episodes: the frontier;
--        $5 ids that are known already, $6 rows, $7 most cards and claims that are read of an entity
-- out:   kind, id of the frontier's neighbours; the strongest of each kind in turn, ties by id
-- index: pk_entities, ix_entities_merged_into, ix_relations_source_id, ix_relations_target_id, ix_mentions_entity_id,
--        ix_mentions_card_id, ix_roles_entity_id, ix_roles_episode_id, ix_point_entities_entity_id, pk_points,
--        ix_points_episode_id, pk_point_entities, pk_episode_cards, ix_episode_cards_card_id
WITH members AS MATERIALIZED (
    SELECT f.id AS root, f.id FROM unnest($2::uuid[]) AS f (id)
    UNION ALL
    SELECT e.merged_into, e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = ANY ($2::uuid[])
),
named AS MATERIALIZED (
    SELECT r.target_id AS id, r.confidence AS weight
    FROM members m JOIN relations r ON r.workspace_id = $1 AND r.source_id = m.id
    UNION ALL
    SELECT r.source_id, r.confidence
    FROM members m JOIN relations r ON r.workspace_id = $1 AND r.target_id = m.id
    UNION ALL
    SELECT m.entity_id, 1
    FROM unnest($3::uuid[]) AS f (id) JOIN mentions m ON m.workspace_id = $1 AND m.card_id = f.id
    UNION ALL
    SELECT r.entity_id, 1
    FROM unnest($4::uuid[]) AS f (id) JOIN roles r ON r.workspace_id = $1 AND r.episode_id = f.id
    UNION ALL
    SELECT pe.entity_id, 1
    FROM unnest($4::uuid[]) AS f (id)
    JOIN points p ON p.workspace_id = $1 AND p.episode_id = f.id
    JOIN point_entities pe ON pe.workspace_id = $1 AND pe.point_id = p.id
),
found AS (
    SELECT 0 AS kind, root.id, n.weight
    FROM (SELECT id, sum(weight) AS weight FROM named GROUP BY id) AS n
    CROSS JOIN LATERAL (
        SELECT coalesce(e.merged_into, e.id) AS id FROM entities e WHERE e.workspace_id = $1 AND e.id = n.id LIMIT 1
    ) AS root
    UNION ALL
    SELECT 1, c.card_id, 1
    FROM members m
    CROSS JOIN LATERAL (
        SELECT DISTINCT s.card_id FROM mentions s
        WHERE s.workspace_id = $1 AND s.entity_id = m.id
        ORDER BY s.card_id DESC
        LIMIT $7
    ) AS c
    UNION ALL
    SELECT 1, ec.card_id, 1
    FROM unnest($4::uuid[]) AS f (id) JOIN episode_cards ec ON ec.workspace_id = $1 AND ec.episode_id = f.id
    UNION ALL
    SELECT 2, r.episode_id, 1
    FROM members m
    CROSS JOIN LATERAL (
        SELECT r.episode_id FROM roles r WHERE r.workspace_id = $1 AND r.entity_id = m.id ORDER BY r.id DESC LIMIT $7
    ) AS r
    UNION ALL
    SELECT 2, p.episode_id, 1
    FROM members m
    CROSS JOIN LATERAL (
        SELECT pe.point_id FROM point_entities pe
        WHERE pe.workspace_id = $1 AND pe.entity_id = m.id
        ORDER BY pe.point_id DESC
        LIMIT $7
    ) AS pe
    JOIN points p ON p.workspace_id = $1 AND p.id = pe.point_id
    UNION ALL
    SELECT 2, ec.episode_id, 1
    FROM unnest($3::uuid[]) AS f (id) JOIN episode_cards ec ON ec.workspace_id = $1 AND ec.card_id = f.id
),
ranked AS (
    SELECT kind, id, row_number() OVER (PARTITION BY kind ORDER BY sum(weight) DESC, id) AS place
    FROM found
    WHERE id <> ALL ($5::uuid[])
    GROUP BY kind, id
)
SELECT kind, id FROM ranked ORDER BY place, kind, id LIMIT $6
