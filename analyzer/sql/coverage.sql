-- Rows and time by class, straight from the kernels of the selection: what the labelled groups must add up to.
-- Inputs: kernels, selected_steps; variables selected_run, selected_rank. Grain: one row.

WITH rows_of_selection AS (
    SELECT
        round(duration_us * 1e6)::BIGINT AS duration_ps,
        stream_id,
        duplicate_of IS NOT NULL AS is_duplicate,
        CASE WHEN kernel_class IN ('aicore', 'communication') THEN kernel_class ELSE 'other' END AS class
    FROM kernels
    WHERE run_id = getvariable('selected_run')::INTEGER
        AND rank_id = getvariable('selected_rank')::INTEGER
        AND step_id IN (SELECT step_id FROM selected_steps)
)
SELECT
    count(*) FILTER (is_duplicate) AS duplicate_rows,
    count(*) FILTER (NOT is_duplicate AND class = 'aicore') AS aicore_rows,
    coalesce(sum(duration_ps) FILTER (NOT is_duplicate AND class = 'aicore') / 1e6, 0) AS aicore_us,
    count(*) FILTER (NOT is_duplicate AND class = 'communication') AS communication_rows,
    coalesce(sum(duration_ps) FILTER (NOT is_duplicate AND class = 'communication') / 1e6, 0) AS communication_us,
    count(*) FILTER (NOT is_duplicate AND class = 'other') AS other_engine_rows,
    coalesce(sum(duration_ps) FILTER (NOT is_duplicate AND class = 'other') / 1e6, 0) AS other_engine_us,
    count(DISTINCT stream_id) AS streams
FROM rows_of_selection;
