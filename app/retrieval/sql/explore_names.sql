-- in:    $1 workspace, $2 keys of runs of the question's words, $3 cards to count; {root}, {counted}: see there
-- out:   (key, entity_id, name, cards, titled, inside, card_id): the entities that answer to one of the keys, with
--        how many cards name each and in how many titles; and the cards whose title has one of the keys
-- index: ix_entity_names_key, ix_cards_title_key, and those of the parts
WITH named AS MATERIALIZED (
    SELECT DISTINCT wanted.key, known.id
    FROM unnest($2::text[]) AS wanted (key)
    CROSS JOIN LATERAL (
        SELECT n.entity_id AS id FROM entity_names n WHERE n.workspace_id = $1 AND n.key = wanted.key OFFSET 0
    ) AS known
),
rooted AS MATERIALIZED (
    SELECT DISTINCT named.key AS asked, root.id, root.name, root.key
    FROM named
    {root: named.id}
)
SELECT root.asked AS key, root.id AS entity_id, root.name, counted.cards, counted.titled, counted.inside,
       NULL::uuid AS card_id
FROM rooted AS root
{counted: root.id}
UNION ALL
SELECT wanted.key, NULL, titled.title, 0, 0, 0, titled.id
FROM unnest($2::text[]) AS wanted (key)
CROSS JOIN LATERAL (
    SELECT c.id, c.title
    FROM cards c
    WHERE c.workspace_id = $1 AND c.title_key = wanted.key AND c.trashed_at IS NULL
    ORDER BY c.id
    LIMIT 20
) AS titled
