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
