-- in:    $1 workspace, $2 cards ({some}: the condition that leaves out the others, or nothing)
-- out:   rows (part, packed), of ids: 0 (card, entity, own title) of mentions, 16 + 16 + 1 bytes each, as often as a card
--        names the entity; 1 (source, target) of relations, 16 + 16; 2 (card, entity): whom the card's whole title names,
--        whether a mention says so or not. Of all cards sixteen rows each ({spread}), for the driver is slow with values
--        of a megabyte
-- index: pk_mentions, pk_relations, pk_cards (the workspace's own rows), or ix_mentions_card_id, ix_relations_card_id;
--        uq_entities_key
WITH types AS (
    SELECT $2::uuid[]
),
titled AS MATERIALIZED (
    SELECT c.id, c.title, c.title_key
    FROM cards c
    WHERE c.workspace_id = $1
      {some: c.id}
)
SELECT
    0 AS part,
    string_agg(
        uuid_send(m.card_id) || uuid_send(m.entity_id)
            || CASE WHEN m.in_title AND m.name = c.title THEN '\x01'::bytea ELSE '\x00'::bytea END,
        ''
    ) AS packed
FROM mentions m
JOIN titled c ON c.id = m.card_id
WHERE m.workspace_id = $1
  {some: m.card_id}
{spread: m.card_id}
UNION ALL
SELECT 1, string_agg(uuid_send(r.source_id) || uuid_send(r.target_id), '')
FROM relations r
WHERE r.workspace_id = $1
  {some: r.card_id}
{spread: r.id}
UNION ALL
SELECT 2, string_agg(uuid_send(c.id) || uuid_send(named.id), '')
FROM titled c
CROSS JOIN LATERAL (
    SELECT e.id
    FROM entities e
    WHERE e.workspace_id = $1 AND e.key = c.title_key AND e.merged_into IS NULL
    OFFSET 0
) AS named
{spread: c.id}
