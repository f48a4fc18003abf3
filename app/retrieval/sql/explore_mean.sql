-- in:    $1 workspace, $2 how many are looked at; {kind}, {owners}, {vectors}, {owner}, {condition}, {space}
-- out:   (kind, mean): the mean vector of the workspace's texts of a kind, of evenly picked ones where there are more
-- index: uq_{owners}_doc, pk_{vectors}
SELECT {kind} AS kind, avg(v.dense::vector) AS mean
FROM (
    SELECT DISTINCT picked.id
    FROM (
        SELECT
            (SELECT doc FROM {owners} WHERE workspace_id = $1 ORDER BY doc LIMIT 1) AS low,
            (SELECT doc FROM {owners} WHERE workspace_id = $1 ORDER BY doc DESC LIMIT 1) AS high
    ) AS ends
    CROSS JOIN LATERAL generate_series(
        ends.low, ends.high, greatest((ends.high - ends.low) / $2::int, 1)
    ) AS place (doc)
    CROSS JOIN LATERAL (
        SELECT o.id FROM {owners} o WHERE o.workspace_id = $1 AND o.doc >= place.doc ORDER BY o.doc LIMIT 1
    ) AS picked
) AS sampled
JOIN {vectors} v ON v.workspace_id = $1 AND v.{owner} = sampled.id AND v.space_id = {space} {condition}
