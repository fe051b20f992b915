-- Table kernels: one row per device task of a kernel table, PMU columns of every metric mode included.
-- Grain: run, rank, kernel_id. Filled by ingest; part, layer, position and sequence_index by the analyzer while staging.
-- A PMU column is NULL when its metric mode was not recorded or the cell was N/A; 0 is a measurement.

CREATE TABLE kernels (
    run_id INTEGER,
    rank_id INTEGER,
    kernel_id BIGINT,
    step_id INTEGER,
    stream_id INTEGER,
    task_id BIGINT,
    model_id BIGINT,
    context_id BIGINT,
    device_id INTEGER,
    name VARCHAR,
    signature_id UBIGINT,
    kernel_class VARCHAR,
    op_state VARCHAR,
    block INTEGER,
    mix_block INTEGER,
    start_ns BIGINT,
    end_ns BIGINT,
    duration_us DOUBLE,
    wait_us DOUBLE,
    duplicate_of BIGINT,
    part VARCHAR,
    layer INTEGER,
    position INTEGER,
    sequence_index INTEGER,
    file_row BIGINT,
    aicore_time_us DOUBLE, aic_total_cycles DOUBLE, aic_mac_time_us DOUBLE, aic_mac_ratio DOUBLE,
    aic_scalar_time_us DOUBLE, aic_scalar_ratio DOUBLE, aic_mte1_time_us DOUBLE, aic_mte1_ratio DOUBLE,
    aic_mte2_time_us DOUBLE, aic_mte2_ratio DOUBLE, aic_fixpipe_time_us DOUBLE,
    aic_fixpipe_ratio DOUBLE, aic_icache_miss_rate DOUBLE, aiv_time_us DOUBLE, aiv_total_cycles DOUBLE,
    aiv_vec_time_us DOUBLE, aiv_vec_ratio DOUBLE, aiv_scalar_time_us DOUBLE, aiv_scalar_ratio DOUBLE,
    aiv_mte2_time_us DOUBLE, aiv_mte2_ratio DOUBLE, aiv_mte3_time_us DOUBLE, aiv_mte3_ratio DOUBLE,
    aiv_icache_miss_rate DOUBLE, cube_utilization_pct DOUBLE, aic_mac_fp16_ratio DOUBLE,
    aic_mac_int8_ratio DOUBLE, aic_cube_fops DOUBLE, aic_vector_fops DOUBLE, aiv_vec_fp32_ratio DOUBLE,
    aiv_vec_fp16_ratio DOUBLE, aiv_vec_int32_ratio DOUBLE, aiv_vec_misc_ratio DOUBLE,
    aiv_vector_fops DOUBLE, aiv_cube_fops DOUBLE, aic_l1_read_bw_gb_s DOUBLE,
    aic_l1_write_bw_gb_s DOUBLE, aic_main_mem_read_bw_gb_s DOUBLE, aic_main_mem_write_bw_gb_s DOUBLE,
    aic_l2_read_bw_gb_s DOUBLE, aic_l2_write_bw_gb_s DOUBLE, aiv_ub_read_bw_gb_s DOUBLE,
    aiv_ub_write_bw_gb_s DOUBLE, aiv_main_mem_read_bw_gb_s DOUBLE, aiv_main_mem_write_bw_gb_s DOUBLE,
    aiv_l2_read_bw_gb_s DOUBLE, aiv_l2_write_bw_gb_s DOUBLE, aic_l0a_read_bw_gb_s DOUBLE,
    aic_l0a_write_bw_gb_s DOUBLE, aic_l0b_read_bw_gb_s DOUBLE, aic_l0b_write_bw_gb_s DOUBLE,
    aic_l0c_read_bw_cube_gb_s DOUBLE, aic_l0c_write_bw_cube_gb_s DOUBLE, aiv_l0c_read_bw_gb_s DOUBLE,
    aiv_l0c_write_bw_gb_s DOUBLE, aic_ub_read_bw_vector_gb_s DOUBLE, aic_ub_write_bw_vector_gb_s DOUBLE,
    aic_ub_read_bw_scalar_gb_s DOUBLE, aic_ub_write_bw_scalar_gb_s DOUBLE,
    aiv_ub_read_bw_vector_gb_s DOUBLE, aiv_ub_write_bw_vector_gb_s DOUBLE,
    aiv_ub_read_bw_scalar_gb_s DOUBLE, aiv_ub_write_bw_scalar_gb_s DOUBLE, aic_write_cache_hit DOUBLE,
    aic_write_cache_miss_allocate DOUBLE, aic_r0_read_cache_hit DOUBLE,
    aic_r0_read_cache_miss_allocate DOUBLE, aic_r1_read_cache_hit DOUBLE,
    aic_r1_read_cache_miss_allocate DOUBLE, aiv_write_cache_hit DOUBLE,
    aiv_write_cache_miss_allocate DOUBLE, aiv_r0_read_cache_hit DOUBLE,
    aiv_r0_read_cache_miss_allocate DOUBLE, aiv_r1_read_cache_hit DOUBLE,
    aiv_r1_read_cache_miss_allocate DOUBLE, aic_read_main_memory_datas_kb DOUBLE,
    aic_write_main_memory_datas_kb DOUBLE, aic_gm_to_l1_datas_kb DOUBLE, aic_l0c_to_l1_datas_kb DOUBLE,
    aic_l0c_to_gm_datas_kb DOUBLE, aic_gm_to_ub_datas_kb DOUBLE, aic_ub_to_gm_datas_kb DOUBLE,
    aiv_read_main_memory_datas_kb DOUBLE, aiv_write_main_memory_datas_kb DOUBLE,
    aiv_gm_to_l1_datas_kb DOUBLE, aiv_l0c_to_l1_datas_kb DOUBLE, aiv_l0c_to_gm_datas_kb DOUBLE,
    aiv_gm_to_ub_datas_kb DOUBLE, aiv_ub_to_gm_datas_kb DOUBLE, aiv_vec_bankgroup_cflt_ratio DOUBLE,
    aiv_vec_bank_cflt_ratio DOUBLE, aiv_vec_resc_cflt_ratio DOUBLE
);

COMMENT ON TABLE kernels IS 'One row per device task: what ran, when, for how long, and what the PMU counted.';
COMMENT ON COLUMN kernels.run_id IS 'The run this row belongs to; runs.run_id.';
COMMENT ON COLUMN kernels.rank_id IS 'The rank this row belongs to; ranks.rank_id.';
COMMENT ON COLUMN kernels.kernel_id IS 'Number of the kernel in its run and rank, from 0, by start and then by place in the files.';
COMMENT ON COLUMN kernels.step_id IS 'Training or inference step; NULL = outside every step. Source: Step Id; 0 for the whole rank when the export has no step at all.';
COMMENT ON COLUMN kernels.stream_id IS 'Device stream; NULL = not exported (collectives are listed without one). Source: Stream ID.';
COMMENT ON COLUMN kernels.task_id IS 'Task number on the stream; NULL = not exported. Source: Task ID.';
COMMENT ON COLUMN kernels.model_id IS 'Captured graph; 4294967295 = eager, NULL = not exported. Source: Model ID.';
COMMENT ON COLUMN kernels.context_id IS 'Part of a mixed kernel, 0 or 1; NULL = not a mixed kernel or not exported. Source: Context ID.';
COMMENT ON COLUMN kernels.device_id IS 'Device the row ran on (not the rank); NULL = not exported. Source: Device_id.';
COMMENT ON COLUMN kernels.name IS 'Kernel name as exported. Source: Name, Op Name.';
COMMENT ON COLUMN kernels.signature_id IS 'What costing works on; signatures.signature_id.';
COMMENT ON COLUMN kernels.kernel_class IS 'aicore, communication, ai_cpu, dsa or other; only aicore rows get a roofline. Source: Accelerator Core, Task Type.';
COMMENT ON COLUMN kernels.op_state IS 'static or dynamic; NULL = not exported. Source: OP State.';
COMMENT ON COLUMN kernels.block IS 'Logical blocks the kernel was launched with (may exceed or undercut the cores). Source: Block Dim, Block Num.';
COMMENT ON COLUMN kernels.mix_block IS 'Logical blocks of the other engine of a mixed kernel. Source: Mix Block Dim, Mix Block Num.';
COMMENT ON COLUMN kernels.start_ns IS 'Start on the device clock, ns, exact. Source: Start Time(us), Task Start Time(us).';
COMMENT ON COLUMN kernels.end_ns IS 'End, ns: start_ns + duration_us in whole ns.';
COMMENT ON COLUMN kernels.duration_us IS 'Duration, us, >= 0. Source: Duration(us), Task Duration(us).';
COMMENT ON COLUMN kernels.wait_us IS 'Time between the end of the previous task and this start, us, as exported; NULL = not exported. Source: Wait Time(us), Task Wait Time(us).';
COMMENT ON COLUMN kernels.duplicate_of IS 'kernel_id of the row that is counted when the export lists one collective twice; NULL = this row is counted.';
COMMENT ON COLUMN kernels.part IS 'Place in the step: before, layer, after, between, side (on a stream beside the one whose kernels repeat) or odd (inside a layer that has it and others do not); NULL = not placed. Derived from the repeating kernel sequence.';
COMMENT ON COLUMN kernels.layer IS 'Number of the layer inside its step, from 0; of a kernel beside, that of the layer it is joined to by time; NULL = outside the repeats. Derived.';
COMMENT ON COLUMN kernels.position IS 'Index inside the layer, or inside its part of the step, from 0; beside, counted over the streams beside; NULL = not placed. Derived.';
COMMENT ON COLUMN kernels.sequence_index IS 'Index in the counted device sequence of the step, from 0; NULL for AI_CPU, DSA and duplicates. Derived.';
COMMENT ON COLUMN kernels.file_row IS '1-based line of the row in its file (the header is line 1); for a file that had to be cleaned first, the line in the original. Of a database: globalTaskId or opId.';
COMMENT ON COLUMN kernels.aicore_time_us IS 'Mean time the AIC part ran on its cores; us, >= 0; NULL = not measured. Source: aicore_time(us), aic_time(us) (every mode with PMU).';
COMMENT ON COLUMN kernels.aic_total_cycles IS 'AIC cycles summed over the cores that ran the kernel; cycles, >= 0; NULL = not measured. Source: aic_total_cycles (every mode with PMU).';
COMMENT ON COLUMN kernels.aic_mac_time_us IS 'Time the AIC cube (matrix) pipe was busy; us, >= 0; NULL = not measured. Source: aic_mac_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_mac_ratio IS 'Share of AIC cycles in which the cube (matrix) pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aic_mac_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_scalar_time_us IS 'Time the AIC scalar pipe was busy; us, >= 0; NULL = not measured. Source: aic_scalar_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_scalar_ratio IS 'Share of AIC cycles in which the scalar pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aic_scalar_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_mte1_time_us IS 'Time the AIC L1 to L0 transfer pipe was busy; us, >= 0; NULL = not measured. Source: aic_mte1_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_mte1_ratio IS 'Share of AIC cycles in which the L1 to L0 transfer pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aic_mte1_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_mte2_time_us IS 'Time the AIC global memory to on-chip transfer pipe was busy; us, >= 0; NULL = not measured. Source: aic_mte2_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_mte2_ratio IS 'Share of AIC cycles in which the global memory to on-chip transfer pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aic_mte2_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_fixpipe_time_us IS 'Time the AIC L0C output pipe was busy; us, >= 0; NULL = not measured. Source: aic_fixpipe_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_fixpipe_ratio IS 'Share of AIC cycles in which the L0C output pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aic_fixpipe_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_icache_miss_rate IS 'Instruction cache misses per AIC fetch; ratio, 0..1; NULL = not measured. Source: aic_icache_miss_rate (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_time_us IS 'Mean time the AIV part ran on its cores; us, >= 0; NULL = not measured. Source: aiv_time(us) (every mode with PMU).';
COMMENT ON COLUMN kernels.aiv_total_cycles IS 'AIV cycles summed over the cores that ran the kernel; cycles, >= 0; NULL = not measured. Source: aiv_total_cycles (every mode with PMU).';
COMMENT ON COLUMN kernels.aiv_vec_time_us IS 'Time the AIV vector pipe was busy; us, >= 0; NULL = not measured. Source: aiv_vec_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_vec_ratio IS 'Share of AIV cycles in which the vector pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aiv_vec_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_scalar_time_us IS 'Time the AIV scalar pipe was busy; us, >= 0; NULL = not measured. Source: aiv_scalar_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_scalar_ratio IS 'Share of AIV cycles in which the scalar pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aiv_scalar_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_mte2_time_us IS 'Time the AIV global memory to UB transfer pipe was busy; us, >= 0; NULL = not measured. Source: aiv_mte2_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_mte2_ratio IS 'Share of AIV cycles in which the global memory to UB transfer pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aiv_mte2_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_mte3_time_us IS 'Time the AIV UB to global memory transfer pipe was busy; us, >= 0; NULL = not measured. Source: aiv_mte3_time(us) (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_mte3_ratio IS 'Share of AIV cycles in which the UB to global memory transfer pipe was busy; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured. Source: aiv_mte3_ratio (PipeUtilization).';
COMMENT ON COLUMN kernels.aiv_icache_miss_rate IS 'Instruction cache misses per AIV fetch; ratio, 0..1; NULL = not measured. Source: aiv_icache_miss_rate (PipeUtilization).';
COMMENT ON COLUMN kernels.cube_utilization_pct IS 'AIC cycles over the cycles all cube cores of the chip had during the kernel; %, 0..100; NULL = not measured. Source: cube_utilization(%) (PipeUtilization).';
COMMENT ON COLUMN kernels.aic_mac_fp16_ratio IS 'Share of AIC cycles in fp16 matrix work; ratio, 0..1; NULL = not measured. Source: aic_mac_fp16_ratio (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aic_mac_int8_ratio IS 'Share of AIC cycles in int8 matrix work; ratio, 0..1; NULL = not measured. Source: aic_mac_int8_ratio (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aic_cube_fops IS 'Cube operations the AIC part counted; operations, >= 0; NULL = not measured. Source: aic_cube_fops (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aic_vector_fops IS 'Vector operations the AIC part counted; operations, >= 0; NULL = not measured. Source: aic_vector_fops (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aiv_vec_fp32_ratio IS 'Share of AIV cycles in fp32 vector work; ratio, 0..1; NULL = not measured. Source: aiv_vec_fp32_ratio (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aiv_vec_fp16_ratio IS 'Share of AIV cycles in fp16 vector work; ratio, 0..1; NULL = not measured. Source: aiv_vec_fp16_ratio (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aiv_vec_int32_ratio IS 'Share of AIV cycles in int32 vector work; ratio, 0..1; NULL = not measured. Source: aiv_vec_int32_ratio (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aiv_vec_misc_ratio IS 'Share of AIV cycles in misc vector work; ratio, 0..1; NULL = not measured. Source: aiv_vec_misc_ratio (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aiv_vector_fops IS 'Vector operations the AIV part counted; operations, >= 0; NULL = not measured. Source: aiv_vector_fops (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aiv_cube_fops IS 'Cube operations the AIV part counted; operations, >= 0; NULL = not measured. Source: aiv_cube_fops (ArithmeticUtilization).';
COMMENT ON COLUMN kernels.aic_l1_read_bw_gb_s IS 'AIC read bandwidth of L1; GB/s as exported, >= 0; NULL = not measured. Source: aic_l1_read_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aic_l1_write_bw_gb_s IS 'AIC write bandwidth of L1; GB/s as exported, >= 0; NULL = not measured. Source: aic_l1_write_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aic_main_mem_read_bw_gb_s IS 'AIC read bandwidth of main memory; GB/s as exported, >= 0; NULL = not measured. Source: aic_main_mem_read_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aic_main_mem_write_bw_gb_s IS 'AIC write bandwidth of main memory; GB/s as exported, >= 0; NULL = not measured. Source: aic_main_mem_write_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aic_l2_read_bw_gb_s IS 'AIC read bandwidth of L2; GB/s as exported, >= 0; NULL = not measured. Source: aic_l2_read_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aic_l2_write_bw_gb_s IS 'AIC write bandwidth of L2; GB/s as exported, >= 0; NULL = not measured. Source: aic_l2_write_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aiv_ub_read_bw_gb_s IS 'AIV read bandwidth of UB; GB/s as exported, >= 0; NULL = not measured. Source: aiv_ub_read_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aiv_ub_write_bw_gb_s IS 'AIV write bandwidth of UB; GB/s as exported, >= 0; NULL = not measured. Source: aiv_ub_write_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aiv_main_mem_read_bw_gb_s IS 'AIV read bandwidth of main memory; GB/s as exported, >= 0; NULL = not measured. Source: aiv_main_mem_read_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aiv_main_mem_write_bw_gb_s IS 'AIV write bandwidth of main memory; GB/s as exported, >= 0; NULL = not measured. Source: aiv_main_mem_write_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aiv_l2_read_bw_gb_s IS 'AIV read bandwidth of L2; GB/s as exported, >= 0; NULL = not measured. Source: aiv_l2_read_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aiv_l2_write_bw_gb_s IS 'AIV write bandwidth of L2; GB/s as exported, >= 0; NULL = not measured. Source: aiv_l2_write_bw(GB/s) (Memory).';
COMMENT ON COLUMN kernels.aic_l0a_read_bw_gb_s IS 'AIC read bandwidth of L0A; GB/s as exported, >= 0; NULL = not measured. Source: aic_l0a_read_bw(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aic_l0a_write_bw_gb_s IS 'AIC write bandwidth of L0A; GB/s as exported, >= 0; NULL = not measured. Source: aic_l0a_write_bw(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aic_l0b_read_bw_gb_s IS 'AIC read bandwidth of L0B; GB/s as exported, >= 0; NULL = not measured. Source: aic_l0b_read_bw(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aic_l0b_write_bw_gb_s IS 'AIC write bandwidth of L0B; GB/s as exported, >= 0; NULL = not measured. Source: aic_l0b_write_bw(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aic_l0c_read_bw_cube_gb_s IS 'AIC read bandwidth of L0C by the cube pipe; GB/s as exported, >= 0; NULL = not measured. Source: aic_l0c_read_bw_cube(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aic_l0c_write_bw_cube_gb_s IS 'AIC write bandwidth of L0C by the cube pipe; GB/s as exported, >= 0; NULL = not measured. Source: aic_l0c_write_bw_cube(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aiv_l0c_read_bw_gb_s IS 'AIV read bandwidth of L0C; GB/s as exported, >= 0; NULL = not measured. Source: aiv_l0c_read_bw(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aiv_l0c_write_bw_gb_s IS 'AIV write bandwidth of L0C; GB/s as exported, >= 0; NULL = not measured. Source: aiv_l0c_write_bw(GB/s) (MemoryL0).';
COMMENT ON COLUMN kernels.aic_ub_read_bw_vector_gb_s IS 'AIC read bandwidth of UB by the vector pipe; GB/s as exported, >= 0; NULL = not measured. Source: aic_ub_read_bw_vector(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aic_ub_write_bw_vector_gb_s IS 'AIC write bandwidth of UB by the vector pipe; GB/s as exported, >= 0; NULL = not measured. Source: aic_ub_write_bw_vector(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aic_ub_read_bw_scalar_gb_s IS 'AIC read bandwidth of UB by the scalar pipe; GB/s as exported, >= 0; NULL = not measured. Source: aic_ub_read_bw_scalar(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aic_ub_write_bw_scalar_gb_s IS 'AIC write bandwidth of UB by the scalar pipe; GB/s as exported, >= 0; NULL = not measured. Source: aic_ub_write_bw_scalar(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aiv_ub_read_bw_vector_gb_s IS 'AIV read bandwidth of UB by the vector pipe; GB/s as exported, >= 0; NULL = not measured. Source: aiv_ub_read_bw_vector(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aiv_ub_write_bw_vector_gb_s IS 'AIV write bandwidth of UB by the vector pipe; GB/s as exported, >= 0; NULL = not measured. Source: aiv_ub_write_bw_vector(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aiv_ub_read_bw_scalar_gb_s IS 'AIV read bandwidth of UB by the scalar pipe; GB/s as exported, >= 0; NULL = not measured. Source: aiv_ub_read_bw_scalar(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aiv_ub_write_bw_scalar_gb_s IS 'AIV write bandwidth of UB by the scalar pipe; GB/s as exported, >= 0; NULL = not measured. Source: aiv_ub_write_bw_scalar(GB/s) (MemoryUB).';
COMMENT ON COLUMN kernels.aic_write_cache_hit IS 'AIC writes that hit L2; count, >= 0; NULL = not measured. Source: aic_write_cache_hit (L2Cache).';
COMMENT ON COLUMN kernels.aic_write_cache_miss_allocate IS 'AIC writes that missed L2 and allocated a line; count, >= 0; NULL = not measured. Source: aic_write_cache_miss_allocate (L2Cache).';
COMMENT ON COLUMN kernels.aic_r0_read_cache_hit IS 'AIC reads of channel 0 that hit L2; count, >= 0; NULL = not measured. Source: aic_r0_read_cache_hit (L2Cache).';
COMMENT ON COLUMN kernels.aic_r0_read_cache_miss_allocate IS 'AIC reads of channel 0 that missed L2 and allocated a line; count, >= 0; NULL = not measured. Source: aic_r0_read_cache_miss_allocate (L2Cache).';
COMMENT ON COLUMN kernels.aic_r1_read_cache_hit IS 'AIC reads of channel 1 that hit L2; count, >= 0; NULL = not measured. Source: aic_r1_read_cache_hit (L2Cache).';
COMMENT ON COLUMN kernels.aic_r1_read_cache_miss_allocate IS 'AIC reads of channel 1 that missed L2 and allocated a line; count, >= 0; NULL = not measured. Source: aic_r1_read_cache_miss_allocate (L2Cache).';
COMMENT ON COLUMN kernels.aiv_write_cache_hit IS 'AIV writes that hit L2; count, >= 0; NULL = not measured. Source: aiv_write_cache_hit (L2Cache).';
COMMENT ON COLUMN kernels.aiv_write_cache_miss_allocate IS 'AIV writes that missed L2 and allocated a line; count, >= 0; NULL = not measured. Source: aiv_write_cache_miss_allocate (L2Cache).';
COMMENT ON COLUMN kernels.aiv_r0_read_cache_hit IS 'AIV reads of channel 0 that hit L2; count, >= 0; NULL = not measured. Source: aiv_r0_read_cache_hit (L2Cache).';
COMMENT ON COLUMN kernels.aiv_r0_read_cache_miss_allocate IS 'AIV reads of channel 0 that missed L2 and allocated a line; count, >= 0; NULL = not measured. Source: aiv_r0_read_cache_miss_allocate (L2Cache).';
COMMENT ON COLUMN kernels.aiv_r1_read_cache_hit IS 'AIV reads of channel 1 that hit L2; count, >= 0; NULL = not measured. Source: aiv_r1_read_cache_hit (L2Cache).';
COMMENT ON COLUMN kernels.aiv_r1_read_cache_miss_allocate IS 'AIV reads of channel 1 that missed L2 and allocated a line; count, >= 0; NULL = not measured. Source: aiv_r1_read_cache_miss_allocate (L2Cache).';
COMMENT ON COLUMN kernels.aic_read_main_memory_datas_kb IS 'Logical bytes the AIC part read from main memory, L2 hits included; KB as exported, >= 0; NULL = not measured. Source: aic_read_main_memory_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aic_write_main_memory_datas_kb IS 'Logical bytes the AIC part wrote to main memory, L2 hits included; KB as exported, >= 0; NULL = not measured. Source: aic_write_main_memory_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aic_gm_to_l1_datas_kb IS 'Data the AIC part moved from GM to L1; KB as exported, >= 0; NULL = not measured. Source: aic_GM_to_L1_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aic_l0c_to_l1_datas_kb IS 'Data the AIC part moved from L0C to L1; KB as exported, >= 0; NULL = not measured. Source: aic_L0C_to_L1_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aic_l0c_to_gm_datas_kb IS 'Data the AIC part moved from L0C to GM; KB as exported, >= 0; NULL = not measured. Source: aic_L0C_to_GM_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aic_gm_to_ub_datas_kb IS 'Data the AIC part moved from GM to UB; KB as exported, >= 0; NULL = not measured. Source: aic_GM_to_UB_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aic_ub_to_gm_datas_kb IS 'Data the AIC part moved from UB to GM; KB as exported, >= 0; NULL = not measured. Source: aic_UB_to_GM_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_read_main_memory_datas_kb IS 'Logical bytes the AIV part read from main memory, L2 hits included; KB as exported, >= 0; NULL = not measured. Source: aiv_read_main_memory_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_write_main_memory_datas_kb IS 'Logical bytes the AIV part wrote to main memory, L2 hits included; KB as exported, >= 0; NULL = not measured. Source: aiv_write_main_memory_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_gm_to_l1_datas_kb IS 'Data the AIV part moved from GM to L1; KB as exported, >= 0; NULL = not measured. Source: aiv_GM_to_L1_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_l0c_to_l1_datas_kb IS 'Data the AIV part moved from L0C to L1; KB as exported, >= 0; NULL = not measured. Source: aiv_L0C_to_L1_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_l0c_to_gm_datas_kb IS 'Data the AIV part moved from L0C to GM; KB as exported, >= 0; NULL = not measured. Source: aiv_L0C_to_GM_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_gm_to_ub_datas_kb IS 'Data the AIV part moved from GM to UB; KB as exported, >= 0; NULL = not measured. Source: aiv_GM_to_UB_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_ub_to_gm_datas_kb IS 'Data the AIV part moved from UB to GM; KB as exported, >= 0; NULL = not measured. Source: aiv_UB_to_GM_datas(KB) (MemoryAccess).';
COMMENT ON COLUMN kernels.aiv_vec_bankgroup_cflt_ratio IS 'Share of AIV cycles the vector pipe lost to UB bank group conflicts; ratio, 0..1; NULL = not measured. Source: aiv_vec_bankgroup_cflt_ratio (ResourceConflictRatio).';
COMMENT ON COLUMN kernels.aiv_vec_bank_cflt_ratio IS 'Share of AIV cycles the vector pipe lost to UB bank conflicts; ratio, 0..1; NULL = not measured. Source: aiv_vec_bank_cflt_ratio (ResourceConflictRatio).';
COMMENT ON COLUMN kernels.aiv_vec_resc_cflt_ratio IS 'Share of AIV cycles the vector pipe lost to conflicts for an execution unit; ratio, 0..1; NULL = not measured. Source: aiv_vec_resc_cflt_ratio (ResourceConflictRatio).';
