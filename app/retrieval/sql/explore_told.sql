-- in:    $1 workspace, $2 relations, $3 points; {source}, {target}: `explore_root` of each end
-- out:   rows (relation_id, point_id, card_id, title, text, source_id, source, target_id, target): what paths say of them
-- index: pk_relations, pk_points, pk_cards, and those of the parts
SELECT r.id AS relation_id, NULL::uuid AS point_id, r.card_id, c.title, r.text,
       source.id AS source_id, source.name AS source, target.id AS target_id, target.name AS target
FROM unnest($2::uuid[]) AS wanted (id)
JOIN relations r ON r.workspace_id = $1 AND r.id = wanted.id
JOIN cards c ON c.workspace_id = $1 AND c.id = r.card_id
{source: r.source_id}
{target: r.target_id}
UNION ALL
SELECT NULL, p.id, p.card_id, c.title, p.text, NULL, NULL, NULL, NULL
FROM unnest($3::uuid[]) AS wanted (id)
JOIN points p ON p.workspace_id = $1 AND p.id = wanted.id
JOIN cards c ON c.workspace_id = $1 AND c.id = p.card_id
