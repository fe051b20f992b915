-- Question: what ran on each stream while one step ran, when did the host launch it, and which event ended which wait?
-- Grain: task of a stream (parts of one task together). Variables: selected_run, selected_rank, path_first_ns and
-- path_last_ns (of the step), path_blocked_ns and path_event_ns. Result: path_tasks (temporary), in stream order.
--
-- No export names the event of a record or a wait. A wait that held its stream up ends right after the record that it
-- waited for (0.38 to 0.52 us in every one of 25 such waits of five captures), so that record is known where the records
-- that ended just before are of one other stream; where they are of several, or there is none, no edge is made.

CREATE OR REPLACE TEMP TABLE path_tasks AS
WITH inside AS (
    SELECT t.stream_id, t.task_id, t.kind, t.start_ns, t.end_ns, t.task_number, t.connection_id, t.kernel_id, k.kernel_class
    FROM trace_tasks AS t
    LEFT JOIN (
        SELECT kernel_id, kernel_class FROM kernels
        WHERE run_id = getvariable('selected_run') AND rank_id = getvariable('selected_rank')
            AND start_ns BETWEEN getvariable('path_first_ns') - 1000 AND getvariable('path_last_ns') + 1000
    ) AS k USING (kernel_id)
    WHERE t.run_id = getvariable('selected_run') AND t.rank_id = getvariable('selected_rank')
        AND t.stream_id IS NOT NULL
        AND t.end_ns >= getvariable('path_first_ns') AND t.start_ns <= getvariable('path_last_ns')
),
-- The parts of one task (of a collective, of a fused kernel) follow each other with the same number and overlap.
numbered AS (
    SELECT *, sum(begins) OVER (PARTITION BY stream_id ORDER BY start_ns, end_ns, task_number ROWS UNBOUNDED PRECEDING) AS nth
    FROM (
        SELECT *, CASE WHEN task_id IS NULL OR lag(task_id) OVER (
            PARTITION BY stream_id ORDER BY start_ns, end_ns, task_number
        ) IS DISTINCT FROM task_id THEN 1 ELSE 0 END AS begins
        FROM inside
    )
),
merged AS (
    SELECT stream_id, nth, min(start_ns) AS start_ns, max(end_ns) AS end_ns, max(connection_id) AS connection_id,
        max(kernel_id) AS kernel_id,
        CASE
            WHEN bool_or(kind IN ('notify_wait', 'notify_record', 'write_value', 'sdma', 'collective'))
                OR bool_or(kernel_class = 'communication') THEN 'communication'
            WHEN bool_or(kind IN ('kernel', 'kernel_part')) THEN
                CASE WHEN coalesce(max(kernel_class), 'aicore') = 'aicore' THEN 'kernels' ELSE 'other engines' END
            WHEN bool_or(kind = 'prefetch') THEN 'prefetch'
            WHEN bool_or(kind = 'memcpy') THEN 'copies'
            WHEN bool_or(kind = 'event_wait') THEN 'wait'
            WHEN bool_or(kind = 'event_record') THEN 'record'
            ELSE 'other'
        END AS kind
    FROM numbered GROUP BY stream_id, nth
),
calls AS (
    SELECT connection_id, min(start_ns) AS launched_ns FROM api_calls
    WHERE run_id = getvariable('selected_run') AND rank_id = getvariable('selected_rank')
        AND connection_id IN (SELECT connection_id FROM merged)
    GROUP BY connection_id
),
arrows AS (
    SELECT to_thread_id AS stream_id, to_ns AS start_ns, max(from_ns) AS launched_ns FROM trace_flows
    WHERE run_id = getvariable('selected_run') AND rank_id = getvariable('selected_rank')
        AND category IN ('HostToDevice', 'async_npu')
        AND to_ns BETWEEN getvariable('path_first_ns') AND getvariable('path_last_ns')
    GROUP BY ALL
),
placed AS (
    SELECT m.*, coalesce(a.launched_ns, c.launched_ns) AS launched_ns,
        row_number() OVER (ORDER BY m.stream_id, m.start_ns, m.end_ns, m.nth) - 1 AS place
    FROM merged AS m
    LEFT JOIN calls AS c USING (connection_id)
    LEFT JOIN arrows AS a ON a.stream_id = m.stream_id AND a.start_ns = m.start_ns
),
events AS (
    SELECT w.place, count(DISTINCT r.stream_id) AS streams, arg_max(r.place, (r.end_ns, r.place)) AS record
    FROM placed AS w
    JOIN placed AS r
        ON r.kind = 'record' AND r.stream_id <> w.stream_id AND r.end_ns <= w.end_ns
        AND r.end_ns >= w.end_ns - getvariable('path_event_ns')
    -- A wait is for a record that the host asked for before it.
    WHERE w.kind = 'wait' AND w.end_ns - w.start_ns > getvariable('path_blocked_ns')
        AND coalesce(r.launched_ns <= w.launched_ns, true)
    GROUP BY w.place
)
SELECT p.place, p.stream_id, p.kind, p.start_ns, p.end_ns, p.kernel_id, p.launched_ns,
    CASE WHEN e.streams = 1 THEN e.record END AS record, coalesce(e.streams, 0) AS record_streams
FROM placed AS p LEFT JOIN events AS e USING (place)
ORDER BY p.place;
