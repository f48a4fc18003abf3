-- in:    $1 workspace, $2 question vector, $3 cards, $4 claims per card that are compared, $5 that are kept; {space}
-- out:   rows (card_id, point_id, text, distance): of each card the claims that are nearest to the question
-- index: ix_points_card_id, pk_point_vectors
SELECT card.id AS card_id, near.id AS point_id, near.text, near.distance
FROM unnest($3::uuid[]) AS card (id)
CROSS JOIN LATERAL (
    SELECT p.id, p.text, vector.distance
    FROM (
        SELECT o.id, o.text FROM points o WHERE o.workspace_id = $1 AND o.card_id = card.id LIMIT $4
    ) AS p
    CROSS JOIN LATERAL (
        SELECT min(v.dense <=> $2::halfvec) AS distance
        FROM point_vectors v
        WHERE v.workspace_id = $1 AND v.owner_id = p.id AND v.space_id = {space}
        OFFSET 0
    ) AS vector
    ORDER BY vector.distance, p.id
    LIMIT $5
) AS near
