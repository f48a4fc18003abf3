-- in:    $1 workspace, $2 keys of names, $3 cards to count; {root}, {counted}: see there
-- out:   (key, entity_id, name, cards, titled, inside): the entities that answer to one of the keys and are the
--        title of a card
-- index: ix_entity_names_key, ix_mentions_in_title, ix_cards_title_key, and those of the parts
WITH named AS MATERIALIZED (
    SELECT DISTINCT wanted.key, known.id
    FROM unnest($2::text[]) AS wanted (key)
    CROSS JOIN LATERAL (
        SELECT n.entity_id AS id
        FROM entity_names n
        WHERE n.workspace_id = $1
          AND n.key = wanted.key
          AND (
              EXISTS (
                  SELECT FROM mentions m WHERE m.workspace_id = $1 AND m.entity_id = n.entity_id AND m.in_title
              )
              OR EXISTS (SELECT FROM cards c WHERE c.workspace_id = $1 AND c.title_key = n.key)
          )
        OFFSET 0
    ) AS known
),
rooted AS MATERIALIZED (
    SELECT DISTINCT named.key AS asked, root.id, root.name, root.key
    FROM named
    {root: named.id}
)
SELECT root.asked AS key, root.id AS entity_id, root.name, counted.cards, counted.titled, counted.inside
FROM rooted AS root
{counted: root.id}
WHERE counted.titled > 0
