-- in:    $1 workspace; {entity}: an entity that survived, {most}: cards to count
-- out:   `cards` that name it, `titled`: those whose whole title it is, `inside`: those that name it in a longer title;
--        counted no further than {most}
-- index: ix_entities_merged_into, ix_mentions_entity_id (index only), ix_mentions_in_title, pk_cards
CROSS JOIN LATERAL (
    SELECT
        (
            SELECT count(*)
            FROM (
                SELECT DISTINCT m.card_id
                FROM (
                    SELECT {entity} AS id
                    UNION ALL
                    SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = {entity}
                ) AS member
                JOIN mentions m ON m.workspace_id = $1 AND m.entity_id = member.id
                LIMIT {most}
            ) AS named
        )::int AS cards,
        (count(*) FILTER (WHERE titles.own))::int AS titled,
        (count(*) FILTER (WHERE NOT titles.own))::int AS inside
    FROM (
        SELECT card.title = m.name AS own
        FROM (
            SELECT {entity} AS id
            UNION ALL
            SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = {entity}
        ) AS member
        JOIN mentions m ON m.workspace_id = $1 AND m.entity_id = member.id AND m.in_title
        CROSS JOIN LATERAL (
            SELECT c.title FROM cards c WHERE c.workspace_id = $1 AND c.id = m.card_id OFFSET 0
        ) AS card
        LIMIT {most}
    ) AS titles
) AS counted
