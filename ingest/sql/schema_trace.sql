-- What a trace (trace_view.json, msprof_*.json) or the API tables of a profiler database say beside the kernels.
-- Times are on the clock of kernels.start_ns, whole ns. NULL = not exported.

CREATE TABLE torch_ops (
    run_id INTEGER,
    rank_id INTEGER,
    op_id BIGINT,
    name VARCHAR,
    thread_id BIGINT,
    start_ns BIGINT,
    end_ns BIGINT,
    duration_us DOUBLE,
    input_dims VARCHAR,
    input_types VARCHAR,
    call_stack VARCHAR,
    sequence_number BIGINT,
    forward_thread_id BIGINT
);
COMMENT ON TABLE torch_ops IS 'Operators as the host ran them: dispatcher operators, API calls inside them and records of the user, nested by time on a thread.';
COMMENT ON COLUMN torch_ops.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN torch_ops.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN torch_ops.op_id IS 'Number of the operator in its rank, rising in the order of the file. Source: place in the trace; row of PYTORCH_API.';
COMMENT ON COLUMN torch_ops.name IS 'Name: aten::linear, aclnnAddmm, ProfilerStep#5. Source: name of a cpu_op event; PYTORCH_API.name.';
COMMENT ON COLUMN torch_ops.thread_id IS 'Thread of the host that ran it. Source: tid; globalTid.';
COMMENT ON COLUMN torch_ops.start_ns IS 'Start, ns. Source: ts; startNs.';
COMMENT ON COLUMN torch_ops.end_ns IS 'End, ns. Source: ts + dur; endNs.';
COMMENT ON COLUMN torch_ops.duration_us IS 'Time on the host, operators inside it included, us, >= 0. Source: dur.';
COMMENT ON COLUMN torch_ops.input_dims IS 'Dimensions per argument, joined by ; (no line ends); NULL = not recorded (record_shapes off, or an operator without). Source: Input Dims; inputShapes.';
COMMENT ON COLUMN torch_ops.input_types IS 'Types in the order of input_dims; NULL = not recorded. Source: Input type; inputDtypes.';
COMMENT ON COLUMN torch_ops.call_stack IS 'Python frames, innermost first, one per line; NULL = not recorded (with_stack off) or not called from Python. Source: Call stack; PYTORCH_CALLCHAINS.';
COMMENT ON COLUMN torch_ops.sequence_number IS 'Autograd sequence number, by which a backward operator finds its forward one; NULL = none. Source: Sequence number.';
COMMENT ON COLUMN torch_ops.forward_thread_id IS 'Thread number of the forward operator; NULL = none. Source: Fwd thread id.';

CREATE TABLE api_calls (
    run_id INTEGER,
    rank_id INTEGER,
    level VARCHAR,
    name VARCHAR,
    thread_id BIGINT,
    start_ns BIGINT,
    end_ns BIGINT,
    duration_us DOUBLE,
    connection_id BIGINT
);
COMMENT ON TABLE api_calls IS 'Calls of the host into CANN: AscendCL, node launches, runtime, collectives.';
COMMENT ON COLUMN api_calls.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN api_calls.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN api_calls.level IS 'acl, node, model, runtime, hccl. Source: level; CANN_API.type.';
COMMENT ON COLUMN api_calls.name IS 'Name: AscendCL@aclnnAddmm, Node@launch. Source: name.';
COMMENT ON COLUMN api_calls.thread_id IS 'Thread of the host. Source: tid; globalTid.';
COMMENT ON COLUMN api_calls.start_ns IS 'Start, ns. Source: ts; startNs.';
COMMENT ON COLUMN api_calls.end_ns IS 'End, ns. Source: ts + dur; endNs.';
COMMENT ON COLUMN api_calls.duration_us IS 'Time on the host, us, >= 0. Source: dur.';
COMMENT ON COLUMN api_calls.connection_id IS 'Number that the tasks of the call carry; NULL = it launched none. Source: connection_id, connectionId.';

CREATE TABLE trace_ranges (
    run_id INTEGER,
    rank_id INTEGER,
    kind VARCHAR,
    name VARCHAR,
    thread_id BIGINT,
    start_ns BIGINT,
    end_ns BIGINT,
    duration_us DOUBLE
);
COMMENT ON TABLE trace_ranges IS 'Ranges of host threads that are no operators: steps, modules, python functions, the task queue, mstx.';
COMMENT ON COLUMN trace_ranges.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN trace_ranges.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN trace_ranges.kind IS 'step, module, python, queue or mstx.';
COMMENT ON COLUMN trace_ranges.name IS 'Name: ProfilerStep#5, nn.Module: Linear_0, main.py(375): train (the line where the function begins). Source: name.';
COMMENT ON COLUMN trace_ranges.thread_id IS 'Thread of the host. Source: tid; globalTid.';
COMMENT ON COLUMN trace_ranges.start_ns IS 'Start, ns. Source: ts; startNs.';
COMMENT ON COLUMN trace_ranges.end_ns IS 'End, ns. Source: ts + dur; endNs.';
COMMENT ON COLUMN trace_ranges.duration_us IS 'Length, us, >= 0. Source: dur.';

CREATE TABLE trace_tasks (
    run_id INTEGER,
    rank_id INTEGER,
    task_number BIGINT,
    kind VARCHAR,
    name VARCHAR,
    task_type VARCHAR,
    stream_id BIGINT,
    task_id BIGINT,
    context_id BIGINT,
    model_id BIGINT,
    connection_id BIGINT,
    start_ns BIGINT,
    end_ns BIGINT,
    duration_us DOUBLE,
    bytes BIGINT,
    direction VARCHAR,
    kernel_id BIGINT
);
COMMENT ON TABLE trace_tasks IS 'Every task of the device, kernel or not: prefetches, copies, events, parts of collectives. Kernels are counted in the table kernels, never here.';
COMMENT ON COLUMN trace_tasks.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN trace_tasks.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN trace_tasks.task_number IS 'Number of the task in its rank, rising in the order of the file.';
COMMENT ON COLUMN trace_tasks.kind IS 'kernel, kernel_part (of a kernel engine, without a row of its own), prefetch, memcpy, event_record, event_wait, notify_record, notify_wait, sdma, write_value, collective or other, by name and type.';
COMMENT ON COLUMN trace_tasks.name IS 'Name: of the kernel, or of the kind of task. Source: name; STRING_IDS.';
COMMENT ON COLUMN trace_tasks.task_type IS 'Type as exported. Source: Task Type; TASK.taskType.';
COMMENT ON COLUMN trace_tasks.stream_id IS 'Stream; NULL = collectives, which are of no one stream. Source: Physic Stream Id, Stream Id; streamId.';
COMMENT ON COLUMN trace_tasks.task_id IS 'Task number on its stream; it returns to 0 after 65535. Source: Task Id; taskId.';
COMMENT ON COLUMN trace_tasks.context_id IS 'Part of a task of several parts; NULL = a task of one. Source: Subtask Id; contextId.';
COMMENT ON COLUMN trace_tasks.model_id IS 'Graph that the task is of; 4294967295 = none (eager). Source: Model Id; modelId.';
COMMENT ON COLUMN trace_tasks.connection_id IS 'Number of the launch; api_calls.connection_id. Source: connection_id; connectionId.';
COMMENT ON COLUMN trace_tasks.start_ns IS 'Start, ns. Source: ts; startNs.';
COMMENT ON COLUMN trace_tasks.end_ns IS 'End, ns. Source: ts + dur; endNs.';
COMMENT ON COLUMN trace_tasks.duration_us IS 'Duration, us, >= 0. Source: dur.';
COMMENT ON COLUMN trace_tasks.bytes IS 'Bytes moved, >= 0; NULL = not exported (never for prefetches so far). Source: data size(Byte), size(Byte).';
COMMENT ON COLUMN trace_tasks.direction IS 'Direction of a copy; NULL = not exported. Source: memcpy direction.';
COMMENT ON COLUMN trace_tasks.kernel_id IS 'The kernel that the task is; kernels.kernel_id; NULL = none.';

CREATE TABLE trace_flows (
    run_id INTEGER,
    rank_id INTEGER,
    category VARCHAR,
    flow_id VARCHAR,
    from_thread_id BIGINT,
    from_ns BIGINT,
    to_thread_id BIGINT,
    to_ns BIGINT
);
COMMENT ON TABLE trace_flows IS 'Arrows of the trace, head and tail together.';
COMMENT ON COLUMN trace_flows.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN trace_flows.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN trace_flows.category IS 'async_npu (operator to task), HostToDevice (API call to task), async_task_queue (enqueue to dequeue), fwdbwd (forward to backward operator), or what the file says. Source: cat.';
COMMENT ON COLUMN trace_flows.flow_id IS 'Number of the arrow in its category. Source: id; connectionId.';
COMMENT ON COLUMN trace_flows.from_thread_id IS 'Thread that the arrow starts on. Source: tid of the s event.';
COMMENT ON COLUMN trace_flows.from_ns IS 'When it starts, ns; the start of the event it starts at. Source: ts of the s event.';
COMMENT ON COLUMN trace_flows.to_thread_id IS 'Thread that it ends on; the stream, where it ends on the device. Source: tid of the f event.';
COMMENT ON COLUMN trace_flows.to_ns IS 'When it ends, ns; the start of the event it ends at. Source: ts of the f event.';

CREATE TABLE kernel_origins (
    run_id INTEGER,
    rank_id INTEGER,
    kernel_id BIGINT,
    op_id BIGINT,
    torch_op VARCHAR,
    launch_op VARCHAR,
    module VARCHAR,
    mstx_range VARCHAR,
    source VARCHAR,
    source_from VARCHAR
);
COMMENT ON TABLE kernel_origins IS 'Which operator, module and source line launched a kernel; one row per kernel that an arrow leads to.';
COMMENT ON COLUMN kernel_origins.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN kernel_origins.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN kernel_origins.kernel_id IS 'The kernel; kernels.kernel_id.';
COMMENT ON COLUMN kernel_origins.op_id IS 'The operator that torch_op names (with its shapes); torch_ops.op_id.';
COMMENT ON COLUMN kernel_origins.torch_op IS 'Outermost operator of the dispatcher around the launch: aten::linear; launch_op where there is none.';
COMMENT ON COLUMN kernel_origins.launch_op IS 'Operator that the arrow starts at: aclnnAddmm.';
COMMENT ON COLUMN kernel_origins.module IS 'Innermost module around the launch: nn.Module: Linear_0; NULL = not recorded (with_modules off), or outside all.';
COMMENT ON COLUMN kernel_origins.mstx_range IS 'Innermost mstx range of the thread around the launch; NULL = none.';
COMMENT ON COLUMN kernel_origins.source IS 'Source line that led to the launch: model.py(123): forward, the innermost frame that is not of the framework; NULL = not recorded.';
COMMENT ON COLUMN kernel_origins.source_from IS 'call stack (of the operator: the line of the call), python function (the line where the function begins), or forward operator (the call stack of the operator that this backward one belongs to); NULL = no source.';
