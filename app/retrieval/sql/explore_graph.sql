-- in:    $1 workspace, $2 cards ({some}: the condition that leaves out the others, or nothing)
-- out:   rows (part, packed): 0 distinct (card, entity, own title) of mentions, 16 + 16 + 1 bytes each; 1 (source,
--        target) of relations, 16 + 16; entities as they survive. Sixteen rows each, for the driver is slow with
--        values of a megabyte
-- index: pk_mentions, pk_relations (the workspace's own rows), or ix_mentions_card_id, ix_relations_card_id;
--        pk_entities, pk_cards
WITH types AS (
    SELECT $2::uuid[]
),
named AS (
    SELECT m.card_id, coalesce(e.merged_into, e.id) AS entity_id, bool_or(m.in_title AND m.name = c.title) AS own
    FROM mentions m
    JOIN entities e ON e.workspace_id = $1 AND e.id = m.entity_id
    JOIN cards c ON c.workspace_id = $1 AND c.id = m.card_id
    WHERE m.workspace_id = $1
      {some: m.card_id}
    GROUP BY 1, 2
),
said AS (
    SELECT r.id, coalesce(s.merged_into, s.id) AS source_id, coalesce(t.merged_into, t.id) AS target_id
    FROM relations r
    JOIN entities s ON s.workspace_id = $1 AND s.id = r.source_id
    JOIN entities t ON t.workspace_id = $1 AND t.id = r.target_id
    WHERE r.workspace_id = $1
      {some: r.card_id}
)
SELECT
    0 AS part,
    string_agg(
        uuid_send(card_id) || uuid_send(entity_id) || CASE WHEN own THEN '\x01'::bytea ELSE '\x00'::bytea END, ''
    ) AS packed
FROM named
GROUP BY get_byte(uuid_send(card_id), 15) % 16
UNION ALL
SELECT 1, string_agg(uuid_send(source_id) || uuid_send(target_id), '')
FROM said
GROUP BY get_byte(uuid_send(id), 15) % 16
