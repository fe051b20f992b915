-- What the rows of one rank say about its chip (formats.md 11). One row. Parameters: $rank, $min_utilization,
-- $min_mhz, $max_mhz.
--
-- cores x MHz = aic_total_cycles / (cube_utilization / 100 * duration): exact on rows that use the cube; median.
-- MHz = total_cycles / (core time * block): exact only where block is the number of cores that ran, so the most
-- frequent value counts, never the mean; of equally frequent ones the lowest. A clock that no chip has comes from a
-- block that is no core count (256 blocks on 24 cores give 164 MHz) and says nothing.

WITH rows AS (
    SELECT
        aic_total_cycles / (cube_utilization_pct / 100 * duration_us) AS cores_mhz,
        cube_utilization_pct,
        round(aic_total_cycles / (aicore_time_us * block)) AS aic_mhz,
        -- In a mixed kernel, mix_block is the number of blocks of the vector cores.
        round(
            aiv_total_cycles / (aiv_time_us * CASE WHEN aic_total_cycles > 0 AND mix_block > 0 THEN mix_block ELSE block END)
        ) AS aiv_mhz,
        aic_total_cycles,
        aiv_total_cycles,
        aicore_time_us,
        aiv_time_us,
        duration_us,
        block
    FROM kernels
    WHERE rank_id = $rank AND kernel_class = 'aicore' AND duplicate_of IS NULL
),
cubes AS (
    SELECT cores_mhz FROM rows
    WHERE cube_utilization_pct > $min_utilization AND aic_total_cycles > 0 AND duration_us > 0
),
aic AS (
    SELECT aic_mhz AS mhz, count(*) AS n FROM rows
    WHERE aic_total_cycles > 0 AND aicore_time_us > 0 AND block > 0 AND aic_mhz BETWEEN $min_mhz AND $max_mhz
    GROUP BY mhz ORDER BY n DESC, mhz LIMIT 1
),
aiv AS (
    SELECT aiv_mhz AS mhz, count(*) AS n FROM rows
    WHERE aiv_total_cycles > 0 AND aiv_time_us > 0 AND block > 0 AND aiv_mhz BETWEEN $min_mhz AND $max_mhz
    GROUP BY mhz ORDER BY n DESC, mhz LIMIT 1
)
SELECT
    median(cores_mhz) AS cube_cores_mhz,
    (quantile_cont(cores_mhz, 0.99) - quantile_cont(cores_mhz, 0.01)) / median(cores_mhz) AS spread,
    (SELECT mhz FROM aic) AS aic_mhz,
    (SELECT mhz FROM aiv) AS aiv_mhz,
    round(median(cores_mhz) / (SELECT mhz FROM aic)) AS cube_cores,
    count(*) AS evidence_rows
FROM cubes;
