-- in:    $1 workspace, $2 how many
-- out:   people whom most cards name, each with its community on top, whom statements join it with most, and a place
--        where it is named, titles first
-- index: pk_entities, ix_mentions_entity_id, ix_community_members_entity_id, ix_relations_source_id,
--        ix_relations_target_id
WITH people AS MATERIALIZED (
    SELECT e.id, e.name, count(DISTINCT m.card_id) AS cards, count(*) AS mentions
    FROM entities e
    JOIN entities k ON k.workspace_id = $1 AND (k.id = e.id OR k.merged_into = e.id)
    JOIN mentions m ON m.workspace_id = $1 AND m.entity_id = k.id
    WHERE e.workspace_id = $1 AND e.type = 'person' AND e.merged_into IS NULL
    GROUP BY e.id, e.name
    ORDER BY cards DESC, mentions DESC, e.id
    LIMIT $2
)
SELECT people.id, people.name, people.cards, within.id AS report_id, beside.names AS beside,
    place.card_id, place.chunk_id, place.start, place."end"
FROM people
JOIN LATERAL (
    SELECT c.id
    FROM community_members m JOIN communities c ON c.workspace_id = $1 AND c.id = m.community_id
    JOIN reports r ON r.workspace_id = $1 AND r.id = c.id
    WHERE m.workspace_id = $1 AND m.entity_id = people.id
    ORDER BY c.level LIMIT 1
) AS within ON true
JOIN LATERAL (
    SELECT m.card_id, m.chunk_id, m.start, m."end"
    FROM mentions m JOIN cards c ON c.workspace_id = $1 AND c.id = m.card_id AND c.trashed_at IS NULL
    WHERE m.workspace_id = $1 AND m.entity_id = people.id
    ORDER BY m.in_title DESC, m.card_id, m.start LIMIT 1
) AS place ON true
CROSS JOIN LATERAL (
    SELECT array_agg(joined.name ORDER BY joined.said DESC, joined.name) AS names
    FROM (
        SELECT other.name, count(*) AS said
        FROM (
            SELECT r.target_id AS id FROM relations r WHERE r.workspace_id = $1 AND r.source_id = people.id
            UNION ALL
            SELECT r.source_id FROM relations r WHERE r.workspace_id = $1 AND r.target_id = people.id
        ) AS ends
        JOIN entities one ON one.workspace_id = $1 AND one.id = ends.id
        JOIN entities other ON other.workspace_id = $1 AND other.id = coalesce(one.merged_into, one.id)
        WHERE other.type = 'person' AND other.id <> people.id
        GROUP BY other.name
        ORDER BY said DESC, other.name LIMIT 8
    ) AS joined
) AS beside
ORDER BY people.cards DESC, people.mentions DESC, people.id
