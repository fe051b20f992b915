-- Tracks of kernels, one per stream and lane, numbered in the order in which they are shown: the busiest stream first.
CREATE OR REPLACE TEMP TABLE trace_tracks AS
SELECT
    track,
    lane,
    row_number() OVER (ORDER BY stream_ns DESC, track, lane)::INTEGER AS tid,
    CASE WHEN track < 0 THEN 'stream not recorded' ELSE 'stream ' || track END
        || CASE WHEN lane > 0 THEN ' (overlapping, ' || lane || ')' ELSE '' END AS name
FROM (
    SELECT track, lane, sum(sum(end_ns - start_ns)) OVER (PARTITION BY track) AS stream_ns
    FROM trace_kernels
    GROUP BY track, lane
);
