-- Kernels as JSON text, those from $first up to $last. Grain: one row, all events of it behind one another.
-- "ph" stands last in every event: MindStudio Insight finds the end of an event by counting braces behind it, also
-- those inside of strings. Times are us with the ns as decimals, in a string: as a number they would lose the ns.
SELECT string_agg(
    concat(
        '{"name":', coalesce(n.json, to_json(coalesce(k.name, 'no name'))),
        ',"cat":"', coalesce(p.category, s.category),
        '","pid":1,"tid":', t.tid,
        ',"ts":"', printf('%d.%03d', k.start_ns // 1000, k.start_ns % 1000),
        '","dur":', printf('%d.%03d', (k.end_ns - k.start_ns) // 1000, (k.end_ns - k.start_ns) % 1000),
        ',"args":{', coalesce(p.args, s.args),
        CASE WHEN coalesce(p.floor_us, s.floor_us) IS NOT NULL THEN printf(
            ',"headroom_us":%.3f', greatest(0.0, (k.end_ns - k.start_ns) / 1000.0 - coalesce(p.floor_us, s.floor_us))
        ) END,
        ',"step":', k.step_id,
        CASE WHEN k.layer IS NOT NULL THEN concat(',"layer":', k.layer, ',"position":', k.position) END,
        ',"kernel_id":', k.kernel_id,
        '},"ph":"X"}'
    ),
    E',\n' ORDER BY k.kernel_id
) AS events
FROM selected_kernels AS k
JOIN trace_kernels AS d USING (kernel_id)
JOIN trace_tracks AS t ON t.track = d.track AND t.lane = d.lane
LEFT JOIN trace_names AS n ON n.name = k.name
LEFT JOIN trace_labels AS p
    ON p.signature_id = k.signature_id AND p.part = k.part AND p.position IS NOT DISTINCT FROM k.position
LEFT JOIN trace_labels AS s ON s.signature_id = k.signature_id AND s.part IS NULL
WHERE k.kernel_id >= $first AND k.kernel_id < $last AND d.kernel_id >= $first AND d.kernel_id < $last
