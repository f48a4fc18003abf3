-- in:    $1 workspace, $2 relations, $3 points
-- out:   rows (relation_id, point_id, card_id, title, text, source_id, source, target_id, target): what paths say of them
-- index: pk_relations, pk_points, pk_entities, pk_cards
SELECT r.id AS relation_id, NULL::uuid AS point_id, r.card_id, c.title, r.text,
       source.id AS source_id, source.name AS source, target.id AS target_id, target.name AS target
FROM unnest($2::uuid[]) AS wanted (id)
JOIN relations r ON r.workspace_id = $1 AND r.id = wanted.id
JOIN cards c ON c.workspace_id = $1 AND c.id = r.card_id
JOIN entities s ON s.workspace_id = $1 AND s.id = r.source_id
JOIN entities source ON source.workspace_id = $1 AND source.id = coalesce(s.merged_into, s.id)
JOIN entities t ON t.workspace_id = $1 AND t.id = r.target_id
JOIN entities target ON target.workspace_id = $1 AND target.id = coalesce(t.merged_into, t.id)
UNION ALL
SELECT NULL, p.id, p.card_id, c.title, p.text, NULL, NULL, NULL, NULL
FROM unnest($3::uuid[]) AS wanted (id)
JOIN points p ON p.workspace_id = $1 AND p.id = wanted.id
JOIN cards c ON c.workspace_id = $1 AND c.id = p.card_id
