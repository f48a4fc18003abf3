-- in:    $1 workspace, $2 points
-- out:   (id, doc, facet_doc, episode_doc)
-- index: pk_points, pk_facets, pk_episodes
SELECT p.id, p.doc, f.doc AS facet_doc, e.doc AS episode_doc
FROM points p
JOIN facets f ON f.workspace_id = $1 AND f.id = p.facet_id
JOIN episodes e ON e.workspace_id = $1 AND e.id = p.episode_id
WHERE p.workspace_id = $1 AND p.id = ANY ($2::uuid[])
