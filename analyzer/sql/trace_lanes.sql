-- One round: of the rows without a lane, those that begin after every earlier one of them has ended get lane $lane.
-- The first row of a track always does, so rounds end. Grain: one row per kernel placed in this round.
UPDATE trace_kernels
SET lane = $lane
FROM (
    SELECT kernel_id, start_ns >= coalesce(max(end_ns) OVER (
        PARTITION BY track ORDER BY start_ns, kernel_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS free
    FROM trace_kernels
    WHERE lane IS NULL
) AS waiting
WHERE waiting.kernel_id = trace_kernels.kernel_id AND (waiting.free OR $last)
RETURNING trace_kernels.kernel_id;
