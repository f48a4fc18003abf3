-- in:    $1 workspace; {row}: any entity
-- out:   `root`: the eldest of what it stands for and of the twins of that (see `explore_members`), one for all of them
-- index: pk_entities, uq_entities_key
CROSS JOIN LATERAL (
    SELECT twin.id, twin.name, twin.key
    FROM entities it
    -- Few have been merged; of the others no survivor is looked up.
    LEFT JOIN entities survivor ON survivor.workspace_id = $1 AND survivor.id = it.merged_into
    JOIN entities twin
        ON twin.workspace_id = $1
        AND twin.key = coalesce(survivor.key, it.key)
        AND twin.sense = coalesce(survivor.sense, it.sense)
        AND twin.merged_into IS NULL
    WHERE it.workspace_id = $1 AND it.id = {row}
    ORDER BY twin.id
    LIMIT 1
) AS root
