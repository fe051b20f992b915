-- What the sampled counters of one rank say about its chip. One row. Parameters: $rank. Inputs: counters, kernels.
--
-- The clock counts only while AI cores work: an idle chip clocks down. A sample holds until the next one. The HBM peak
-- is the busiest sampling interval, all units, reads and writes together: a mean over about 20 ms, so the memory can
-- do at least that much.

WITH clock AS (
    SELECT timestamp_ns, max(value) AS mhz FROM counters
    WHERE rank_id = $rank AND counter = 'aic_clock' AND value > 0
    GROUP BY timestamp_ns
),
working AS (
    SELECT c.mhz
    FROM (SELECT start_ns FROM kernels WHERE rank_id = $rank AND kernel_class = 'aicore') AS k
    ASOF JOIN clock AS c ON k.start_ns >= c.timestamp_ns
),
hbm AS (
    SELECT sum(value) AS gb_s FROM counters
    WHERE rank_id = $rank AND counter IN ('hbm_read', 'hbm_write')
    GROUP BY timestamp_ns
)
SELECT
    (SELECT min(mhz) FROM working) AS clock_min_mhz,
    (SELECT max(mhz) FROM working) AS clock_max_mhz,
    (SELECT max(gb_s) FROM hbm) AS hbm_peak_gb_s;
