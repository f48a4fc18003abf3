-- in:    $1 workspace; {row}: an entity that survived, {most}: cards to count; {members}: see there
-- out:   `cards` that name it, `titled`: those whose whole title it is, `inside`: those that name it in a longer title;
--        counted no further than {most}
-- index: ix_mentions_entity_id (index only), ix_mentions_in_title, pk_cards, ix_cards_title_key, and those of the members
CROSS JOIN LATERAL (
    SELECT array_agg(member.id) AS ids
    FROM (
        {members: {row}}
    ) AS member
) AS members
CROSS JOIN LATERAL (
    SELECT
        (
            -- Not all mentions of a hub: a card has few of the same entity.
            SELECT least(count(DISTINCT named.card_id), {most})
            FROM (
                SELECT found.card_id
                FROM unnest(members.ids) AS member (id)
                CROSS JOIN LATERAL (
                    SELECT m.card_id
                    FROM mentions m
                    WHERE m.workspace_id = $1 AND m.entity_id = member.id
                    ORDER BY m.entity_id, m.card_id
                    LIMIT 2 * {most}
                ) AS found
                LIMIT 2 * {most}
            ) AS named
        )::int AS cards,
        (count(DISTINCT titles.id) FILTER (WHERE titles.own))::int AS titled,
        (count(DISTINCT titles.id) FILTER (WHERE NOT titles.own))::int AS inside
    FROM (
        SELECT card.id, card.own
        FROM unnest(members.ids) AS member (id)
        JOIN mentions m ON m.workspace_id = $1 AND m.entity_id = member.id AND m.in_title
        CROSS JOIN LATERAL (
            SELECT c.id, c.title = m.name OR c.title_key = root.key AS own
            FROM cards c
            WHERE c.workspace_id = $1 AND c.id = m.card_id
            OFFSET 0
        ) AS card
        UNION ALL
        SELECT c.id, true
        FROM cards c
        WHERE c.workspace_id = $1 AND c.title_key = root.key AND c.trashed_at IS NULL
        LIMIT {most}
    ) AS titles
) AS counted
