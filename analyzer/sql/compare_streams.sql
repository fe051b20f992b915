-- Question: how long is each stream busy in each step, how long is it the only one, and when does it end?
-- Grain: step, stream (NULL = exported without one). Inputs: selected_kernels, parameter steps. Times us.

WITH busy AS (
    SELECT step_id, stream_id, dense_rank() OVER (ORDER BY stream_id NULLS LAST) AS number,
        start_ns, end_ns, duration_us, kernel_class
    FROM selected_kernels
    WHERE kernel_class IN ('aicore', 'communication') AND list_contains($steps, step_id)
),
marked AS (
    SELECT *, start_ns > max(end_ns) OVER (
        PARTITION BY step_id, number ORDER BY start_ns, end_ns ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS apart
    FROM busy
),
-- Pieces of uninterrupted work of one stream: kernels of one stream may overlap (communication does).
pieces AS (
    SELECT step_id, number, min(start_ns) AS start_ns, max(end_ns) AS end_ns
    FROM (
        SELECT *, sum(CASE WHEN apart THEN 1 ELSE 0 END) OVER (
            PARTITION BY step_id, number ORDER BY start_ns, end_ns ROWS UNBOUNDED PRECEDING
        ) AS piece
        FROM marked
    )
    GROUP BY step_id, number, piece
),
edges AS (
    SELECT step_id, start_ns AS at_ns, number, 1 AS change FROM pieces
    UNION ALL
    SELECT step_id, end_ns, number, -1 FROM pieces
),
-- Between two edges `active` streams run; when it is one, the sum of the active streams' numbers is that stream.
spans AS (
    SELECT step_id,
        sum(change) OVER until_here AS active,
        sum(change * number) OVER until_here AS number,
        lead(at_ns) OVER (PARTITION BY step_id ORDER BY at_ns, change, number) - at_ns AS length_ns
    FROM edges
    WINDOW until_here AS (PARTITION BY step_id ORDER BY at_ns, change, number ROWS UNBOUNDED PRECEDING)
),
alone AS (
    SELECT step_id, number, sum(length_ns) AS alone_ns FROM spans WHERE active = 1 GROUP BY step_id, number
),
streams_of AS (
    SELECT step_id, number, any_value(stream_id) AS stream_id, count(*) AS kernels, max(end_ns) AS end_ns,
        max(duration_us) AS longest_us,
        sum(CASE WHEN kernel_class = 'aicore' THEN duration_us ELSE 0 END) AS aicore_us
    FROM busy
    GROUP BY step_id, number
),
main AS (
    SELECT arg_max(number, (total_us, -number)) AS number
    FROM (SELECT number, sum(aicore_us) AS total_us FROM streams_of GROUP BY number)
)
SELECT
    s.step_id,
    s.stream_id,
    s.number = (SELECT number FROM main) AS is_main,
    s.kernels,
    p.busy_ns / 1000 AS busy_us,
    coalesce(a.alone_ns, 0) / 1000 AS alone_us,
    (s.end_ns - m.end_ns) / 1000 AS after_main_us,
    s.longest_us
FROM streams_of AS s
JOIN (
    SELECT step_id, number, sum(end_ns - start_ns) AS busy_ns FROM pieces GROUP BY step_id, number
) AS p USING (step_id, number)
LEFT JOIN alone AS a USING (step_id, number)
LEFT JOIN streams_of AS m ON m.step_id = s.step_id AND m.number = (SELECT number FROM main)
ORDER BY s.step_id, s.number;
