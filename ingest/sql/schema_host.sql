-- What stands beside the kernels: operators measured alone by msprof op, and what the other export files say.
-- Grain: as said per table. Rates and sizes are in the units of the column names; NULL = not exported.

CREATE TABLE operator_measurements (
    run_id INTEGER,
    rank_id INTEGER,
    operator_id INTEGER,
    folder VARCHAR,
    name VARCHAR,
    type VARCHAR,
    core VARCHAR,
    duration_us DOUBLE,
    block INTEGER,
    mix_block INTEGER,
    device_id INTEGER,
    clock_mhz DOUBLE,
    rated_mhz DOUBLE,
    blocks INTEGER,
    read_bytes DOUBLE,
    write_bytes DOUBLE,
    read_hits DOUBLE,
    read_misses DOUBLE,
    write_hits DOUBLE,
    write_misses DOUBLE,
    signature_id UBIGINT,
    matched VARCHAR
);
COMMENT ON TABLE operator_measurements IS 'One launch that msprof op measured alone (an OPPROF_* folder), with the kernel of the run that it is, where one fits.';
COMMENT ON COLUMN operator_measurements.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN operator_measurements.rank_id IS 'The rank whose kernel it is, when operators are all that was ingested; NULL = evidence beside a run.';
COMMENT ON COLUMN operator_measurements.operator_id IS 'Number of the measurement in its run, from 0, in the order of the folders.';
COMMENT ON COLUMN operator_measurements.folder IS 'Folder of its files.';
COMMENT ON COLUMN operator_measurements.name IS 'Name of the kernel; NULL = no OpBasicInfo.csv. Source: Op Name.';
COMMENT ON COLUMN operator_measurements.type IS 'Operator type in the name; NULL = no name.';
COMMENT ON COLUMN operator_measurements.core IS 'AI_CORE, AI_VECTOR_CORE, MIX_AIC or MIX_AIV; NULL = not said. Source: Op Type (cube, vector, mix) and the ending of the name.';
COMMENT ON COLUMN operator_measurements.duration_us IS 'Duration of the launch, us, >= 0. Source: Task Duration(us).';
COMMENT ON COLUMN operator_measurements.block IS 'Logical blocks. Source: Block Dim.';
COMMENT ON COLUMN operator_measurements.mix_block IS 'Blocks of the other engine of a mixed kernel; NULL = NA. Source: Mix Block Dim.';
COMMENT ON COLUMN operator_measurements.device_id IS 'Device it ran on. Source: Device Id.';
COMMENT ON COLUMN operator_measurements.clock_mhz IS 'Clock while it ran, MHz. Source: Current Freq.';
COMMENT ON COLUMN operator_measurements.rated_mhz IS 'Rated clock of the chip, MHz. Source: Rated Freq.';
COMMENT ON COLUMN operator_measurements.blocks IS 'Blocks and cores with a row of their own in the per-block files.';
COMMENT ON COLUMN operator_measurements.read_bytes IS 'Bytes read from global memory, L2 hits included, sum over blocks, bytes. Source: read_main_memory_datas(KB) x 1024.';
COMMENT ON COLUMN operator_measurements.write_bytes IS 'Bytes written to global memory, L2 hits included, sum over blocks, bytes. Source: write_main_memory_datas(KB) x 1024.';
COMMENT ON COLUMN operator_measurements.read_hits IS 'L2 read requests (128 B) that hit, sum over blocks. Source: aic/aiv_r0/r1_read_cache_hit.';
COMMENT ON COLUMN operator_measurements.read_misses IS 'L2 read requests (128 B) that missed, sum over blocks. Source: aic/aiv_r0/r1_read_cache_miss_allocate.';
COMMENT ON COLUMN operator_measurements.write_hits IS 'L2 write requests (up to 512 B) that hit, sum over blocks. Source: aic/aiv_write_cache_hit.';
COMMENT ON COLUMN operator_measurements.write_misses IS 'L2 write requests (up to 512 B) that missed, sum over blocks. Source: aic/aiv_write_cache_miss_allocate.';
COMMENT ON COLUMN operator_measurements.signature_id IS 'The kind of kernel of the run that was measured; signatures.signature_id; NULL = none, or more than one, fits.';
COMMENT ON COLUMN operator_measurements.matched IS 'By what it was matched, or why it was not.';

CREATE TABLE operator_metrics (
    run_id INTEGER,
    operator_id INTEGER,
    block INTEGER,
    core VARCHAR,
    metric VARCHAR,
    value DOUBLE
);
COMMENT ON TABLE operator_metrics IS 'Every cell of the per-block files of msprof op, as exported: one row per operator, block, core and metric.';
COMMENT ON COLUMN operator_metrics.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN operator_metrics.operator_id IS 'The measurement; operator_measurements.operator_id.';
COMMENT ON COLUMN operator_metrics.block IS 'Block number, from 0. Source: block_id.';
COMMENT ON COLUMN operator_metrics.core IS 'Core of the block: cube0, vector0, vector1. Source: sub_block_id.';
COMMENT ON COLUMN operator_metrics.metric IS 'Column of the file, with its unit, as exported: aic_time(us), read_main_memory_datas(KB), ...';
COMMENT ON COLUMN operator_metrics.value IS 'The cell, in the unit that the metric names; cells that are NA have no row.';

CREATE TABLE l2_cache (
    run_id INTEGER,
    rank_id INTEGER,
    stream_id INTEGER,
    task_id BIGINT,
    name VARCHAR,
    hit_rate DOUBLE,
    victim_rate DOUBLE,
    signature_id UBIGINT
);
COMMENT ON TABLE l2_cache IS 'l2_cache.csv: how often the requests of a task hit L2.';
COMMENT ON COLUMN l2_cache.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN l2_cache.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN l2_cache.stream_id IS 'Stream of the task. Source: Stream Id.';
COMMENT ON COLUMN l2_cache.task_id IS 'Task number on its stream; a captured graph repeats it. Source: Task Id.';
COMMENT ON COLUMN l2_cache.name IS 'Name of the kernel; NULL = N/A. Source: Op Name.';
COMMENT ON COLUMN l2_cache.hit_rate IS 'Requests that hit L2 over all requests, 0..1; NULL = N/A, or no share. Source: Hit Rate.';
COMMENT ON COLUMN l2_cache.victim_rate IS 'Lines that were replaced over all requests, ratio >= 0; NULL = N/A. Source: Victim Rate.';
COMMENT ON COLUMN l2_cache.signature_id IS 'The kind of kernel, by stream, task and name; signatures.signature_id; NULL = no kernel of the rank has all three.';

CREATE TABLE api_statistics (
    run_id INTEGER,
    rank_id INTEGER,
    level VARCHAR,
    name VARCHAR,
    calls BIGINT,
    total_us DOUBLE,
    avg_us DOUBLE,
    min_us DOUBLE,
    max_us DOUBLE,
    variance_us2 DOUBLE
);
COMMENT ON TABLE api_statistics IS 'api_statistic.csv: host calls of CANN summed up per name, as exported.';
COMMENT ON COLUMN api_statistics.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN api_statistics.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN api_statistics.level IS 'Layer of the software: acl, model, node, runtime, hccl. Source: Level.';
COMMENT ON COLUMN api_statistics.name IS 'Name of the call. Source: API Name.';
COMMENT ON COLUMN api_statistics.calls IS 'Calls, >= 0. Source: Count.';
COMMENT ON COLUMN api_statistics.total_us IS 'Sum of their durations on the host, us. Source: Time(us).';
COMMENT ON COLUMN api_statistics.avg_us IS 'Mean, us. Source: Avg(us).';
COMMENT ON COLUMN api_statistics.min_us IS 'Shortest, us. Source: Min(us).';
COMMENT ON COLUMN api_statistics.max_us IS 'Longest, us. Source: Max(us).';
COMMENT ON COLUMN api_statistics.variance_us2 IS 'Variance of the durations, us squared. Source: Variance.';

CREATE TABLE task_times (
    run_id INTEGER,
    rank_id INTEGER,
    device_id INTEGER,
    name VARCHAR,
    type VARCHAR,
    stream_id INTEGER,
    task_id BIGINT,
    duration_us DOUBLE,
    start_ns BIGINT,
    end_ns BIGINT
);
COMMENT ON TABLE task_times IS 'task_time.csv: every device task, also those that are no kernels (events, copies, the profiler itself).';
COMMENT ON COLUMN task_times.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN task_times.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN task_times.device_id IS 'Device of the task. Source: Device_id.';
COMMENT ON COLUMN task_times.name IS 'Name of the kernel; NULL = the task is none. Source: kernel_name.';
COMMENT ON COLUMN task_times.type IS 'Kind of task as exported: AI_CORE, MIX_AIC, EVENT_RECORD, MEMCPY_ASYNC, ... Source: kernel_type.';
COMMENT ON COLUMN task_times.stream_id IS 'Stream. Source: stream_id.';
COMMENT ON COLUMN task_times.task_id IS 'Task number on its stream. Source: task_id.';
COMMENT ON COLUMN task_times.duration_us IS 'Duration of the task, us; scheduling included, so some us longer than the kernel. Source: task_time(us).';
COMMENT ON COLUMN task_times.start_ns IS 'Start, ns, on the clock of kernels.start_ns. Source: task_start(us).';
COMMENT ON COLUMN task_times.end_ns IS 'End, ns, on the same clock. Source: task_stop(us).';

CREATE TABLE operator_details (
    run_id INTEGER,
    rank_id INTEGER,
    name VARCHAR,
    input_shapes VARCHAR,
    call_stack VARCHAR,
    calls BIGINT,
    host_self_us DOUBLE,
    host_total_us DOUBLE,
    device_self_us DOUBLE,
    device_total_us DOUBLE,
    device_self_aicore_us DOUBLE,
    device_total_aicore_us DOUBLE
);
COMMENT ON TABLE operator_details IS 'operator_details.csv: host and device time of torch operators; calls of the same name, shapes and stack are one row.';
COMMENT ON COLUMN operator_details.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN operator_details.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN operator_details.name IS 'Operator or range. Source: Name.';
COMMENT ON COLUMN operator_details.input_shapes IS 'Dimensions per input, joined by ; (an empty slot keeps its place); NULL = none. Source: Input Shapes without its line ends.';
COMMENT ON COLUMN operator_details.call_stack IS 'Python frames, innermost first, one a line; NULL = recorded without with_stack. Source: Call Stack.';
COMMENT ON COLUMN operator_details.calls IS 'Rows of the file that are of this operator, >= 1.';
COMMENT ON COLUMN operator_details.host_self_us IS 'Sum of host time without children, us. Source: Host Self Duration(us).';
COMMENT ON COLUMN operator_details.host_total_us IS 'Sum of host time with children, us. Source: Host Total Duration(us).';
COMMENT ON COLUMN operator_details.device_self_us IS 'Sum of device time of its own kernels, us. Source: Device Self Duration(us).';
COMMENT ON COLUMN operator_details.device_total_us IS 'Sum of device time with children, us. Source: Device Total Duration(us).';
COMMENT ON COLUMN operator_details.device_self_aicore_us IS 'Of device_self_us, the part on AI cores, us. Source: Device Self Duration With AICore(us).';
COMMENT ON COLUMN operator_details.device_total_aicore_us IS 'Of device_total_us, the part on AI cores, us. Source: Device Total Duration With AICore(us).';

CREATE TABLE memory_events (
    run_id INTEGER,
    rank_id INTEGER,
    source VARCHAR,
    name VARCHAR,
    start_ns BIGINT,
    end_ns BIGINT,
    active_end_ns BIGINT,
    size_bytes DOUBLE,
    allocated_bytes DOUBLE,
    reserved_bytes DOUBLE,
    active_bytes DOUBLE,
    end_allocated_bytes DOUBLE,
    end_reserved_bytes DOUBLE,
    end_active_bytes DOUBLE,
    stream_ptr VARCHAR,
    device VARCHAR,
    model VARCHAR,
    graph_id BIGINT,
    node_first BIGINT,
    node_last BIGINT
);
COMMENT ON TABLE memory_events IS 'Device memory over time: samples per component, allocations of operators, and what graphs reserve.';
COMMENT ON COLUMN memory_events.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN memory_events.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN memory_events.source IS 'memory_record (samples of the allocator), npu_module_mem (samples per CANN module), operator_memory (one allocation a row) or static_op_mem (what a graph reserves per operator).';
COMMENT ON COLUMN memory_events.name IS 'Component (APP, PTA, GE, SLOG, ...) or operator. Source: Component, Name, Op Name.';
COMMENT ON COLUMN memory_events.start_ns IS 'When it was sampled or allocated, ns; NULL = not exported, or without its digits. Source: Timestamp(us), Allocation Time(us).';
COMMENT ON COLUMN memory_events.end_ns IS 'When it was released, ns; NULL = not within the capture. Source: Release Time(us).';
COMMENT ON COLUMN memory_events.active_end_ns IS 'When the last stream was done with it, ns; NULL = not within the capture. Source: Active Release Time(us).';
COMMENT ON COLUMN memory_events.size_bytes IS 'Bytes of this allocation; negative = a release. Source: Size(KB) x 1024.';
COMMENT ON COLUMN memory_events.allocated_bytes IS 'Allocated in all at that time, bytes. Source: Total Allocated(MB), Allocation Total Allocated(MB), x 1048576.';
COMMENT ON COLUMN memory_events.reserved_bytes IS 'Reserved in all at that time, bytes. Source: Total Reserved(MB), Allocation Total Reserved(MB), x 1048576.';
COMMENT ON COLUMN memory_events.active_bytes IS 'In use by streams at that time, bytes. Source: Total Active(MB), Allocation Total Active(MB), x 1048576.';
COMMENT ON COLUMN memory_events.end_allocated_bytes IS 'Allocated in all after the release, bytes. Source: Release Total Allocated(MB) x 1048576.';
COMMENT ON COLUMN memory_events.end_reserved_bytes IS 'Reserved in all after the release, bytes. Source: Release Total Reserved(MB) x 1048576.';
COMMENT ON COLUMN memory_events.end_active_bytes IS 'In use by streams after the release, bytes. Source: Release Total Active(MB) x 1048576.';
COMMENT ON COLUMN memory_events.stream_ptr IS 'Stream that allocated it, by its address or number. Source: Stream Ptr.';
COMMENT ON COLUMN memory_events.device IS 'Device as exported: NPU:0. Source: Device Type, Device, Device_id.';
COMMENT ON COLUMN memory_events.model IS 'Model of a static allocation. Source: Model Name.';
COMMENT ON COLUMN memory_events.graph_id IS 'Graph of a static allocation. Source: Graph ID.';
COMMENT ON COLUMN memory_events.node_first IS 'First node that needs it. Source: Node Index Start.';
COMMENT ON COLUMN memory_events.node_last IS 'Last node that needs it. Source: Node Index End.';

CREATE TABLE communication (
    run_id INTEGER,
    rank_id INTEGER,
    level VARCHAR,
    step_id INTEGER,
    kind VARCHAR,
    name VARCHAR,
    group_name VARCHAR,
    part VARCHAR,
    link VARCHAR,
    src_rank INTEGER,
    dst_rank INTEGER,
    start_ns BIGINT,
    elapse_us DOUBLE,
    transit_us DOUBLE,
    wait_us DOUBLE,
    synchronization_us DOUBLE,
    idle_us DOUBLE,
    size_bytes DOUBLE,
    gb_s DOUBLE,
    large_packet_ratio DOUBLE,
    source VARCHAR
);
COMMENT ON TABLE communication IS 'What the profiler says about collectives: their time, what each link moved, and what each pair of ranks exchanged.';
COMMENT ON COLUMN communication.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN communication.rank_id IS 'The rank whose file it is; ranks.rank_id.';
COMMENT ON COLUMN communication.level IS 'operator (times of one collective), link (what one kind of link moved for it; links that moved nothing have no row) or pair (what one rank sent to another).';
COMMENT ON COLUMN communication.step_id IS 'Step; NULL = recorded outside steps. Source: the step keys of the file.';
COMMENT ON COLUMN communication.kind IS 'collective or p2p.';
COMMENT ON COLUMN communication.name IS 'Collective as exported (hcom_allReduce__586_0_1); of pairs the kind (allreduce) where the exporter sums them up.';
COMMENT ON COLUMN communication.group_name IS 'Communication group as exported; NULL = not exported.';
COMMENT ON COLUMN communication.part IS 'Of pairs: total, or which single collective is shown (top1, middle, bottom1 ...); NULL = of the collective itself.';
COMMENT ON COLUMN communication.link IS 'Kind of link: HCCS, RDMA, PCIE, SIO, SDMA (the engine that drives HCCS, PCIE and SIO: the same bytes again), LOCAL; NULL on operators. Source: the keys of the file, Transport Type.';
COMMENT ON COLUMN communication.src_rank IS 'Rank that sent, as exported; NULL = no pair.';
COMMENT ON COLUMN communication.dst_rank IS 'Rank that received, as exported; NULL = no pair.';
COMMENT ON COLUMN communication.start_ns IS 'Start of the collective, ns on the clock of kernels.start_ns; exported as a float, so exact to about 250 ns. Source: Start Timestamp(us).';
COMMENT ON COLUMN communication.elapse_us IS 'From start to end, us. Source: Elapse Time(ms) x 1000.';
COMMENT ON COLUMN communication.transit_us IS 'Time in which data moved, us; of links and pairs the sum over transfers that may run side by side. Source: Transit Time(ms) x 1000.';
COMMENT ON COLUMN communication.wait_us IS 'Time of waiting for another rank, us, synchronization included. Source: Wait Time(ms) x 1000.';
COMMENT ON COLUMN communication.synchronization_us IS 'Waiting before the first transfer, us: other ranks came later. Source: Synchronization Time(ms) x 1000.';
COMMENT ON COLUMN communication.idle_us IS 'Neither moving nor waiting, us. Source: Idle Time(ms) x 1000.';
COMMENT ON COLUMN communication.size_bytes IS 'Bytes moved. Source: Transit Size(MB) x 1e6.';
COMMENT ON COLUMN communication.gb_s IS 'Bandwidth of one transfer, GB/s of 1e9. Source: Bandwidth(GB/s).';
COMMENT ON COLUMN communication.large_packet_ratio IS 'Share of transfers with large packets, 0..1. Source: Large Packet Ratio.';
COMMENT ON COLUMN communication.source IS 'communication, communication_matrix or analysis_database.';

CREATE TABLE device_info (
    run_id INTEGER,
    rank_id INTEGER,
    device_id INTEGER,
    cube_cores INTEGER,
    vector_cores INTEGER,
    cube_mhz DOUBLE,
    vector_mhz DOUBLE,
    platform_version VARCHAR,
    source VARCHAR
);
COMMENT ON TABLE device_info IS 'What the driver says about the chip: info.json.N of raw PROF_* folders, HardwareInfo.jsonl of msprof op.';
COMMENT ON COLUMN device_info.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN device_info.rank_id IS 'The rank in whose folder it was found; ranks.rank_id.';
COMMENT ON COLUMN device_info.device_id IS 'Device. Source: DeviceInfo.id.';
COMMENT ON COLUMN device_info.cube_cores IS 'Cube cores; NULL = not said. Source: DeviceInfo.ai_core_num.';
COMMENT ON COLUMN device_info.vector_cores IS 'Vector cores; NULL = not said, 0 = the chip has none apart. Source: DeviceInfo.aiv_num.';
COMMENT ON COLUMN device_info.cube_mhz IS 'Rated clock of the cube cores, MHz. Source: DeviceInfo.aic_frequency.';
COMMENT ON COLUMN device_info.vector_mhz IS 'Rated clock of the vector cores, MHz. Source: DeviceInfo.aiv_frequency.';
COMMENT ON COLUMN device_info.platform_version IS 'Number or name of the chip generation as exported; 5 = 910B and 910_93. Source: platform_version, chip info.';
COMMENT ON COLUMN device_info.source IS 'info.json or HardwareInfo.jsonl.';
