-- Durations and median PMU values per signature (by_position false) or per signature and place (by_position true).
-- Inputs: selected_kernels; variable measured_columns, the PMU columns that hold any value (medians of empty columns
-- would cost as much as the others). Grain: run, rank, signature [, part, position].
-- Two passes instead of one over GROUPING SETS: the same time, and two thirds of the memory, measured on a million rows.
-- Medians are true medians: quantile_cont keeps every value. greatest() skips NULL, so an AIV-only row has a gap too.

CREATE OR REPLACE TEMP VIEW statistics_of_selection AS
SELECT
    run_id,
    rank_id,
    signature_id,
    CASE WHEN getvariable('by_position') THEN part END AS part,
    CASE WHEN getvariable('by_position') THEN position END AS position,
    count(*) AS count,
    sum(duration_us) AS total_us,
    quantile_cont(duration_us, 0.5) AS median_us,
    quantile_cont(duration_us, 0.1) AS p10_us,
    quantile_cont(duration_us, 0.9) AS p90_us,
    min(duration_us) AS min_us,
    max(duration_us) AS max_us,
    count(DISTINCT step_id) AS steps,
    mode(block ORDER BY block) AS block,
    mode(mix_block ORDER BY mix_block) AS mix_block,
    quantile_cont(duration_us - greatest(aicore_time_us, aiv_time_us), 0.5) AS gap_us,
    quantile_cont(COLUMNS(lambda name: list_contains(getvariable('measured_columns'), name)), 0.5)
FROM selected_kernels
WHERE NOT getvariable('by_position') OR part IS NOT NULL
GROUP BY ALL;
