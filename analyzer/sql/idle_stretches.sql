-- The places at which the selected steps are idle, the one that costs the most over all steps first.
-- Inputs: idle_sides after the last round of idle_absorb.sql, busy_steps, selected_kernels, selected_signatures;
-- parameter: rows wanted. Grain: one place, by its middle occurrence. `before` is NULL when the stretch starts with the step, `after` when it
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
    SELECT
        s.*,
        s.end_ns - s.start_ns - s.busy_ns AS idle_ns,
        b AS before,
        a AS after,
        b.type AS before_type,
        a.type AS after_type
    FROM stretches AS s
    LEFT JOIN neighbours AS b ON b.kernel_id = s.before_kernel
    LEFT JOIN neighbours AS a ON a.kernel_id = s.after_kernel
),
-- A place recurs in the steps: the same two types on either side. It is shown once, by the occurrence in the middle.
places AS (
    SELECT
        *,
        sum(idle_ns) OVER place AS place_idle_ns,
        max(idle_ns) OVER place AS longest_ns,
        arg_max(step_id, idle_ns) OVER place AS longest_step_id,
        count(*) OVER place AS occurrences,
        (SELECT count(DISTINCT o.step_id) FROM named AS o
            WHERE o.before_type IS NOT DISTINCT FROM n.before_type
                AND o.after_type IS NOT DISTINCT FROM n.after_type) AS in_steps,
        row_number() OVER (
            PARTITION BY before_type, after_type ORDER BY idle_ns, step_id, start_ns
        ) AS rank_in_place
    FROM named AS n
    WINDOW place AS (PARTITION BY before_type, after_type)
),
largest AS (
    SELECT p.*, b.start_ns AS step_start_ns, b.end_ns - b.start_ns AS wall_ns
    FROM places AS p
    JOIN busy_steps AS b ON b.step_id = p.step_id AND b.rank_id = getvariable('selected_rank')::INTEGER
    WHERE rank_in_place = (occurrences + 1) // 2
    ORDER BY place_idle_ns DESC, idle_ns DESC, p.step_id, p.start_ns
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
    l.in_steps,
    l.occurrences,
    l.place_idle_ns / 1e3 AS place_idle_us,
    l.longest_ns / 1e3 AS longest_us,
    l.longest_step_id
FROM largest AS l
LEFT JOIN other_engines AS o USING (step_id, stretch)
ORDER BY l.place_idle_ns DESC, l.idle_ns DESC, l.step_id, l.start_ns;
