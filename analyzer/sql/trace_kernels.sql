-- Where each drawn kernel stands: its stream, and the lane of it. A viewer nests slices of one track or drops them, so
-- rows that overlap on one stream (collectives without a stream do) go to lanes of their own.
-- Inputs: selected_kernels, table trace_steps, variable trace_kernels_end (the first kernel_id that is not drawn).
-- Grain: one kernel. lane 0 = begins after every earlier row of its stream has ended; NULL = a lane is still to be found.
CREATE OR REPLACE TEMP TABLE trace_kernels AS
SELECT
    kernel_id,
    step_id,
    sequence_index,
    coalesce(stream_id, -1)::BIGINT AS track,
    start_ns,
    end_ns,
    CASE WHEN start_ns < max(end_ns) OVER before THEN NULL ELSE 0 END::INTEGER AS lane
FROM selected_kernels
WHERE step_id IN (SELECT step_id FROM trace_steps) AND kernel_id < getvariable('trace_kernels_end')::BIGINT
WINDOW before AS (
    PARTITION BY stream_id ORDER BY start_ns, kernel_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
);
