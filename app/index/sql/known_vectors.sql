-- in:    $1 workspace, $2 space; parallel arrays: $3 hashes of texts, $4 whether a text needs no lexical weights
-- out:   (text_hash, dense, sparse) for those that have a vector here: of a window, staged, or of a text of the graph
-- index: ix_<table>_text_hash; pk_staged_vectors
-- Vectors of the graph have no lexical weights: in a space that has them they do not do for a window.
SELECT h.text_hash, v.dense, v.sparse
FROM embedding_spaces AS space
CROSS JOIN unnest($3::uuid[], $4::boolean[]) AS h (text_hash, dense_only)
CROSS JOIN LATERAL (
    (SELECT w.dense, w.sparse FROM windows w
     WHERE w.workspace_id = $1 AND w.space_id = $2 AND w.text_hash = h.text_hash LIMIT 1)
    UNION ALL
    (SELECT s.dense, s.sparse FROM staged_vectors s
     WHERE s.workspace_id = $1 AND s.space_id = $2 AND s.text_hash = h.text_hash LIMIT 1)
    UNION ALL
    (SELECT g.dense, NULL::sparsevec FROM point_vectors g
     WHERE g.workspace_id = $1 AND g.space_id = $2 AND g.text_hash = h.text_hash
       AND (h.dense_only OR NOT space.sparse) LIMIT 1)
    UNION ALL
    (SELECT g.dense, NULL::sparsevec FROM facet_vectors g
     WHERE g.workspace_id = $1 AND g.space_id = $2 AND g.text_hash = h.text_hash
       AND (h.dense_only OR NOT space.sparse) LIMIT 1)
    UNION ALL
    (SELECT g.dense, NULL::sparsevec FROM relation_vectors g
     WHERE g.workspace_id = $1 AND g.space_id = $2 AND g.text_hash = h.text_hash
       AND (h.dense_only OR NOT space.sparse) LIMIT 1)
    UNION ALL
    (SELECT g.dense, NULL::sparsevec FROM role_vectors g
     WHERE g.workspace_id = $1 AND g.space_id = $2 AND g.text_hash = h.text_hash
       AND (h.dense_only OR NOT space.sparse) LIMIT 1)
    UNION ALL
    (SELECT g.dense, NULL::sparsevec FROM entity_vectors g
     WHERE g.workspace_id = $1 AND g.space_id = $2 AND g.text_hash = h.text_hash
       AND (h.dense_only OR NOT space.sparse) LIMIT 1)
    UNION ALL
    (SELECT g.dense, NULL::sparsevec FROM episode_vectors g
     WHERE g.workspace_id = $1 AND g.space_id = $2 AND g.text_hash = h.text_hash
       AND (h.dense_only OR NOT space.sparse) LIMIT 1)
    LIMIT 1
) AS v
WHERE space.id = $2
