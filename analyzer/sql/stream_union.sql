-- Busy time of each stream: the union of its rows within each step, summed over steps; and its span.
-- Inputs: selected_kernels, streams. Grain: stream.

WITH marked AS (
    SELECT
        stream_id, step_id, start_ns, end_ns,
        max(end_ns) OVER (
            PARTITION BY stream_id, step_id ORDER BY start_ns, end_ns, kernel_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS earlier_end_ns
    FROM selected_kernels
    WHERE kernel_class IN ('aicore', 'communication')
),
by_step AS (
    SELECT
        stream_id,
        step_id,
        sum(greatest(0, end_ns - greatest(start_ns, coalesce(earlier_end_ns, start_ns)))) AS busy_ns,
        max(end_ns) - min(start_ns) AS wall_ns
    FROM marked
    GROUP BY stream_id, step_id
)
SELECT
    coalesce('stream ' || b.stream_id, 'no stream (collectives listed by name)') AS key,
    sum(b.busy_ns) / 1e3 AS busy_us,
    sum(b.wall_ns) / 1e3 AS wall_us,
    CASE WHEN any_value(s.is_main) THEN 'main stream: the most AI-core time of this rank' ELSE '' END AS note
FROM by_step AS b
LEFT JOIN streams AS s
    ON s.run_id = getvariable('selected_run')::INTEGER AND s.rank_id = getvariable('selected_rank')::INTEGER
    AND s.stream_id = b.stream_id
GROUP BY b.stream_id;
