-- Where nothing that counts runs inside one step: gaps of at least $least_us between the union of AI-core and
-- communication kernels, the longest $most of them, in time order. Grain: one gap, us from $step_start_ns.
-- `all_gaps` and `all_us` say, on every row, how many there are and how long together.
WITH reached AS (
    SELECT
        start_ns,
        max(end_ns) OVER (
            ORDER BY start_ns, kernel_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached_ns
    FROM selected_kernels
    WHERE step_id = $step_id AND kernel_class IN ('aicore', 'communication')
),
gaps AS (
    SELECT
        (reached_ns - $step_start_ns) / 1000.0 AS start_us,
        (start_ns - reached_ns) / 1000.0 AS idle_us,
        count(*) OVER () AS all_gaps,
        sum(start_ns - reached_ns) OVER () / 1000.0 AS all_us
    FROM reached
    WHERE start_ns - reached_ns >= $least_us * 1000
    ORDER BY idle_us DESC, start_us
    LIMIT $most
)
SELECT start_us, idle_us, all_gaps, all_us
FROM gaps
ORDER BY start_us
