-- The idle stretches of the selected steps, the most idle first.
-- Inputs: idle_sides after the last round of idle_absorb.sql, busy_steps, kernels, signatures; parameter: rows wanted.
-- Grain: one stretch. `before` is NULL when the stretch starts with the step, `after` when it ends with it.

WITH stretches AS (
    SELECT
        step_id,
        stretch,
        min(coalesce(before_end_ns, start_ns)) AS start_ns,
        max(CASE WHEN absorbed THEN end_ns ELSE start_ns END) AS end_ns,
        coalesce(sum(busy_ns) FILTER (absorbed), 0) AS busy_ns,
        coalesce(sum(kernels) FILTER (absorbed), 0) AS kernels,
        first(before_kernel ORDER BY piece) AS before_kernel,
        max(first_kernel) FILTER (NOT absorbed) AS after_kernel
    FROM idle_sides
    WHERE absorbed OR before_end_ns IS NOT NULL
    GROUP BY step_id, stretch
)
SELECT
    s.step_id,
    (s.start_ns - b.start_ns) / 1e3 AS start_us,
    (s.end_ns - s.start_ns) / 1e3 AS span_us,
    (s.end_ns - s.start_ns - s.busy_ns) / 1e3 AS idle_us,
    s.busy_ns / 1e3 AS busy_us,
    s.kernels,
    coalesce((
        SELECT sum(least(o.end_ns, s.end_ns) - greatest(o.start_ns, s.start_ns))
        FROM selected_kernels AS o
        WHERE o.kernel_class NOT IN ('aicore', 'communication')
            AND o.start_ns < s.end_ns AND o.end_ns > s.start_ns
    ), 0) / 1e3 AS other_engine_us,
    (s.end_ns - s.start_ns - s.busy_ns) / nullif(b.end_ns - b.start_ns, 0) AS share_of_step,
    s.before_kernel,
    s.after_kernel
FROM stretches AS s
JOIN busy_steps AS b ON b.step_id = s.step_id AND b.rank_id = getvariable('selected_rank')::INTEGER
ORDER BY idle_us DESC, s.step_id, start_us
LIMIT ?;
