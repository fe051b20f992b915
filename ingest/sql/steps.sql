-- Steps and streams of one rank from its kernels.
-- Grain: step; stream. Parameters: $rank, $source. Inputs: kernels.
-- A step is as long as its counted kernels of every class reach; duplicates say nothing new.

INSERT INTO steps BY NAME
SELECT
    1 AS run_id,
    $rank AS rank_id,
    step_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    (max(end_ns) - min(start_ns)) / 1000.0 AS wall_us,
    count(*) AS kernels,
    $source AS source
FROM kernels
WHERE rank_id = $rank AND step_id IS NOT NULL AND duplicate_of IS NULL
GROUP BY step_id
ORDER BY step_id;
