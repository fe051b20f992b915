-- Question: which prefetches started between the first and the last kernel of a selected step, and what launched them?
-- Grain: prefetch (a CMO task of the trace). Variables: selected_run, selected_rank. Inputs: selected_kernels.
-- Result: prefetch_tasks (temporary). weight_dims: first argument of the operator that launched it, where the trace
-- holds its shapes (eager mode, record_shapes on); a graph launches its tasks without an operator.

CREATE OR REPLACE TEMP TABLE prefetch_tasks AS
WITH spans AS (
    SELECT step_id, min(start_ns) AS first_ns, max(end_ns) AS last_ns FROM selected_kernels GROUP BY step_id
),
tasks AS (
    SELECT s.step_id, s.first_ns, t.task_number, t.start_ns, t.end_ns, t.duration_us, t.stream_id, t.bytes
    FROM trace_tasks AS t
    ASOF JOIN spans AS s ON t.start_ns >= s.first_ns
    WHERE t.run_id = getvariable('selected_run') AND t.rank_id = getvariable('selected_rank') AND t.kind = 'prefetch'
        AND t.start_ns <= s.last_ns
),
launches AS (
    SELECT t.task_number, any_value(nullif(split_part(o.input_dims, ';', 1), '')) AS weight_dims,
        any_value(o.call_stack) AS call_stack
    FROM tasks AS t
    JOIN trace_flows AS f
        ON f.category = 'async_npu' AND f.to_ns = t.start_ns AND f.to_thread_id = t.stream_id
        AND f.run_id = getvariable('selected_run') AND f.rank_id = getvariable('selected_rank')
    JOIN torch_ops AS o
        ON o.start_ns = f.from_ns AND o.thread_id = f.from_thread_id
        AND o.run_id = getvariable('selected_run') AND o.rank_id = getvariable('selected_rank')
    WHERE regexp_matches(o.name, '(?i)prefetch')
    GROUP BY t.task_number
)
SELECT tasks.*, launches.weight_dims, launches.call_stack
FROM tasks LEFT JOIN launches USING (task_number)
ORDER BY start_ns, end_ns, stream_id;
