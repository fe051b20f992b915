-- How much of each kind of evidence a run has. One row; shares 0..1. Parameters: $run.
-- Shares are of the counted kernels that a roofline is for (aicore); streams and steps of all counted kernels.
-- AIC and AIV kernels have the counters of their own engine, so either counts.

WITH counted AS (
    SELECT * FROM kernels WHERE run_id = $run AND duplicate_of IS NULL
),
known AS (
    SELECT k.*, s.type_source, s.input_shapes, o.signature_id IS NOT NULL AS has_operator,
        h.signature_id IS NOT NULL AS has_hits
    FROM counted AS k
    JOIN signatures AS s ON s.run_id = $run AND s.signature_id = k.signature_id
    LEFT JOIN (
        SELECT DISTINCT signature_id FROM operator_measurements WHERE run_id = $run AND read_bytes IS NOT NULL
    ) AS o ON o.signature_id = k.signature_id
    LEFT JOIN (
        SELECT signature_id FROM operator_measurements WHERE run_id = $run AND read_hits IS NOT NULL
        UNION SELECT signature_id FROM l2_cache WHERE run_id = $run AND hit_rate IS NOT NULL
    ) AS h ON h.signature_id = k.signature_id
),
shares AS (
    SELECT
        count(*) AS kernels,
        count(*) FILTER (kernel_class = 'aicore') AS aicore,
        count(*) FILTER (kernel_class = 'aicore' AND type_source = 'column') AS types,
        count(*) FILTER (kernel_class = 'aicore' AND input_shapes IS NOT NULL) AS shapes,
        count(*) FILTER (kernel_class = 'aicore' AND (aic_mte2_ratio IS NOT NULL OR aiv_mte2_ratio IS NOT NULL)) AS pipes,
        count(*) FILTER (
            kernel_class = 'aicore' AND (
                has_hits OR aic_r0_read_cache_hit IS NOT NULL OR aiv_r0_read_cache_hit IS NOT NULL
            )
        ) AS l2_hits,
        count(*) FILTER (
            kernel_class = 'aicore'
            AND (
                has_operator
                OR aic_read_main_memory_datas_kb IS NOT NULL OR aiv_read_main_memory_datas_kb IS NOT NULL
                OR aic_r0_read_cache_miss_allocate IS NOT NULL OR aiv_r0_read_cache_miss_allocate IS NOT NULL
            )
        ) AS bytes,
        count(*) FILTER (kernel_class = 'aicore' AND stream_id IS NOT NULL) AS streams,
        count(*) FILTER (kernel_class = 'aicore' AND part = 'layer') AS layers
    FROM known
),
traced AS (
    SELECT count(o.torch_op) AS launches, count(o.source) AS sources
    FROM counted AS k
    JOIN kernel_origins AS o ON o.run_id = $run AND o.rank_id = k.rank_id AND o.kernel_id = k.kernel_id
    WHERE k.kernel_class = 'aicore'
),
step_rows AS (
    SELECT
        count(*) FILTER (source = 'step column' AND kernels > 0) AS steps,
        count(trace_computing_us) AS step_times
    FROM steps
    WHERE run_id = $run
)
SELECT
    least(1, kernels)::DOUBLE AS kernels,
    coalesce(types / nullif(aicore, 0), 0) AS types,
    coalesce(shapes / nullif(aicore, 0), 0) AS shapes,
    coalesce(pipes / nullif(aicore, 0), 0) AS pipes,
    coalesce(l2_hits / nullif(aicore, 0), 0) AS l2_hits,
    coalesce(bytes / nullif(aicore, 0), 0) AS bytes,
    coalesce(streams / nullif(aicore, 0), 0) AS streams,
    least(1, layers)::DOUBLE AS layers,
    least(1, steps)::DOUBLE AS steps,
    (steps > 1)::INTEGER::DOUBLE AS repeats,
    least(1, step_times)::DOUBLE AS step_times,
    (SELECT least(1, count(*))::DOUBLE FROM communication WHERE run_id = $run AND level = 'link') AS links,
    (SELECT least(1, count(*))::DOUBLE FROM memory_events WHERE run_id = $run) AS memory,
    (
        SELECT least(1, (SELECT count(*) FROM api_statistics WHERE run_id = $run) + count(*))::DOUBLE
        FROM api_calls WHERE run_id = $run
    ) AS host_calls,
    (SELECT least(1, count(*))::DOUBLE FROM trace_tasks WHERE run_id = $run) AS tasks,
    coalesce(launches / nullif(aicore, 0), 0) AS launches,
    coalesce(sources / nullif(aicore, 0), 0) AS sources,
    (
        SELECT (count(*) > 0)::INTEGER::DOUBLE FROM runs AS r LEFT JOIN ranks AS k USING (run_id)
        WHERE run_id = $run AND (
            k.cube_cores_mhz IS NOT NULL OR r.device_argument IS NOT NULL
            OR EXISTS (FROM device_info AS d WHERE d.run_id = $run AND d.cube_cores > 0 AND d.cube_mhz > 0)
            -- Without cube_utilization, the clock and bounds of the cores still narrow the chips.
            OR (coalesce(k.aic_mhz, k.clock_max_mhz) IS NOT NULL AND k.cube_cores_min IS NOT NULL)
        )
    ) AS chip
FROM shares, traced, step_rows;
