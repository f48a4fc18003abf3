-- in:    $1 workspace, $2 cards ({some}: the condition that leaves out the others, or nothing); {nodes}: the name of each
--        entity, of all or of those that are named
-- out:   rows (part, packed): 0 (card, entity, own title) of mentions, 16 + 16 + 1 bytes each, as often as a card names
--        the entity; 1 (source, target) of relations, 16 + 16. An entity is the MD5 of its `node` (see `explore_root`):
--        twins are one. Of all cards sixteen rows each ({spread}), for the driver is slow with values of a megabyte
-- index: pk_mentions, pk_relations, pk_cards (the workspace's own rows), or ix_mentions_card_id, ix_relations_card_id;
--        pk_entities, uq_entities_key
WITH types AS (
    SELECT $2::uuid[]
),
mentioned AS MATERIALIZED (
    SELECT m.card_id, m.entity_id, m.in_title, m.name
    FROM mentions m
    WHERE m.workspace_id = $1
      {some: m.card_id}
),
related AS MATERIALIZED (
    SELECT r.id, r.source_id, r.target_id
    FROM relations r
    WHERE r.workspace_id = $1
      {some: r.card_id}
),
nodes AS MATERIALIZED (
    {nodes}
),
named AS (
    SELECT m.card_id, n.node, (m.in_title AND m.name = c.title) OR n.key = c.title_key AS own
    FROM mentioned m
    JOIN nodes n ON n.id = m.entity_id
    JOIN cards c ON c.workspace_id = $1 AND c.id = m.card_id
    WHERE true
      {some: c.id}
),
said AS (
    SELECT r.id, s.node AS source, t.node AS target
    FROM related r
    JOIN nodes s ON s.id = r.source_id
    JOIN nodes t ON t.id = r.target_id
)
SELECT
    0 AS part,
    string_agg(
        uuid_send(card_id) || node || CASE WHEN own THEN '\x01'::bytea ELSE '\x00'::bytea END, ''
    ) AS packed
FROM named
{spread: card_id}
UNION ALL
SELECT 1, string_agg(source || target, '')
FROM said
{spread: id}
