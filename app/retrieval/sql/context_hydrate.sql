-- in:    $1 workspace; parallel arrays: $2 points, $3 their cards
-- out:   per point its claim and place, its facet, its episode, its card, and the chunk where it stands: the one of its
--        facet, or else the card's first, where the claim says no place
-- index: pk_points, pk_facets, pk_episodes, pk_cards, pk_chunks, uq_chunks_workspace_id_card_id_ordinal
SELECT
    p.id AS point_id,
    p.text AS claim,
    p.start AS point_start,
    p."end" AS point_end,
    p.speaker,
    p.superseded_by,
    f.id AS facet_id,
    f.title AS facet_title,
    f.description AS facet_description,
    e.id AS episode_id,
    e.title AS episode_title,
    e.summary AS episode_summary,
    c.id AS card_id,
    c.title,
    c.external_id,
    c.created_at,
    c.tags,
    ch.id AS chunk_id,
    ch.text,
    ch.start,
    ch."end"
FROM unnest($2::uuid[], $3::uuid[]) AS wanted (point_id, card_id)
JOIN points p ON p.workspace_id = $1 AND p.id = wanted.point_id
JOIN facets f ON f.workspace_id = $1 AND f.id = p.facet_id
JOIN episodes e ON e.workspace_id = $1 AND e.id = p.episode_id
JOIN cards c ON c.workspace_id = $1 AND c.id = wanted.card_id AND c.trashed_at IS NULL
CROSS JOIN LATERAL (
    SELECT o.id, o.text, o.start, o."end"
    FROM chunks o
    WHERE o.workspace_id = $1
      AND o.id = coalesce(p.chunk_id, (
          SELECT s.id
          FROM chunks s
          WHERE s.workspace_id = $1 AND s.card_id = c.id AND s.start <= coalesce(p.start, f.start, 0)
          ORDER BY s.ordinal DESC
          LIMIT 1
      ))
) AS ch
