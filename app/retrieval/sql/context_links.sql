-- in:    $1 workspace, $2 question vector, $8 nodes to compare; {space}; stands at the end of `context_cone`
-- out:   more rows of the same shape: part 3 the tellings' own texts, part 4 the entities that touch them
-- index: pk_episode_vectors; ix_roles_episode_id, pk_entities, pk_role_vectors, pk_entity_vectors
UNION ALL
SELECT
    3,
    t.place,
    float4send(coalesce((
        SELECT v.dense <=> $2::halfvec
        FROM episode_vectors v
        WHERE v.workspace_id = $1 AND v.owner_id = t.episode_id AND v.space_id = {space} AND v.role = 0
    )::float4, 'NaN'))
FROM tellings t
UNION ALL
SELECT
    4,
    row_number() OVER (ORDER BY r.place, r.id),
    int4send(r.place::int) || int4send(coalesce(f.place, -1)::int)
    || float4send(coalesce((
        SELECT v.dense <=> $2::halfvec
        FROM entity_vectors v
        WHERE v.workspace_id = $1 AND v.owner_id = r.entity_id AND v.space_id = {space} AND v.role = 0
    )::float4, 'NaN'))
    || float4send(coalesce((
        SELECT v.dense <=> $2::halfvec
        FROM role_vectors v
        WHERE v.workspace_id = $1 AND v.owner_id = r.id AND v.space_id = {space} AND v.role = 0
    )::float4, 'NaN'))
FROM (
    SELECT t.place, o.id, o.facet_id, o.entity_id
    FROM tellings t
    CROSS JOIN LATERAL (
        SELECT ro.id, ro.facet_id, coalesce(en.merged_into, en.id) AS entity_id
        FROM roles ro
        JOIN entities en ON en.workspace_id = $1 AND en.id = ro.entity_id
        WHERE ro.workspace_id = $1 AND ro.episode_id = t.episode_id AND ro.card_id = t.card_id
        OFFSET 0
    ) AS o
    LIMIT $8
) AS r
LEFT JOIN told f ON f.id = r.facet_id
