-- Each window of each candidate as a slice, and an arrow from it to the target kernel. Grain: one row per $chunk windows.
-- The arrow comes after the slices that it binds to, in the file too.
WITH windows AS (
    SELECT
        w.number AS candidate,
        c.name,
        c.args,
        w.start_ns,
        w.end_ns,
        t.tid AS target_tid,
        d.kernel_id,
        row_number() OVER (ORDER BY w.start_ns, w.number) - 1 AS number
    FROM trace_windows AS w
    JOIN trace_candidates AS c ON c.number = w.number
    JOIN trace_kernels AS d ON d.step_id = w.step_id AND d.sequence_index = w.sequence_index
    JOIN trace_tracks AS t ON t.track = d.track AND t.lane = d.lane
)
SELECT string_agg(
    concat(
        '{"name":', name, ',"cat":"window","pid":2,"tid":', candidate,
        ',"ts":"', printf('%d.%03d', start_ns // 1000, start_ns % 1000),
        '","dur":', printf('%d.%03d', (end_ns - start_ns) // 1000, (end_ns - start_ns) % 1000),
        ',"args":{', args, ',"target_kernel_id":', kernel_id, E'},"ph":"X"},\n',
        '{"name":"prefetch","cat":"prefetch","id":', number, ',"pid":2,"tid":', candidate,
        ',"ts":"', printf('%d.%03d', start_ns // 1000, start_ns % 1000), E'","ph":"s"},\n',
        '{"name":"prefetch","cat":"prefetch","id":', number, ',"bp":"e","pid":1,"tid":', target_tid,
        ',"ts":"', printf('%d.%03d', end_ns // 1000, end_ns % 1000), '","ph":"f"}'
    ),
    E',\n' ORDER BY number
) AS events
FROM windows
GROUP BY number // $chunk
ORDER BY number // $chunk
