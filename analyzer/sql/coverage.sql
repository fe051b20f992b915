-- Rows and time by class, straight from the kernels of the selection: what the labelled groups must add up to.
-- Inputs: kernels, selected_steps; variables selected_run, selected_rank. Grain: one row.

WITH counted AS (
    SELECT
        kernel_class,
        duplicate_of IS NOT NULL AS is_duplicate,
        stream_id,
        count(*) AS kernels,
        sum(round(duration_us * 1e6)::BIGINT) AS duration_ps
    FROM kernels
    WHERE run_id = getvariable('selected_run')::INTEGER
        AND rank_id = getvariable('selected_rank')::INTEGER
        AND step_id IN (SELECT step_id FROM selected_steps)
    GROUP BY ALL
),
by_class AS (
    SELECT *, CASE WHEN kernel_class IN ('aicore', 'communication') THEN kernel_class ELSE 'other' END AS class
    FROM counted
)
SELECT
    coalesce(sum(kernels) FILTER (is_duplicate), 0)::BIGINT AS duplicate_rows,
    coalesce(sum(kernels) FILTER (NOT is_duplicate AND class = 'aicore'), 0)::BIGINT AS aicore_rows,
    coalesce(sum(duration_ps) FILTER (NOT is_duplicate AND class = 'aicore') / 1e6, 0) AS aicore_us,
    coalesce(sum(kernels) FILTER (NOT is_duplicate AND class = 'communication'), 0)::BIGINT AS communication_rows,
    coalesce(sum(duration_ps) FILTER (NOT is_duplicate AND class = 'communication') / 1e6, 0) AS communication_us,
    coalesce(sum(kernels) FILTER (NOT is_duplicate AND class = 'other'), 0)::BIGINT AS other_engine_rows,
    coalesce(sum(duration_ps) FILTER (NOT is_duplicate AND class = 'other') / 1e6, 0) AS other_engine_us,
    count(DISTINCT stream_id) AS streams
FROM by_class;
