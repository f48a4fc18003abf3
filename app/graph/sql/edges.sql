-- in:    $1 workspace; $2 entities (those that others were merged into), $3 cards, $4 episodes; $5 rows
-- out:   id, source, target, kind, label, weight of the edges between these nodes, the strongest first; what several
--        cards state of the same two is one edge
-- index: ix_entities_merged_into, ix_relations_source_id, pk_entities, ix_mentions_card_id, ix_roles_episode_id,
--        ix_points_episode_id, pk_point_entities, pk_episode_cards
WITH members AS MATERIALIZED (
    SELECT f.id AS root, f.id FROM unnest($2::uuid[]) AS f (id)
    UNION ALL
    SELECT e.merged_into, e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = ANY ($2::uuid[])
),
stated AS (
    SELECT s.root AS source, t.root AS target, r.id, r.predicate, r.confidence
    FROM members s
    JOIN relations r ON r.workspace_id = $1 AND r.source_id = s.id
    JOIN members t ON t.id = r.target_id
    WHERE s.root <> t.root
),
mentioned AS (
    SELECT m.card_id, e.root, count(*) AS times
    FROM unnest($3::uuid[]) AS c (id)
    JOIN mentions m ON m.workspace_id = $1 AND m.card_id = c.id
    JOIN members e ON e.id = m.entity_id
    GROUP BY m.card_id, e.root
),
played AS (
    SELECT episode_id, root, min(text) AS text, count(*) AS times
    FROM (
        SELECT r.episode_id, e.root, r.text
        FROM unnest($4::uuid[]) AS f (id)
        JOIN roles r ON r.workspace_id = $1 AND r.episode_id = f.id
        JOIN members e ON e.id = r.entity_id
        UNION ALL
        SELECT p.episode_id, e.root, NULL
        FROM unnest($4::uuid[]) AS f (id)
        JOIN points p ON p.workspace_id = $1 AND p.episode_id = f.id
        JOIN point_entities pe ON pe.workspace_id = $1 AND pe.point_id = p.id
        JOIN members e ON e.id = pe.entity_id
    ) AS one
    GROUP BY episode_id, root
)
SELECT * FROM (
    SELECT (array_agg(id ORDER BY confidence DESC, id))[1]::text AS id, source, target, 'relation' AS kind,
           (array_agg(predicate ORDER BY confidence DESC, id))[1] AS label, sum(confidence) AS weight
    FROM stated
    GROUP BY source, target
    UNION ALL
    SELECT card_id || '.' || root, card_id, root, 'mention', '', times FROM mentioned
    UNION ALL
    SELECT episode_id || '.' || root, episode_id, root, 'role', coalesce(text, ''), times FROM played
    UNION ALL
    SELECT ec.episode_id || '.' || ec.card_id, ec.episode_id, ec.card_id, 'told_by', '', 1
    FROM unnest($4::uuid[]) AS f (id)
    JOIN episode_cards ec ON ec.workspace_id = $1 AND ec.episode_id = f.id
    WHERE ec.card_id = ANY ($3::uuid[])
) AS edge
ORDER BY weight DESC, id
LIMIT $5
