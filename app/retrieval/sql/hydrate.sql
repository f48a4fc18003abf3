-- in:    $1 workspace, $2 chunk ids
-- out:   the chunks with the cards they belong to
-- index: pk_chunks, pk_cards
SELECT
    ch.id AS chunk_id,
    ch.text,
    ch.start,
    ch."end",
    c.id AS card_id,
    c.title,
    c.external_id,
    c.created_at,
    c.tags
FROM unnest($2::uuid[]) AS wanted (id)
JOIN chunks ch ON ch.workspace_id = $1 AND ch.id = wanted.id
JOIN cards c ON c.workspace_id = $1 AND c.id = ch.card_id
