-- in:    $1 ef_search
-- out:   one row; the settings hold until the transaction ends
-- index: none
-- Generic plans, because planning `pool` costs as much as its look-ups; but they take every workspace for one of
-- average size: without sequential scans none of them reads all windows for a small one, and without parallel
-- workers none waits for their start.
-- Iterative scans, because a filtered scan without them gives too few rows.
SELECT
    set_config('plan_cache_mode', 'force_generic_plan', true),
    set_config('enable_seqscan', 'off', true),
    set_config('max_parallel_workers_per_gather', '0', true),
    set_config('hnsw.iterative_scan', 'strict_order', true),
    set_config('hnsw.ef_search', $1::text, true)
