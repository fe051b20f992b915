-- What the trace of one rank says, from the views of its scratch database into the tables of the run.
-- Grain: as in each table. Variables: trace_rank. Inputs: scratch.t_ops, t_apis, t_ranges, t_flows, trace_task_kernels.

INSERT INTO torch_ops
SELECT 1, getvariable('trace_rank'), op_id, name, thread_id, start_ns, end_ns, (end_ns - start_ns) / 1000.0,
    input_dims, input_types, call_stack, sequence_number, forward_thread_id
FROM scratch.t_ops;

INSERT INTO api_calls
SELECT 1, getvariable('trace_rank'), level, name, thread_id, start_ns, end_ns, (end_ns - start_ns) / 1000.0, connection_id
FROM scratch.t_apis;

INSERT INTO trace_ranges
SELECT 1, getvariable('trace_rank'), kind, name, thread_id, start_ns, end_ns, (end_ns - start_ns) / 1000.0
FROM scratch.t_ranges;

INSERT INTO trace_flows
SELECT 1, getvariable('trace_rank'), category, flow_id, from_thread_id, from_ns, to_thread_id, to_ns
FROM scratch.t_flows;

INSERT INTO trace_tasks
SELECT 1, getvariable('trace_rank'), t.number, t.kind, t.name, t.task_type, t.stream_id, t.task_id, t.context_id,
    t.model_id, t.connection_id, t.start_ns, t.end_ns, (t.end_ns - t.start_ns) / 1000.0, t.bytes, t.direction, k.kernel_id
FROM scratch.t_tasks AS t
LEFT JOIN trace_task_kernels AS k USING (number);
