-- Adds the medians of some PMU columns to the table _statistics.
-- Inputs: _repeated_kernels, _statistics; variable measured_columns, the columns of this round: as many as memory allows,
-- because a median keeps every value. Grain: as _statistics.

CREATE OR REPLACE TEMP TABLE _statistics AS
WITH medians AS (
    SELECT
        run_id, rank_id, signature_id, part, position,
        quantile_cont(COLUMNS(lambda name: list_contains(getvariable('measured_columns'), name)), 0.5)
    FROM _repeated_kernels
    WHERE duration_us > 0 AND (greatest(aicore_time_us, aiv_time_us) > 0 OR coalesce(aicore_time_us, aiv_time_us) IS NULL)
    GROUP BY run_id, rank_id, signature_id, part, position
)
SELECT s.*, m.* EXCLUDE (run_id, rank_id, signature_id, part, position)
FROM _statistics AS s
LEFT JOIN medians AS m
    ON m.run_id = s.run_id AND m.rank_id = s.rank_id AND m.signature_id = s.signature_id
    AND m.part IS NOT DISTINCT FROM s.part AND m.position IS NOT DISTINCT FROM s.position;
