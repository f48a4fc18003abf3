-- in:    $1 workspace, $2 keys of runs of the question's words, $3 cards to count; {counted}: how they are counted
-- out:   (key, entity_id, name, cards, titled, inside, card_id): the entities that answer to one of the keys, the
--        surviving ones, each with how many cards name it and in how many titles; and the cards whose title has one of
--        the keys
-- index: ix_entity_names_key, pk_entities, ix_cards_title_key, and those of `explore_counts`
WITH named AS MATERIALIZED (
    SELECT DISTINCT wanted.key, known.id
    FROM unnest($2::text[]) AS wanted (key)
    CROSS JOIN LATERAL (
        SELECT coalesce(e.merged_into, e.id) AS id
        FROM entity_names n
        JOIN entities e ON e.workspace_id = $1 AND e.id = n.entity_id
        WHERE n.workspace_id = $1 AND n.key = wanted.key
        OFFSET 0
    ) AS known
)
SELECT named.key, root.id AS entity_id, root.name, counted.cards, counted.titled, counted.inside,
       NULL::uuid AS card_id
FROM named
CROSS JOIN LATERAL (
    SELECT e.id, e.name FROM entities e WHERE e.workspace_id = $1 AND e.id = named.id OFFSET 0
) AS root
{counted}
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
