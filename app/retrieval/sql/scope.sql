-- in:    $1 workspace, $2 cards to count
-- out:   one row: the space that search reads (nulls: none yet), whether its vector index is usable, and how many
--        cards have a text that is not searchable yet
-- index: uq_embedding_spaces_current, ix_cards_state
SELECT
    s.id,
    s.key,
    s.dimension,
    s.sparse,
    EXISTS (
        SELECT 1
        FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relname = 'ix_windows_hnsw_' || s.id AND i.indisvalid
    ) AS indexed,
    (
        SELECT count(*)
        FROM (
            SELECT 1
            FROM cards
            WHERE workspace_id = $1 AND state IN ('queued', 'working', 'failed') AND trashed_at IS NULL
            LIMIT $2
        ) AS stale
    ) AS stale_cards
FROM (VALUES (1)) AS one
LEFT JOIN embedding_spaces s ON s.is_current
