-- in:    $1 workspace, $2 mentions to read; {cards}: nothing, or the condition that leaves some cards' rows alone ($3)
-- out:   rows (part, packed): 0 distinct (card, entity, own title) of mentions as 16 + 16 + 1 bytes; 1 (source, target)
--        of relations as 16 + 16; entities as they survive. Several rows each, for one of many megabytes is slow
-- index: pk_mentions or ix_mentions_card_id, pk_relations or ix_relations_card_id, pk_entities, pk_cards
SELECT 0 AS part, string_agg(uuid_send(card_id) || uuid_send(entity_id) || CASE WHEN own THEN '\x01'::bytea ELSE '\x00' END, '') AS packed
FROM (
    SELECT m.card_id, coalesce(e.merged_into, e.id) AS entity_id, bool_or(m.in_title AND m.name = c.title) AS own
    FROM (SELECT * FROM mentions o WHERE o.workspace_id = $1 {cards} LIMIT $2) AS m
    JOIN entities e ON e.workspace_id = $1 AND e.id = m.entity_id
    LEFT JOIN cards c ON m.in_title AND c.workspace_id = $1 AND c.id = m.card_id
    GROUP BY 1, 2
) AS named
UNION ALL
SELECT 1, string_agg(uuid_send(source_id) || uuid_send(target_id), '')
FROM (
    SELECT coalesce(s.merged_into, s.id) AS source_id, coalesce(t.merged_into, t.id) AS target_id
    FROM (SELECT * FROM relations o WHERE o.workspace_id = $1 {cards} LIMIT $2) AS r
    JOIN entities s ON s.workspace_id = $1 AND s.id = r.source_id
    JOIN entities t ON t.workspace_id = $1 AND t.id = r.target_id
) AS said
