-- Bounds of the number of cores, from kernels whose blocks and core time tell how often the cores went round.
-- One row: least and most cube cores, least and most vector cores; NULL = nothing tells. Parameters: $rank, $aic_mhz,
-- $aiv_mhz (clocks of evidence.sql), $tolerance.
--
-- The exporter gives core time = cycles / (MHz * block) * rounds, rounds = ceil(block / cores): 256 blocks in 6 rounds
-- need at least ceil(256 / 6) = 43 cores and, as 5 rounds were not enough, at most ceil(256 / 5) - 1 = 51. One round
-- says "at least block". A bound is no count: nothing here says how many cores the chip has.

WITH rounds AS (
    SELECT
        s.core,
        k.block,
        CASE s.core
            WHEN 'AI_CORE' THEN k.block * $aic_mhz * k.aicore_time_us / nullif(k.aic_total_cycles, 0)
            ELSE k.block * $aiv_mhz * k.aiv_time_us / nullif(k.aiv_total_cycles, 0)
        END AS exact
    FROM kernels AS k
    JOIN signatures AS s USING (signature_id)
    WHERE k.rank_id = $rank AND k.kernel_class = 'aicore' AND k.duplicate_of IS NULL AND k.block > 0
        AND s.core IN ('AI_CORE', 'AI_VECTOR_CORE')
),
whole AS (
    SELECT core, block, CAST(round(exact) AS BIGINT) AS n FROM rounds
    WHERE isfinite(exact) AND exact > 0.5 AND exact < block + 1 AND abs(exact - round(exact)) <= $tolerance
),
bounds AS (
    SELECT
        core,
        max(-(-block // n)) AS least,
        min(CASE WHEN n > 1 THEN -(-block // (n - 1)) - 1 END) AS most
    FROM whole
    GROUP BY core
),
agreeing AS (
    -- Bounds that exclude each other come from blocks that are none; then nothing is known.
    SELECT core, least, most FROM bounds WHERE most IS NULL OR least <= most
)
SELECT
    max(least) FILTER (core = 'AI_CORE') AS cube_cores_min,
    max(most) FILTER (core = 'AI_CORE') AS cube_cores_max,
    max(least) FILTER (core = 'AI_VECTOR_CORE') AS vector_cores_min,
    max(most) FILTER (core = 'AI_VECTOR_CORE') AS vector_cores_max
FROM agreeing;
