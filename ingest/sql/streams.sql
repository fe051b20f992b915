-- Streams of one rank. Grain: stream (NULL = rows exported without one). Parameters: $rank. Inputs: kernels.
-- The main stream is the one with the most AI-core time; of equals, the lowest number.

INSERT INTO streams BY NAME
WITH sums AS (
    SELECT
        stream_id,
        count(*) AS kernels,
        sum(duration_us) AS duration_us,
        coalesce(sum(duration_us) FILTER (kernel_class = 'aicore'), 0) AS aicore_us
    FROM kernels
    WHERE rank_id = $rank
    GROUP BY stream_id
)
SELECT
    1 AS run_id,
    $rank AS rank_id,
    stream_id,
    kernels,
    duration_us,
    stream_id IS NOT NULL AND aicore_us > 0
        AND row_number() OVER (ORDER BY stream_id IS NULL, aicore_us DESC, stream_id) = 1 AS is_main
FROM sums
ORDER BY stream_id;
