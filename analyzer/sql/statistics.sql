-- Counts, durations and blocks per signature (by_position false) or per signature and place (by_position true).
-- Input: selected_kernels; variables by_position, measured_columns. Grain: run, rank, signature [, part, position].
-- Results: _single_kernels, places with one kernel, which is its own median (a capture of one step is all such places,
-- and a million medians over one value each would cost ten times as much); and the table _statistics of all others.
-- Percentiles are true ones: quantile_cont keeps every value. greatest() skips NULL, so an AIV-only row has a gap too.
-- Rows whose core times are both 0 have no counters: their zeros are in no PMU value either.
-- A duration of 0 was not measured: such rows count, and are in no median, percentile or PMU value.
-- The most frequent block is counted and not asked of mode(), whose state per group is ten times as large.

CREATE OR REPLACE TEMP VIEW _placed_kernels AS
SELECT
    * EXCLUDE (part, position),
    CASE WHEN getvariable('by_position') THEN part END AS part,
    CASE WHEN getvariable('by_position') THEN position END AS position
FROM selected_kernels
WHERE NOT getvariable('by_position') OR part IS NOT NULL;

CREATE OR REPLACE TEMP TABLE _singles AS
SELECT run_id, rank_id, any_value(kernel_id) AS kernel_id
FROM _placed_kernels
GROUP BY run_id, rank_id, signature_id, part, position
HAVING count(*) = 1;

CREATE OR REPLACE TEMP VIEW _single_kernels AS
SELECT
    1 AS count,
    duration_us AS total_us,
    duration_us AS median_us,
    duration_us AS p10_us,
    duration_us AS p90_us,
    duration_us AS min_us,
    duration_us AS max_us,
    1 AS steps,
    (duration_us = 0)::BIGINT AS zero_duration,
    CASE WHEN duration_us > 0 THEN duration_us - nullif(greatest(aicore_time_us, aiv_time_us), 0) END AS gap_us,
    *
FROM _placed_kernels
SEMI JOIN _singles USING (run_id, rank_id, kernel_id);

CREATE OR REPLACE TEMP VIEW _repeated_kernels AS
SELECT *
FROM _placed_kernels
ANTI JOIN _singles USING (run_id, rank_id, kernel_id);

CREATE OR REPLACE TEMP TABLE _statistics AS
WITH by_step AS (
    SELECT DISTINCT run_id, rank_id, signature_id, part, position, step_id FROM _repeated_kernels
),
steps AS (
    SELECT run_id, rank_id, signature_id, part, position, count(*) AS steps FROM by_step GROUP BY ALL
),
by_block AS (
    SELECT run_id, rank_id, signature_id, part, position, block, mix_block, count(*) AS count
    FROM _repeated_kernels
    GROUP BY ALL
),
blocks AS (
    SELECT
        run_id, rank_id, signature_id, part, position,
        arg_max(block, (count, -block, -coalesce(mix_block, 0))) AS block,
        arg_max(mix_block, (count, -coalesce(block, 0), -mix_block)) AS mix_block
    FROM by_block
    GROUP BY ALL
),
durations AS (
    SELECT
        run_id, rank_id, signature_id, part, position,
        count(*) AS count,
        sum(round(duration_us * 1e6)::BIGINT) / 1e6 AS total_us,
        quantile_cont(nullif(duration_us, 0), [0.1, 0.5, 0.9]) AS percentiles,
        coalesce(min(nullif(duration_us, 0)), 0) AS min_us,
        max(duration_us) AS max_us,
        count(*) FILTER (duration_us = 0) AS zero_duration,
        quantile_cont(
            CASE WHEN duration_us > 0 THEN duration_us - nullif(greatest(aicore_time_us, aiv_time_us), 0) END, 0.5
        ) AS gap_us
    FROM _repeated_kernels
    GROUP BY ALL
)
SELECT
    d.* EXCLUDE (percentiles),
    coalesce(d.percentiles[1], 0) AS p10_us,
    coalesce(d.percentiles[2], 0) AS median_us,
    coalesce(d.percentiles[3], 0) AS p90_us,
    s.steps,
    b.block,
    b.mix_block
FROM durations AS d
JOIN steps AS s
    ON s.run_id = d.run_id AND s.rank_id = d.rank_id AND s.signature_id = d.signature_id
    AND s.part IS NOT DISTINCT FROM d.part AND s.position IS NOT DISTINCT FROM d.position
JOIN blocks AS b
    ON b.run_id = d.run_id AND b.rank_id = d.rank_id AND b.signature_id = d.signature_id
    AND b.part IS NOT DISTINCT FROM d.part AND b.position IS NOT DISTINCT FROM d.position;
