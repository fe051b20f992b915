-- What a question looks at: one run, one rank, some of its steps. Everything here is temporary and private to a session.
-- Inputs: variables selected_run and selected_rank, table selected_steps. Grain: as in the tables below the views.
-- Durations are summed as whole picoseconds wherever they are summed: a sum of doubles depends on the order in which
-- threads meet the rows, and the same question would be answered with other last digits.
-- The run and rank are variables and not a join, so that they reach the scan of kernels as constants.

CREATE TEMP TABLE selection AS
SELECT getvariable('selected_run')::INTEGER AS run_id, getvariable('selected_rank')::INTEGER AS rank_id;

CREATE TEMP TABLE selected_steps (step_id INTEGER);
INSERT INTO selected_steps SELECT unnest(getvariable('selected_step_ids')::INTEGER[]);

-- Counted kernels of the selection: every question about time reads this.
CREATE TEMP VIEW selected_kernels AS
SELECT *
FROM kernels
WHERE run_id = getvariable('selected_run')::INTEGER
    AND rank_id = getvariable('selected_rank')::INTEGER
    AND duplicate_of IS NULL
    AND step_id IN (SELECT step_id FROM selected_steps);

-- The same steps on every rank of the run.
CREATE TEMP VIEW selected_kernels_of_ranks AS
SELECT *
FROM kernels
WHERE run_id = getvariable('selected_run')::INTEGER
    AND duplicate_of IS NULL
    AND step_id IN (SELECT step_id FROM selected_steps);

CREATE TEMP VIEW selected_signatures AS
SELECT *
FROM signatures
WHERE run_id = getvariable('selected_run')::INTEGER;
