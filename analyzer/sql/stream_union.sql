-- Busy time of each stream: the union of its rows within each step, summed over steps; and its span.
-- Input: selected_kernels. Grain: stream.

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
    coalesce('stream ' || stream_id, 'no stream (collectives listed by name)') AS key,
    sum(busy_ns) / 1e3 AS busy_us,
    sum(wall_ns) / 1e3 AS wall_us
FROM by_step
GROUP BY stream_id;
