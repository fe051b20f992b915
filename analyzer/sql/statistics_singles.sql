-- The places with one kernel, with the columns that group_statistics has.
-- Inputs: _single_kernels; variable measured_columns, the PMU columns that hold any value. Grain: as _single_kernels.

SELECT
    run_id, rank_id, signature_id, part, position, count, total_us, median_us, p10_us, p90_us, min_us, max_us, steps, zero_duration,
    block, mix_block, gap_us,
    COLUMNS(lambda name: list_contains(getvariable('measured_columns'), name))
FROM _single_kernels
