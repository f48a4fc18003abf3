-- in:    $1 workspace; {entity}: an entity that survived, {most}: cards to count
-- out:   `cards` that name it and `titled`: those whose whole title it is, counted no further than {most}
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
        (
            SELECT count(*)
            FROM (
                SELECT 1
                FROM (
                    SELECT {entity} AS id
                    UNION ALL
                    SELECT e.id FROM entities e WHERE e.workspace_id = $1 AND e.merged_into = {entity}
                ) AS member
                JOIN mentions m ON m.workspace_id = $1 AND m.entity_id = member.id AND m.in_title
                JOIN cards c ON c.workspace_id = $1 AND c.id = m.card_id AND c.title = m.name
                LIMIT {most}
            ) AS named
        )::int AS titled
    OFFSET 0
) AS counted
