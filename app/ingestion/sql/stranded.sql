-- in:    $1 how many
-- out:   cards that wait although no job will come for them: workspace, card, version of the text; how the last job that
--        had them ended (state, code, detail), and how many cards it had. The last three are NULL where nobody knows any more
-- index: ix_cards_state, ix_jobs_line; pk_jobs of the cards' workspaces
--
-- One snapshot: a card and its job are written together, and a job ends after its cards.
WITH live AS MATERIALIZED (
    SELECT j.workspace_id, one ->> 0 AS card_id
    FROM jobs j CROSS JOIN LATERAL jsonb_array_elements(j.payload -> 'cards') AS one
    WHERE j.kind = 'ingest' AND j.state IN ('queued', 'working')
),
stranded AS MATERIALIZED (
    SELECT c.workspace_id, c.id, c.text_version
    FROM cards c
    WHERE c.state IN ('queued', 'working') AND c.trashed_at IS NULL
      AND NOT EXISTS (SELECT FROM live WHERE live.workspace_id = c.workspace_id AND live.card_id = c.id::text)
    ORDER BY c.workspace_id, c.id
    LIMIT $1
)
SELECT s.workspace_id, s.id AS card_id, s.text_version, last.state, last.error_code, last.error_detail, last.cards
FROM stranded s
LEFT JOIN LATERAL (
    SELECT j.state, j.error_code, j.error_detail, jsonb_array_length(j.payload -> 'cards') AS cards
    FROM jobs j
    WHERE j.workspace_id = s.workspace_id AND j.kind = 'ingest'
      AND j.payload -> 'cards' @> jsonb_build_array(jsonb_build_array(s.id::text, s.text_version))
    ORDER BY j.id DESC
    LIMIT 1
) AS last ON true
ORDER BY s.workspace_id, s.id
