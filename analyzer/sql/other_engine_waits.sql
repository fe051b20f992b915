-- How much of each AI_CPU, DSA or other row runs while the device is idle, and what starts behind it when it ends so.
-- Inputs: busy_rows (steps.sql), selected_kernels, selected_signatures; variable selected_rank. Grain: type, core, class.
-- What overlaps idle time is the most that it can cost: nothing says that the device waits for it. The part of a step
-- before its first and behind its last counted kernel is no idle time of the step, and counts here neither.

WITH others AS (
    SELECT
        k.kernel_id, k.step_id, k.start_ns, k.end_ns, k.kernel_class, coalesce(s.type, '(no type)') AS type, s.core,
        round(k.duration_us * 1e6)::BIGINT AS duration_ps
    FROM selected_kernels AS k
    LEFT JOIN selected_signatures AS s USING (signature_id)
    WHERE k.kernel_class NOT IN ('aicore', 'communication')
),
busy AS (
    SELECT b.step_id, b.start_ns, b.earlier_end_ns, k.signature_id
    FROM busy_rows AS b
    JOIN selected_kernels AS k USING (kernel_id)
    WHERE b.rank_id = getvariable('selected_rank')::INTEGER
),
idle_parts AS (
    SELECT o.kernel_id, sum(least(o.end_ns, b.start_ns) - greatest(o.start_ns, b.earlier_end_ns)) AS idle_ns
    FROM others AS o
    JOIN busy AS b
        ON b.step_id = o.step_id AND b.earlier_end_ns < b.start_ns
        AND o.start_ns < b.start_ns AND b.earlier_end_ns < o.end_ns
    GROUP BY o.kernel_id
),
followed AS (
    SELECT o.kernel_id, coalesce(s.type, '(no type)') AS next_type, b.start_ns - o.end_ns AS after_ns
    FROM others AS o
    ASOF JOIN (SELECT DISTINCT ON (step_id, start_ns) step_id, start_ns, earlier_end_ns, signature_id FROM busy
        ORDER BY step_id, start_ns, signature_id) AS b
        ON b.step_id = o.step_id AND o.end_ns <= b.start_ns
    LEFT JOIN selected_signatures AS s USING (signature_id)
    -- Only where the device is idle when the row ends can the next kernel have waited for it.
    WHERE b.earlier_end_ns <= o.end_ns
),
by_next AS (
    SELECT o.type, o.core, o.kernel_class, f.next_type, count(*) AS times, median(f.after_ns) / 1e3 AS after_us
    FROM others AS o
    JOIN followed AS f USING (kernel_id)
    GROUP BY ALL
),
most AS (
    SELECT DISTINCT ON (type, core, kernel_class) *
    FROM by_next
    ORDER BY type, core, kernel_class, times DESC, next_type
)
SELECT
    o.type,
    o.core,
    o.kernel_class,
    count(*) AS kernels,
    sum(o.duration_ps) / 1e6 AS total_us,
    coalesce(sum(i.idle_ns), 0) / 1e3 AS idle_us,
    any_value(m.next_type) AS next_type,
    coalesce(any_value(m.times), 0) AS next_times,
    any_value(m.after_us) AS next_after_us
FROM others AS o
LEFT JOIN idle_parts AS i USING (kernel_id)
LEFT JOIN most AS m ON m.type = o.type AND m.core IS NOT DISTINCT FROM o.core AND m.kernel_class = o.kernel_class
GROUP BY o.type, o.core, o.kernel_class
ORDER BY total_us DESC, o.type, o.core;
