-- Step times: wall = union busy + idle over AI-core and communication rows. AI_CPU, DSA and others stay apart.
-- Inputs: selected_kernels_of_ranks, steps; variables idle_gap_ns, busy_ranks (the ranks wanted). Grain: rank, step. Times in ns where the name says so.

-- Rows that count as the device being busy, each with the latest end of all earlier rows of its rank and step.
-- What a row adds to the union is the part of it after that end; what lies between the two is idle.
CREATE OR REPLACE TEMP VIEW busy_rows AS
SELECT
    rank_id, step_id, kernel_id, stream_id, kernel_class, start_ns, end_ns, duration_us,
    round(duration_us * 1e6)::BIGINT AS duration_ps,
    max(end_ns) OVER (
        PARTITION BY rank_id, step_id ORDER BY start_ns, end_ns, kernel_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS earlier_end_ns
FROM selected_kernels_of_ranks
WHERE list_contains(getvariable('busy_ranks'), rank_id) AND kernel_class IN ('aicore', 'communication');

-- A table, because the steps, the idle stretches and the notes all ask for it.
CREATE OR REPLACE TEMP TABLE busy_steps AS
SELECT
    rank_id,
    step_id,
    min(start_ns) AS start_ns,
    max(end_ns) AS end_ns,
    sum(greatest(0, end_ns - greatest(start_ns, coalesce(earlier_end_ns, start_ns))))::BIGINT AS busy_ns,
    coalesce(sum(greatest(0, start_ns - earlier_end_ns)), 0)::BIGINT AS idle_ns,
    coalesce(sum(start_ns - earlier_end_ns) FILTER (
        start_ns > earlier_end_ns AND start_ns - earlier_end_ns < getvariable('idle_gap_ns')
    ), 0)::BIGINT AS short_gaps_ns,
    count(*) AS kernels,
    arg_max(kernel_id, (duration_us, -kernel_id)) AS longest_kernel,
    coalesce(sum(duration_ps) FILTER (kernel_class = 'aicore') / 1e6, 0) AS aicore_us,
    coalesce(sum(duration_ps) FILTER (kernel_class = 'communication') / 1e6, 0) AS communication_us
FROM busy_rows
GROUP BY rank_id, step_id;

CREATE OR REPLACE TEMP VIEW other_engine_steps AS
SELECT rank_id, step_id, sum(round(duration_us * 1e6)::BIGINT) / 1e6 AS other_engine_us
FROM selected_kernels_of_ranks
WHERE list_contains(getvariable('busy_ranks'), rank_id) AND kernel_class NOT IN ('aicore', 'communication')
GROUP BY rank_id, step_id;

-- The end of the last step before, on the same rank, whether it is selected or not: what lies between is no step's.
CREATE OR REPLACE TEMP VIEW step_neighbours AS
SELECT
    rank_id,
    step_id,
    lag(end_ns) OVER in_time AS previous_end_ns,
    lead(start_ns) OVER in_time AS next_start_ns
FROM steps
WHERE run_id = getvariable('selected_run')::INTEGER AND kernels > 0
WINDOW in_time AS (PARTITION BY rank_id ORDER BY start_ns, step_id);

-- All of it side by side, with what step_trace_time.csv says about the same step.
CREATE OR REPLACE TEMP VIEW step_times AS
SELECT
    b.*,
    n.previous_end_ns,
    coalesce(o.other_engine_us, 0) AS other_engine_us,
    s.trace_computing_us,
    s.trace_communication_not_overlapped_us AS trace_communication_us,
    s.trace_free_us
FROM busy_steps AS b
LEFT JOIN other_engine_steps AS o USING (rank_id, step_id)
LEFT JOIN step_neighbours AS n USING (rank_id, step_id)
LEFT JOIN steps AS s
    ON s.run_id = getvariable('selected_run')::INTEGER AND s.rank_id = b.rank_id AND s.step_id = b.step_id
ORDER BY b.rank_id, b.start_ns, b.step_id;
