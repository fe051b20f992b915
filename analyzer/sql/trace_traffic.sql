-- A counter: bytes that the shapes of the running AI-core kernels require at least, over their durations, GB/s.
-- Whole MB/s are summed, so that the counter is back at exactly zero when nothing runs; $most_mb_s caps one kernel.
-- Grain: one row per $chunk events, JSON text, in time.
WITH rates AS (
    SELECT
        d.start_ns,
        d.end_ns,
        least($most_mb_s, coalesce(p.bytes_lo, s.bytes_lo) * 1000.0 / (d.end_ns - d.start_ns))::BIGINT AS mb_s
    FROM selected_kernels AS k
    JOIN trace_kernels AS d USING (kernel_id)
    LEFT JOIN trace_labels AS p
        ON p.signature_id = k.signature_id AND p.part = k.part AND p.position IS NOT DISTINCT FROM k.position
    JOIN trace_labels AS s ON s.signature_id = k.signature_id AND s.part IS NULL
    WHERE d.end_ns > d.start_ns AND k.kernel_class = 'aicore' AND coalesce(p.bytes_lo, s.bytes_lo) > 0
),
changes AS (
    SELECT at_ns, sum(change) AS change
    FROM (
        SELECT start_ns AS at_ns, mb_s AS change FROM rates
        UNION ALL
        SELECT end_ns, -mb_s FROM rates
    )
    GROUP BY at_ns
    HAVING sum(change) <> 0
),
running AS (
    SELECT at_ns, sum(change) OVER (ORDER BY at_ns) AS mb_s, row_number() OVER (ORDER BY at_ns) - 1 AS number
    FROM changes
)
SELECT string_agg(
    concat(
        '{"name":"bytes required at least (GB/s)","pid":1,"ts":"', printf('%d.%03d', at_ns // 1000, at_ns % 1000),
        '","args":{"GB/s":', printf('%.3f', mb_s / 1000.0), '},"ph":"C"}'
    ),
    E',\n' ORDER BY at_ns
) AS events
FROM running
GROUP BY number // $chunk
ORDER BY number // $chunk
