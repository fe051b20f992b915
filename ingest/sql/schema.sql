-- The tables of an npu-roofline database, all but kernels and group_statistics (schema_kernels.sql, schema_statistics.sql).
-- One database holds many runs; run_id stands in every table. Every public column says its unit, range and source.
-- NULL always means not known or not measured; 0 is a value. Objects that start with _ are internal.

CREATE TABLE _schema (version INTEGER, written_by VARCHAR);

CREATE TABLE runs (
    run_id INTEGER,
    name VARCHAR,
    content_hash VARCHAR,
    ingested_at TIMESTAMP,
    source_paths VARCHAR[],
    device_argument VARCHAR,
    device_toml VARCHAR,
    rows_read BIGINT,
    rows_kept BIGINT,
    rows_rejected BIGINT,
    notes VARCHAR[]
);
COMMENT ON TABLE runs IS 'One ingested export set.';
COMMENT ON COLUMN runs.run_id IS 'Number of the run in this database, from 1, never used twice while the run exists.';
COMMENT ON COLUMN runs.name IS 'Name of the run, unique in this database; --run, else the folder name.';
COMMENT ON COLUMN runs.content_hash IS 'SHA-256 over what was read, hex; equal for the same files wherever they lie.';
COMMENT ON COLUMN runs.ingested_at IS 'When the run was written, UTC.';
COMMENT ON COLUMN runs.source_paths IS 'The paths given to ingest.';
COMMENT ON COLUMN runs.device_argument IS 'The --device given to ingest; NULL = none.';
COMMENT ON COLUMN runs.device_toml IS 'Text of the device file given to ingest, so that the database stands alone; NULL = none.';
COMMENT ON COLUMN runs.rows_read IS 'Data rows found in the kernel tables, >= 0; always rows_kept + rows_rejected.';
COMMENT ON COLUMN runs.rows_kept IS 'Rows in the table kernels, >= 0.';
COMMENT ON COLUMN runs.rows_rejected IS 'Rows set aside, >= 0; each is in the table rejects.';
COMMENT ON COLUMN runs.notes IS 'What the reader should know about the run, one sentence each.';

CREATE TABLE files (
    run_id INTEGER,
    rank_id INTEGER,
    path VARCHAR,
    kind VARCHAR,
    status VARCHAR,
    sha256 VARCHAR,
    bytes BIGINT,
    rows_read BIGINT,
    rows_kept BIGINT,
    rows_rejected BIGINT,
    note VARCHAR
);
COMMENT ON TABLE files IS 'Every export file found, and what became of it.';
COMMENT ON COLUMN files.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN files.rank_id IS 'The rank the file belongs to; ranks.rank_id.';
COMMENT ON COLUMN files.path IS 'Path of the file when it was read.';
COMMENT ON COLUMN files.kind IS 'What the file is, by its name: kernel_details, op_summary, step_trace_time, profiler_database, ...';
COMMENT ON COLUMN files.status IS 'read, not_read_yet (recognised, not read by this version), ignored (another file said the same) or failed.';
COMMENT ON COLUMN files.sha256 IS 'SHA-256 of the content, hex; NULL = not read.';
COMMENT ON COLUMN files.bytes IS 'Size, bytes, >= 0.';
COMMENT ON COLUMN files.rows_read IS 'Data rows found, >= 0; NULL = not a table that was read.';
COMMENT ON COLUMN files.rows_kept IS 'Data rows kept, >= 0; NULL = not a table that was read.';
COMMENT ON COLUMN files.rows_rejected IS 'Data rows set aside, >= 0; NULL = not a table that was read.';
COMMENT ON COLUMN files.note IS 'Why the file has this status; NULL = nothing to say.';

CREATE TABLE ranks (
    run_id INTEGER,
    rank_id INTEGER,
    label VARCHAR,
    device_id INTEGER,
    path VARCHAR,
    has_kernels BOOLEAN,
    holds VARCHAR[],
    profiler_level VARCHAR,
    aic_metrics VARCHAR,
    metric_mode VARCHAR,
    cann_version VARCHAR,
    torch_npu_version VARCHAR,
    cube_cores_mhz DOUBLE,
    cube_cores_mhz_spread DOUBLE,
    aic_mhz DOUBLE,
    aiv_mhz DOUBLE,
    cube_cores DOUBLE,
    evidence_rows BIGINT,
    cube_cores_min INTEGER,
    cube_cores_max INTEGER,
    vector_cores_min INTEGER,
    vector_cores_max INTEGER,
    clock_min_mhz DOUBLE,
    clock_max_mhz DOUBLE,
    hbm_peak_gb_s DOUBLE,
    unknown_columns VARCHAR[],
    distributed VARCHAR,
    notes VARCHAR[]
);
COMMENT ON TABLE ranks IS 'One process of the captured job, with what its export holds and what its own arithmetic says about the chip.';
COMMENT ON COLUMN ranks.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN ranks.rank_id IS 'Rank number, unique in the run, >= 0. Source: rank_id of profiler_info, else the order of the folders.';
COMMENT ON COLUMN ranks.label IS 'Name of the rank for people. Source: rank_id of profiler_info, else the folder name.';
COMMENT ON COLUMN ranks.device_id IS 'Device the rank ran on (not the rank); NULL = not exported. Source: Device_id.';
COMMENT ON COLUMN ranks.path IS 'Folder (or file) the rank was found in.';
COMMENT ON COLUMN ranks.has_kernels IS 'Whether a kernel table was read for this rank.';
COMMENT ON COLUMN ranks.holds IS 'Kinds of export files found, sorted.';
COMMENT ON COLUMN ranks.profiler_level IS 'Level0, Level1, Level2; NULL = not known. Source: _profiler_level of profiler_info.';
COMMENT ON COLUMN ranks.aic_metrics IS 'What the profiler was asked to measure; NULL = not known. Source: _aic_metrics of profiler_info.';
COMMENT ON COLUMN ranks.metric_mode IS 'What was measured, by the header: pipe_utilization, arithmetic_utilization, memory, memory_l0, memory_ub, l2_cache, memory_access, resource_conflict, msprof_op (operators measured alone, in several modes) or none; NULL = no kernel table.';
COMMENT ON COLUMN ranks.cann_version IS 'CANN version; NULL = not exported. Source: cann_version of profiler_info.';
COMMENT ON COLUMN ranks.torch_npu_version IS 'torch_npu version; NULL = not exported. Source: torch_npu_version of profiler_info.';
COMMENT ON COLUMN ranks.cube_cores_mhz IS 'Cube cores x clock, cores x MHz: median of aic_total_cycles / (cube_utilization / 100 x duration) over rows with more than 1 % utilization; NULL = no such row.';
COMMENT ON COLUMN ranks.cube_cores_mhz_spread IS 'Spread of cube_cores_mhz over those rows, (p99 - p1) / median, ratio >= 0; NULL = no such row.';
COMMENT ON COLUMN ranks.aic_mhz IS 'Cube core clock, MHz: most frequent aic_total_cycles / (aicore_time x block), rounded to 1 MHz; NULL = no such row.';
COMMENT ON COLUMN ranks.aiv_mhz IS 'Vector core clock, MHz: most frequent aiv_total_cycles / (aiv_time x block), rounded to 1 MHz; NULL = no such row.';
COMMENT ON COLUMN ranks.cube_cores IS 'Cube cores: cube_cores_mhz / aic_mhz, rounded to whole cores; NULL = one of them is not known.';
COMMENT ON COLUMN ranks.evidence_rows IS 'Rows behind cube_cores_mhz, >= 0.';
COMMENT ON COLUMN ranks.cube_cores_min IS 'Cube cores, at least: blocks over rounds of AI_CORE kernels, cores; a bound, no count; NULL = nothing tells.';
COMMENT ON COLUMN ranks.cube_cores_max IS 'Cube cores, at most, by kernels that took several rounds, cores; a bound, no count; NULL = nothing tells.';
COMMENT ON COLUMN ranks.vector_cores_min IS 'Vector cores, at least: blocks over rounds of AI_VECTOR_CORE kernels, cores; a bound, no count; NULL = nothing tells.';
COMMENT ON COLUMN ranks.vector_cores_max IS 'Vector cores, at most, by kernels that took several rounds, cores; a bound, no count; NULL = nothing tells.';
COMMENT ON COLUMN ranks.clock_min_mhz IS 'Lowest sampled AI-core clock while kernels started, MHz; NULL = not sampled. Source: AICORE_FREQ.';
COMMENT ON COLUMN ranks.clock_max_mhz IS 'Highest sampled AI-core clock while kernels started, MHz; NULL = not sampled. Source: AICORE_FREQ.';
COMMENT ON COLUMN ranks.hbm_peak_gb_s IS 'Busiest sampled interval of HBM, reads and writes of all units, GB/s of 1e9: the memory does at least that; NULL = not sampled. Source: HBM.';
COMMENT ON COLUMN ranks.unknown_columns IS 'Columns of the kernel table that this version does not know, by name; they were not read.';
COMMENT ON COLUMN ranks.distributed IS 'Parallel sizes and groups as JSON text; NULL = not exported. Source: distributed_args and parallel_group_info of profiler_metadata.';
COMMENT ON COLUMN ranks.notes IS 'What the reader should know about this rank, one sentence each.';

CREATE TABLE signatures (
    run_id INTEGER,
    signature_id UBIGINT,
    type VARCHAR,
    type_source VARCHAR,
    core VARCHAR,
    kernel_class VARCHAR,
    hf32 BOOLEAN,
    input_shapes VARCHAR,
    input_dtypes VARCHAR,
    input_formats VARCHAR,
    output_shapes VARCHAR,
    output_dtypes VARCHAR,
    output_formats VARCHAR
);
COMMENT ON TABLE signatures IS 'Distinct kinds of work: what costing works on.';
COMMENT ON COLUMN signatures.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN signatures.signature_id IS 'Derived from the texts of the row: equal texts have equal ids in any run and any database.';
COMMENT ON COLUMN signatures.type IS 'Operator type as exported, or derived from the kernel name; NULL = neither gives one. Source: Type, OP Type.';
COMMENT ON COLUMN signatures.type_source IS 'column = as exported; name = derived from the kernel name because the export has no type there.';
COMMENT ON COLUMN signatures.core IS 'Engine: AI_CORE, AI_VECTOR_CORE, MIX_AIC, MIX_AIV, COMMUNICATION, AI_CPU, DSA_SQE; NULL = not exported. Source: Accelerator Core, Task Type; HCCL is written COMMUNICATION.';
COMMENT ON COLUMN signatures.kernel_class IS 'aicore, communication, ai_cpu, dsa or other.';
COMMENT ON COLUMN signatures.hf32 IS 'Whether HF32 may replace FP32; NULL = not exported. Source: HF32 Eligible.';
COMMENT ON COLUMN signatures.input_shapes IS 'Dimensions per operand, joined by ; (an empty slot keeps its place); empty text = scalar, NULL = unknown. Source: Input Shapes without its quotes.';
COMMENT ON COLUMN signatures.input_dtypes IS 'Data types in the order of input_shapes; NULL = unknown. Source: Input Data Types.';
COMMENT ON COLUMN signatures.input_formats IS 'Storage formats in the order of input_shapes; NULL = unknown. Source: Input Formats.';
COMMENT ON COLUMN signatures.output_shapes IS 'As input_shapes, for the outputs. Source: Output Shapes without its quotes.';
COMMENT ON COLUMN signatures.output_dtypes IS 'Data types in the order of output_shapes; NULL = unknown. Source: Output Data Types.';
COMMENT ON COLUMN signatures.output_formats IS 'Storage formats in the order of output_shapes; NULL = unknown. Source: Output Formats.';

CREATE TABLE tensors (
    run_id INTEGER,
    signature_id UBIGINT,
    side VARCHAR,
    slot INTEGER,
    dims BIGINT[],
    dtype VARCHAR,
    format VARCHAR,
    element_bytes DOUBLE,
    storage_bytes BIGINT
);
COMMENT ON TABLE tensors IS 'The operands of each signature, slot by slot.';
COMMENT ON COLUMN tensors.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN tensors.signature_id IS 'The signature; signatures.signature_id.';
COMMENT ON COLUMN tensors.side IS 'input or output.';
COMMENT ON COLUMN tensors.slot IS 'Place of the operand, from 0.';
COMMENT ON COLUMN tensors.dims IS 'Stored dimensions; an empty list = scalar, NULL = empty slot.';
COMMENT ON COLUMN tensors.dtype IS 'Data type, short: bf16, fp16, fp32, int8, ...; NULL = empty slot or not exported.';
COMMENT ON COLUMN tensors.format IS 'Storage format without the FORMAT_ prefix; NULL = empty slot or not exported.';
COMMENT ON COLUMN tensors.element_bytes IS 'Bytes of one element, may be a fraction (int4: 0.5); NULL = dtype unknown.';
COMMENT ON COLUMN tensors.storage_bytes IS 'Bytes the operand occupies, padding of the storage format included; NULL = not known.';

CREATE TABLE steps (
    run_id INTEGER,
    rank_id INTEGER,
    step_id INTEGER,
    start_ns BIGINT,
    end_ns BIGINT,
    wall_us DOUBLE,
    kernels BIGINT,
    source VARCHAR,
    trace_computing_us DOUBLE,
    trace_communication_not_overlapped_us DOUBLE,
    trace_overlapped_us DOUBLE,
    trace_communication_us DOUBLE,
    trace_free_us DOUBLE,
    trace_stage_us DOUBLE,
    trace_bubble_us DOUBLE,
    trace_communication_not_overlapped_and_exclude_receive_us DOUBLE,
    trace_preparing_us DOUBLE
);
COMMENT ON TABLE steps IS 'Steps of a rank: the span of their counted kernels, and what the exporter itself says about them.';
COMMENT ON COLUMN steps.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN steps.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN steps.step_id IS 'Step number as exported; 0 = the whole capture, when the export has no steps.';
COMMENT ON COLUMN steps.start_ns IS 'First start of a counted kernel, ns; NULL = no kernels.';
COMMENT ON COLUMN steps.end_ns IS 'Last end of a counted kernel, ns; NULL = no kernels.';
COMMENT ON COLUMN steps.wall_us IS 'Last end minus first start over all counted kernels, us, >= 0; NULL = no kernels.';
COMMENT ON COLUMN steps.kernels IS 'Counted kernels in the step, >= 0.';
COMMENT ON COLUMN steps.source IS 'step column, whole capture (no step in the export), or step_trace_time (no kernels of this step).';
COMMENT ON COLUMN steps.trace_computing_us IS 'us as exported; NULL = no step_trace_time.csv. Source: Computing.';
COMMENT ON COLUMN steps.trace_communication_not_overlapped_us IS 'us as exported; NULL = absent. Source: Communication(Not Overlapped).';
COMMENT ON COLUMN steps.trace_overlapped_us IS 'us as exported; NULL = absent. Source: Overlapped.';
COMMENT ON COLUMN steps.trace_communication_us IS 'us as exported; NULL = absent. Source: Communication.';
COMMENT ON COLUMN steps.trace_free_us IS 'us as exported; NULL = absent. Source: Free.';
COMMENT ON COLUMN steps.trace_stage_us IS 'us as exported; NULL = absent. Source: Stage.';
COMMENT ON COLUMN steps.trace_bubble_us IS 'us as exported; NULL = absent. Source: Bubble.';
COMMENT ON COLUMN steps.trace_communication_not_overlapped_and_exclude_receive_us IS 'us as exported; NULL = absent. Source: Communication(Not Overlapped and Exclude Receive).';
COMMENT ON COLUMN steps.trace_preparing_us IS 'us as exported; NULL = absent. Source: Preparing.';

CREATE TABLE streams (
    run_id INTEGER,
    rank_id INTEGER,
    stream_id INTEGER,
    kernels BIGINT,
    duration_us DOUBLE,
    is_main BOOLEAN
);
COMMENT ON TABLE streams IS 'Device streams of a rank.';
COMMENT ON COLUMN streams.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN streams.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN streams.stream_id IS 'Stream number; NULL = rows exported without one. Source: Stream ID.';
COMMENT ON COLUMN streams.kernels IS 'Rows on the stream, duplicates included, >= 0.';
COMMENT ON COLUMN streams.duration_us IS 'Sum of their durations, duplicates included, us, >= 0.';
COMMENT ON COLUMN streams.is_main IS 'Whether it is the stream with the most AI-core time of its rank.';

CREATE TABLE op_statistics (
    run_id INTEGER,
    rank_id INTEGER,
    type VARCHAR,
    core VARCHAR,
    count BIGINT,
    total_us DOUBLE,
    min_us DOUBLE,
    avg_us DOUBLE,
    max_us DOUBLE,
    ratio_pct DOUBLE
);
COMMENT ON TABLE op_statistics IS 'op_statistic.csv as exported, kept to reconcile the kernels with it.';
COMMENT ON COLUMN op_statistics.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN op_statistics.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN op_statistics.type IS 'Operator type. Source: OP Type.';
COMMENT ON COLUMN op_statistics.core IS 'Engine as exported. Source: Core Type.';
COMMENT ON COLUMN op_statistics.count IS 'Calls, >= 0. Source: Count.';
COMMENT ON COLUMN op_statistics.total_us IS 'Sum of durations, us. Source: Total Time(us).';
COMMENT ON COLUMN op_statistics.min_us IS 'Shortest, us. Source: Min Time(us).';
COMMENT ON COLUMN op_statistics.avg_us IS 'Mean, us. Source: Avg Time(us).';
COMMENT ON COLUMN op_statistics.max_us IS 'Longest, us. Source: Max Time(us).';
COMMENT ON COLUMN op_statistics.ratio_pct IS 'Share of the total as exported, %, 0..100. Source: Ratio(%).';

CREATE TABLE counters (
    run_id INTEGER,
    rank_id INTEGER,
    timestamp_ns BIGINT,
    counter VARCHAR,
    value DOUBLE,
    unit VARCHAR,
    detail VARCHAR
);
COMMENT ON TABLE counters IS 'Sampled counters of the device: clock, HBM, last-level cache, bandwidth levels.';
COMMENT ON COLUMN counters.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN counters.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN counters.timestamp_ns IS 'When the sample was taken (for a mean: its interval ended), ns, on the clock of kernels.start_ns. Source: timestampNs.';
COMMENT ON COLUMN counters.counter IS 'aic_clock, hbm_read, hbm_write, llc_hit_rate_read, llc_throughput_read, l2_buffer_bandwidth_level, mata_bandwidth_level, ddr_read, ddr_write, hccs_sent, hccs_received. Source: table and column of the profiler database.';
COMMENT ON COLUMN counters.value IS 'The sample, in the unit that stands beside it; bandwidths are means over the sampling interval.';
COMMENT ON COLUMN counters.unit IS 'MHz, GB/s (1e9), % or level.';
COMMENT ON COLUMN counters.detail IS 'Which unit was sampled (hbm 0, llc 1); NULL = the whole device.';

CREATE TABLE rejects (
    run_id INTEGER,
    rank_id INTEGER,
    file VARCHAR,
    line BIGINT,
    reason VARCHAR,
    text VARCHAR
);
COMMENT ON TABLE rejects IS 'Rows of a kernel table that could not be believed, each with the reason.';
COMMENT ON COLUMN rejects.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN rejects.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN rejects.file IS 'Path of the file.';
COMMENT ON COLUMN rejects.line IS '1-based line of the row in the file (the header is line 1).';
COMMENT ON COLUMN rejects.reason IS 'Why the row was set aside.';
COMMENT ON COLUMN rejects.text IS 'The row, cut to a readable length.';
