-- Table group_statistics: medians and percentiles per signature and place, over the counted kernels of all steps.
-- Grain: run, rank, signature, part, position; one more row per signature with part and position NULL for all places together.
-- Derived at ingest so that a question about a million rows answers at once; with selected steps the same SQL runs again.

CREATE TABLE group_statistics (
    run_id INTEGER,
    rank_id INTEGER,
    signature_id UBIGINT,
    part VARCHAR,
    position INTEGER,
    count BIGINT,
    total_us DOUBLE,
    median_us DOUBLE,
    p10_us DOUBLE,
    p90_us DOUBLE,
    min_us DOUBLE,
    max_us DOUBLE,
    steps BIGINT,
    zero_duration BIGINT,
    block INTEGER,
    mix_block INTEGER,
    gap_us DOUBLE,
    aicore_time_us DOUBLE, aic_mac_ratio DOUBLE, aic_scalar_ratio DOUBLE, aic_mte1_ratio DOUBLE,
    aic_mte2_ratio DOUBLE, aic_fixpipe_ratio DOUBLE, aic_icache_miss_rate DOUBLE, aiv_time_us DOUBLE,
    aiv_vec_ratio DOUBLE, aiv_scalar_ratio DOUBLE, aiv_mte2_ratio DOUBLE, aiv_mte3_ratio DOUBLE,
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

COMMENT ON TABLE group_statistics IS 'Per signature and place in the step: counts, durations and median PMU values.';
COMMENT ON COLUMN group_statistics.run_id IS 'The run; runs.run_id.';
COMMENT ON COLUMN group_statistics.rank_id IS 'The rank; ranks.rank_id.';
COMMENT ON COLUMN group_statistics.signature_id IS 'The signature; signatures.signature_id.';
COMMENT ON COLUMN group_statistics.part IS 'Place in the step, as in kernels; NULL = all places together.';
COMMENT ON COLUMN group_statistics.position IS 'Position, as in kernels; NULL = all positions together.';
COMMENT ON COLUMN group_statistics.count IS 'Counted kernels in the group.';
COMMENT ON COLUMN group_statistics.total_us IS 'Sum of their durations, us.';
COMMENT ON COLUMN group_statistics.median_us IS 'Median duration, us; rows with a duration of 0 were not measured and are left out; 0 = there are no others.';
COMMENT ON COLUMN group_statistics.p10_us IS '10th percentile of duration, us; rows with a duration of 0 left out.';
COMMENT ON COLUMN group_statistics.p90_us IS '90th percentile of duration, us; rows with a duration of 0 left out.';
COMMENT ON COLUMN group_statistics.min_us IS 'Shortest duration above 0, us.';
COMMENT ON COLUMN group_statistics.max_us IS 'Longest duration, us.';
COMMENT ON COLUMN group_statistics.steps IS 'Distinct steps the group occurs in.';
COMMENT ON COLUMN group_statistics.zero_duration IS 'Kernels of the group that were exported with a duration of 0: counted, in no median.';
COMMENT ON COLUMN group_statistics.block IS 'Most frequent block.';
COMMENT ON COLUMN group_statistics.mix_block IS 'Most frequent mix_block.';
COMMENT ON COLUMN group_statistics.gap_us IS 'Median of duration minus the longer of the two engine times, us; NULL = no engine time measured.';
COMMENT ON COLUMN group_statistics.aicore_time_us IS 'Median of kernels.aicore_time_us over the group; us, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_mac_ratio IS 'Median of kernels.aic_mac_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_scalar_ratio IS 'Median of kernels.aic_scalar_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_mte1_ratio IS 'Median of kernels.aic_mte1_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_mte2_ratio IS 'Median of kernels.aic_mte2_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_fixpipe_ratio IS 'Median of kernels.aic_fixpipe_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_icache_miss_rate IS 'Median of kernels.aic_icache_miss_rate over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_time_us IS 'Median of kernels.aiv_time_us over the group; us, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_ratio IS 'Median of kernels.aiv_vec_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_scalar_ratio IS 'Median of kernels.aiv_scalar_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_mte2_ratio IS 'Median of kernels.aiv_mte2_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_mte3_ratio IS 'Median of kernels.aiv_mte3_ratio over the group; ratio, 0..1 (pipes overlap, so their sum may exceed 1); NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_icache_miss_rate IS 'Median of kernels.aiv_icache_miss_rate over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.cube_utilization_pct IS 'Median of kernels.cube_utilization_pct over the group; %, 0..100; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_mac_fp16_ratio IS 'Median of kernels.aic_mac_fp16_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_mac_int8_ratio IS 'Median of kernels.aic_mac_int8_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_cube_fops IS 'Median of kernels.aic_cube_fops over the group; operations, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_vector_fops IS 'Median of kernels.aic_vector_fops over the group; operations, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_fp32_ratio IS 'Median of kernels.aiv_vec_fp32_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_fp16_ratio IS 'Median of kernels.aiv_vec_fp16_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_int32_ratio IS 'Median of kernels.aiv_vec_int32_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_misc_ratio IS 'Median of kernels.aiv_vec_misc_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vector_fops IS 'Median of kernels.aiv_vector_fops over the group; operations, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_cube_fops IS 'Median of kernels.aiv_cube_fops over the group; operations, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l1_read_bw_gb_s IS 'Median of kernels.aic_l1_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l1_write_bw_gb_s IS 'Median of kernels.aic_l1_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_main_mem_read_bw_gb_s IS 'Median of kernels.aic_main_mem_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_main_mem_write_bw_gb_s IS 'Median of kernels.aic_main_mem_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l2_read_bw_gb_s IS 'Median of kernels.aic_l2_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l2_write_bw_gb_s IS 'Median of kernels.aic_l2_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_ub_read_bw_gb_s IS 'Median of kernels.aiv_ub_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_ub_write_bw_gb_s IS 'Median of kernels.aiv_ub_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_main_mem_read_bw_gb_s IS 'Median of kernels.aiv_main_mem_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_main_mem_write_bw_gb_s IS 'Median of kernels.aiv_main_mem_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_l2_read_bw_gb_s IS 'Median of kernels.aiv_l2_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_l2_write_bw_gb_s IS 'Median of kernels.aiv_l2_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0a_read_bw_gb_s IS 'Median of kernels.aic_l0a_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0a_write_bw_gb_s IS 'Median of kernels.aic_l0a_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0b_read_bw_gb_s IS 'Median of kernels.aic_l0b_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0b_write_bw_gb_s IS 'Median of kernels.aic_l0b_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0c_read_bw_cube_gb_s IS 'Median of kernels.aic_l0c_read_bw_cube_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0c_write_bw_cube_gb_s IS 'Median of kernels.aic_l0c_write_bw_cube_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_l0c_read_bw_gb_s IS 'Median of kernels.aiv_l0c_read_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_l0c_write_bw_gb_s IS 'Median of kernels.aiv_l0c_write_bw_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_ub_read_bw_vector_gb_s IS 'Median of kernels.aic_ub_read_bw_vector_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_ub_write_bw_vector_gb_s IS 'Median of kernels.aic_ub_write_bw_vector_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_ub_read_bw_scalar_gb_s IS 'Median of kernels.aic_ub_read_bw_scalar_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_ub_write_bw_scalar_gb_s IS 'Median of kernels.aic_ub_write_bw_scalar_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_ub_read_bw_vector_gb_s IS 'Median of kernels.aiv_ub_read_bw_vector_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_ub_write_bw_vector_gb_s IS 'Median of kernels.aiv_ub_write_bw_vector_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_ub_read_bw_scalar_gb_s IS 'Median of kernels.aiv_ub_read_bw_scalar_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_ub_write_bw_scalar_gb_s IS 'Median of kernels.aiv_ub_write_bw_scalar_gb_s over the group; GB/s as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_write_cache_hit IS 'Median of kernels.aic_write_cache_hit over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_write_cache_miss_allocate IS 'Median of kernels.aic_write_cache_miss_allocate over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_r0_read_cache_hit IS 'Median of kernels.aic_r0_read_cache_hit over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_r0_read_cache_miss_allocate IS 'Median of kernels.aic_r0_read_cache_miss_allocate over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_r1_read_cache_hit IS 'Median of kernels.aic_r1_read_cache_hit over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_r1_read_cache_miss_allocate IS 'Median of kernels.aic_r1_read_cache_miss_allocate over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_write_cache_hit IS 'Median of kernels.aiv_write_cache_hit over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_write_cache_miss_allocate IS 'Median of kernels.aiv_write_cache_miss_allocate over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_r0_read_cache_hit IS 'Median of kernels.aiv_r0_read_cache_hit over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_r0_read_cache_miss_allocate IS 'Median of kernels.aiv_r0_read_cache_miss_allocate over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_r1_read_cache_hit IS 'Median of kernels.aiv_r1_read_cache_hit over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_r1_read_cache_miss_allocate IS 'Median of kernels.aiv_r1_read_cache_miss_allocate over the group; count, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_read_main_memory_datas_kb IS 'Median of kernels.aic_read_main_memory_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_write_main_memory_datas_kb IS 'Median of kernels.aic_write_main_memory_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_gm_to_l1_datas_kb IS 'Median of kernels.aic_gm_to_l1_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0c_to_l1_datas_kb IS 'Median of kernels.aic_l0c_to_l1_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_l0c_to_gm_datas_kb IS 'Median of kernels.aic_l0c_to_gm_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_gm_to_ub_datas_kb IS 'Median of kernels.aic_gm_to_ub_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aic_ub_to_gm_datas_kb IS 'Median of kernels.aic_ub_to_gm_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_read_main_memory_datas_kb IS 'Median of kernels.aiv_read_main_memory_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_write_main_memory_datas_kb IS 'Median of kernels.aiv_write_main_memory_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_gm_to_l1_datas_kb IS 'Median of kernels.aiv_gm_to_l1_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_l0c_to_l1_datas_kb IS 'Median of kernels.aiv_l0c_to_l1_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_l0c_to_gm_datas_kb IS 'Median of kernels.aiv_l0c_to_gm_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_gm_to_ub_datas_kb IS 'Median of kernels.aiv_gm_to_ub_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_ub_to_gm_datas_kb IS 'Median of kernels.aiv_ub_to_gm_datas_kb over the group; KB as exported, >= 0; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_bankgroup_cflt_ratio IS 'Median of kernels.aiv_vec_bankgroup_cflt_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_bank_cflt_ratio IS 'Median of kernels.aiv_vec_bank_cflt_ratio over the group; ratio, 0..1; NULL = not measured.';
COMMENT ON COLUMN group_statistics.aiv_vec_resc_cflt_ratio IS 'Median of kernels.aiv_vec_resc_cflt_ratio over the group; ratio, 0..1; NULL = not measured.';
