-- in:    $1 workspace
-- out:   (has_cards, has_cone, has_reports): whether there is any of these; `passages`: how many a card holds, of those
--        that came first and last, and `han`: the share of them that are in Chinese (one character of five is Han, which
--        has two bytes more than one), both NULL where there are none; one row
-- index: the first entries of ix_cards_state, pk_points and pk_reports; uq_chunks_workspace_id_card_id_ordinal
SELECT EXISTS (SELECT 1 FROM cards WHERE workspace_id = $1 AND trashed_at IS NULL) AS has_cards,
       EXISTS (SELECT 1 FROM points WHERE workspace_id = $1) AS has_cone,
       EXISTS (SELECT 1 FROM reports WHERE workspace_id = $1) AS has_reports,
       (
           SELECT (count(*)::float8 / nullif(count(*) FILTER (WHERE passage.ordinal = 0), 0))
           FROM (
               (
                   SELECT c.ordinal FROM chunks c WHERE c.workspace_id = $1
                   ORDER BY c.card_id, c.ordinal LIMIT 500
               )
               UNION ALL
               (
                   SELECT c.ordinal FROM chunks c WHERE c.workspace_id = $1
                   ORDER BY c.card_id DESC, c.ordinal DESC LIMIT 500
               )
           ) AS passage
       ) AS passages,
       (
           SELECT avg((50 * (octet_length(passage.text) - length(passage.text)) > 20 * length(passage.text))::int)::float8
           FROM (
               (
                   SELECT c.text FROM chunks c WHERE c.workspace_id = $1
                   ORDER BY c.card_id, c.ordinal LIMIT 50
               )
               UNION ALL
               (
                   SELECT c.text FROM chunks c WHERE c.workspace_id = $1
                   ORDER BY c.card_id DESC, c.ordinal DESC LIMIT 50
               )
           ) AS passage
       ) AS han
