-- What msprof op measured of each kind of kernel of the selection: medians over its launches.
-- Grain: signature. Parameters: $run, $rank.

SELECT
    signature_id,
    count(*) AS launches,
    median(read_hits) AS read_hits,
    median(read_misses) AS read_misses,
    median(write_hits) AS write_hits,
    median(write_misses) AS write_misses,
    median(read_bytes) AS read_bytes,
    median(write_bytes) AS write_bytes
FROM operator_measurements
WHERE run_id = $run AND (rank_id IS NULL OR rank_id = $rank) AND signature_id IS NOT NULL
GROUP BY signature_id;
