-- Counters that the profiler sampled (clock, HBM, L2) while the drawn steps ran. Grain: one row per $chunk events.
WITH spans AS (
    SELECT step_id, min(start_ns) AS start_ns, max(end_ns) AS end_ns FROM trace_kernels GROUP BY step_id
),
samples AS (
    SELECT
        c.timestamp_ns AS at_ns,
        concat(c.counter, coalesce(' ' || c.detail, ''), ' (', c.unit, ')') AS name,
        coalesce(c.unit, 'value') AS unit,
        c.value,
        row_number() OVER (ORDER BY c.timestamp_ns, c.counter, c.detail) - 1 AS number
    FROM counters AS c
    WHERE c.run_id = getvariable('selected_run')::INTEGER AND c.rank_id = getvariable('selected_rank')::INTEGER
        AND isfinite(c.value)
        AND EXISTS (FROM spans AS s WHERE c.timestamp_ns BETWEEN s.start_ns AND s.end_ns)
)
SELECT string_agg(
    concat(
        '{"name":', to_json(name), ',"pid":1,"ts":"', printf('%d.%03d', at_ns // 1000, at_ns % 1000),
        '","args":{', to_json(unit), ':', to_json(value), '},"ph":"C"}'
    ),
    E',\n' ORDER BY number
) AS events
FROM samples
GROUP BY number // $chunk
ORDER BY number // $chunk
