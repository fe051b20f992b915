-- The idle stretches of the selected steps, the most idle first.
-- Inputs: idle_sides after the last round of idle_absorb.sql, busy_steps, selected_kernels, selected_signatures;
-- parameter: rows wanted. Grain: one stretch. `before` is NULL when the stretch starts with the step, `after` when it
-- ends with it. in_steps counts the steps that have a stretch between kernels of the same two types.

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
),
neighbour_ids AS (
    SELECT before_kernel AS kernel_id FROM stretches
    UNION
    SELECT after_kernel FROM stretches
),
neighbours AS (
    SELECT kernel_id, k.name, coalesce(s.type, '(no type)') AS type, k.stream_id, k.duration_us
    FROM selected_kernels AS k
    SEMI JOIN neighbour_ids USING (kernel_id)
    LEFT JOIN selected_signatures AS s USING (signature_id)
),
named AS (
    SELECT s.*, b AS before, a AS after, b.type AS before_type, a.type AS after_type
    FROM stretches AS s
    LEFT JOIN neighbours AS b ON b.kernel_id = s.before_kernel
    LEFT JOIN neighbours AS a ON a.kernel_id = s.after_kernel
),
recurrence AS (
    SELECT before_type, after_type, count(DISTINCT step_id) AS in_steps
    FROM named
    GROUP BY before_type, after_type
),
largest AS (
    SELECT
        n.*,
        r.in_steps,
        b.start_ns AS step_start_ns,
        b.end_ns - b.start_ns AS wall_ns,
        n.end_ns - n.start_ns - n.busy_ns AS idle_ns
    FROM named AS n
    JOIN recurrence AS r
        ON r.before_type IS NOT DISTINCT FROM n.before_type AND r.after_type IS NOT DISTINCT FROM n.after_type
    JOIN busy_steps AS b ON b.step_id = n.step_id AND b.rank_id = getvariable('selected_rank')::INTEGER
    ORDER BY idle_ns DESC, n.step_id, n.start_ns
    LIMIT ?
),
other_engines AS (
    SELECT l.step_id, l.stretch, sum(least(o.end_ns, l.end_ns) - greatest(o.start_ns, l.start_ns)) AS other_ns
    FROM largest AS l
    JOIN selected_kernels AS o ON o.start_ns < l.end_ns AND o.end_ns > l.start_ns
    WHERE o.kernel_class NOT IN ('aicore', 'communication')
    GROUP BY l.step_id, l.stretch
)
SELECT
    l.step_id,
    (l.start_ns - l.step_start_ns) / 1e3 AS start_us,
    (l.end_ns - l.start_ns) / 1e3 AS span_us,
    l.idle_ns / 1e3 AS idle_us,
    l.busy_ns / 1e3 AS busy_us,
    l.kernels,
    coalesce(o.other_ns, 0) / 1e3 AS other_engine_us,
    l.idle_ns / nullif(l.wall_ns, 0) AS share_of_step,
    l.before,
    l.after,
    l.in_steps
FROM largest AS l
LEFT JOIN other_engines AS o USING (step_id, stretch)
ORDER BY l.idle_ns DESC, l.step_id, l.start_ns;
