-- Gaps of at least idle_gap_ns in which neither an AI-core nor a communication kernel runs. Grain: one row per $chunk events.
WITH gaps AS (
    SELECT
        b.step_id,
        b.earlier_end_ns,
        b.start_ns,
        b.kernel_id,
        row_number() OVER (ORDER BY b.start_ns, b.kernel_id) - 1 AS number
    FROM busy_rows AS b
    JOIN trace_kernels AS d USING (kernel_id)
    WHERE b.rank_id = getvariable('selected_rank')::INTEGER
        AND b.start_ns - b.earlier_end_ns >= getvariable('idle_gap_ns')
)
SELECT string_agg(
    concat(
        '{"name":"idle","cat":"idle","pid":3,"tid":1,"ts":"',
        printf('%d.%03d', earlier_end_ns // 1000, earlier_end_ns % 1000),
        '","dur":', printf('%d.%03d', (start_ns - earlier_end_ns) // 1000, (start_ns - earlier_end_ns) % 1000),
        ',"args":{"step":', step_id, ',"next_kernel_id":', kernel_id, '},"ph":"X"}'
    ),
    E',\n' ORDER BY number
) AS events
FROM gaps
GROUP BY number // $chunk
ORDER BY number // $chunk
