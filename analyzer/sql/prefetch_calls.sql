-- Question: which prefetches started before each call of a target, and were they done when it started?
-- Grain: call of the target. Inputs: prefetch_tasks, selected_kernels; parameters part, position and signature of the
-- target, window_part and window_position (of the window's first kernel; NULL = no window is known). Times ns.
--
-- A prefetch is counted for the first call that starts after it, of the same step. No export says what a task fetched:
-- those that start inside the window are taken for the target's own, and where none does, all since the call before.

WITH calls AS (
    SELECT kernel_id, step_id, stream_id, start_ns, end_ns,
        lag(end_ns) OVER (PARTITION BY step_id ORDER BY start_ns, kernel_id) AS before_ns
    FROM selected_kernels
    WHERE signature_id = $signature AND part IS NOT DISTINCT FROM $part::VARCHAR
        AND ($position::INTEGER IS NULL
            OR coalesce(position, CASE WHEN part IS NULL THEN sequence_index END) = $position::INTEGER)
),
firsts AS (
    SELECT step_id, start_ns AS window_ns FROM selected_kernels
    WHERE part IS NOT DISTINCT FROM $window_part::VARCHAR AND position = $window_position::INTEGER
),
-- The window begins where the kernel before its first one ended on the stream of the target: that is the dependency.
windows AS (
    SELECT c.*, d.end_ns AS window_ns
    FROM (
        SELECT c.*, f.window_ns AS first_ns
        FROM calls AS c ASOF LEFT JOIN firsts AS f ON f.step_id = c.step_id AND c.start_ns > f.window_ns
    ) AS c
    ASOF LEFT JOIN (
        SELECT step_id, stream_id, end_ns FROM selected_kernels WHERE kernel_class = 'aicore' AND stream_id IS NOT NULL
    ) AS d ON d.step_id = c.step_id AND d.stream_id = c.stream_id AND c.first_ns >= d.end_ns
),
bounded AS (
    SELECT * REPLACE (CASE WHEN window_ns >= coalesce(before_ns, 0) THEN window_ns END AS window_ns) FROM windows
),
assigned AS (
    SELECT c.kernel_id, c.start_ns AS call_ns, c.window_ns, t.*,
        coalesce(t.start_ns >= c.window_ns, false) AS in_window
    FROM prefetch_tasks AS t
    ASOF JOIN bounded AS c ON t.step_id = c.step_id AND t.start_ns <= c.start_ns
    WHERE t.start_ns >= coalesce(c.before_ns, t.first_ns)
),
own AS (
    SELECT *, in_window OR NOT bool_or(in_window) OVER (PARTITION BY kernel_id) AS is_own FROM assigned
),
alike AS (
    SELECT kernel_id, max(tasks) AS tasks FROM (
        SELECT kernel_id, weight_dims, bytes, call_stack, count(*) AS tasks FROM own
        WHERE weight_dims IS NOT NULL OR bytes IS NOT NULL GROUP BY ALL
    )
    GROUP BY kernel_id
),
summed AS (
    SELECT kernel_id, count(*) AS between_calls, sum(in_window::INTEGER) AS in_window, sum(is_own::INTEGER) AS own,
        max(end_ns) FILTER (is_own) AS last_ns,
        sum(greatest(0, least(end_ns, call_ns) - greatest(start_ns, window_ns))) FILTER (is_own) AS overlap_ns,
        sum(bytes) AS bytes, count(bytes) AS with_bytes
    FROM own GROUP BY kernel_id
)
SELECT c.kernel_id, c.start_ns, c.window_ns IS NOT NULL AS has_window,
    coalesce(s.between_calls, 0) AS between_calls, coalesce(s.in_window, 0) AS in_window, coalesce(s.own, 0) AS own,
    greatest(0, s.last_ns - c.start_ns) / 1000 AS late_us, s.overlap_ns / 1000 AS overlap_us,
    CASE WHEN s.with_bytes = s.between_calls THEN s.bytes END AS bytes, coalesce(a.tasks, 0) AS alike
FROM bounded AS c LEFT JOIN summed AS s USING (kernel_id) LEFT JOIN alike AS a USING (kernel_id)
ORDER BY c.start_ns, c.kernel_id;
