-- in:    $1 workspace, $2 how many cards may pass; then the values of {conditions}, which are those of the filters that
--        are given
-- out:   one row per collection (1 episodes, 2 facets, 3 points) and one for the cards themselves (-1), whose `docs` are
--        their ids (uuid_send): `cards` that pass, counted no further than $2 + 1; unless there are more than $2, the
--        `docs` of their rows (int8send, in no order), and what the lexical score needs to know of them as a collection
-- index: ix_cards_tags, ix_cards_metadata, ix_cards_created_at, pk_cards; ix_episode_cards_card_id, ix_points_card_id
WITH passing AS MATERIALIZED (
    SELECT c.id
    FROM cards c
    WHERE c.workspace_id = $1
      AND c.trashed_at IS NULL
      AND {conditions}
    LIMIT $2::int + 1
),
counted AS MATERIALIZED (
    SELECT count(*) AS cards FROM passing
),
told AS MATERIALIZED (
    SELECT ec.episode_id, ec.card_id
    FROM passing
    CROSS JOIN LATERAL (
        SELECT t.episode_id, t.card_id
        FROM episode_cards t
        WHERE t.workspace_id = $1 AND t.card_id = passing.id
        OFFSET 0
    ) AS ec
    WHERE (SELECT cards FROM counted) <= $2
),
rows AS (
    SELECT 1 AS collection, e.doc, e.words, e.grams
    FROM (SELECT DISTINCT episode_id FROM told) AS t
    CROSS JOIN LATERAL (
        SELECT o.doc, o.words, o.grams FROM episodes o WHERE o.workspace_id = $1 AND o.id = t.episode_id OFFSET 0
    ) AS e
    UNION ALL
    SELECT 2, f.doc, f.words, f.grams
    FROM told t
    CROSS JOIN LATERAL (
        SELECT o.doc, o.words, o.grams
        FROM facets o
        WHERE o.workspace_id = $1 AND o.episode_id = t.episode_id AND o.card_id = t.card_id
        OFFSET 0
    ) AS f
    UNION ALL
    SELECT 3, p.doc, p.words, p.grams
    FROM passing
    CROSS JOIN LATERAL (
        SELECT o.doc, o.words, o.grams FROM points o WHERE o.workspace_id = $1 AND o.card_id = passing.id OFFSET 0
    ) AS p
    WHERE (SELECT cards FROM counted) <= $2
)
SELECT
    collection,
    string_agg(int8send(doc), '') AS docs,
    count(*) AS rows,
    coalesce(sum(words), 0)::bigint AS words,
    count(*) FILTER (WHERE grams > 0) AS gram_rows,
    coalesce(sum(grams), 0)::bigint AS grams
FROM rows
GROUP BY collection
UNION ALL
SELECT -1, string_agg(uuid_send(id), ''), count(*), 0, 0, 0 FROM passing
