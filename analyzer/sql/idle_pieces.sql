-- Busy pieces of each step, cut at every gap of at least idle_gap_ns: the material of the idle stretches.
-- Inputs: busy_rows, step_neighbours, selection; variable idle_gap_ns. Grain: step, piece (from 0, in time).
-- gap_before_ns of the first and gap_after_ns of the last piece reach to the neighbouring steps.

CREATE OR REPLACE TEMP TABLE idle_pieces AS
WITH numbered AS (
    SELECT
        *,
        count(*) FILTER (start_ns - earlier_end_ns >= getvariable('idle_gap_ns')) OVER (
            PARTITION BY step_id ORDER BY start_ns, end_ns, kernel_id ROWS UNBOUNDED PRECEDING
        ) AS piece
    FROM busy_rows
    WHERE rank_id = getvariable('selected_rank')::INTEGER
),
pieces AS (
    SELECT
        step_id,
        piece,
        min(start_ns) AS start_ns,
        max(end_ns) AS end_ns,
        sum(greatest(0, end_ns - greatest(start_ns, coalesce(earlier_end_ns, start_ns))))::BIGINT AS busy_ns,
        count(*) AS kernels,
        arg_min(kernel_id, kernel_id) AS first_kernel,
        arg_max(kernel_id, (end_ns, kernel_id)) AS last_kernel
    FROM numbered
    GROUP BY step_id, piece
)
SELECT
    p.*,
    lag(p.end_ns) OVER in_step AS before_end_ns,
    lag(p.last_kernel) OVER in_step AS before_kernel,
    greatest(0, p.start_ns - coalesce(lag(p.end_ns) OVER in_step, n.previous_end_ns, p.start_ns)) AS gap_before_ns,
    CASE WHEN lead(p.piece) OVER in_step IS NULL
        THEN greatest(0, coalesce(n.next_start_ns, p.end_ns) - p.end_ns) END AS edge_after_ns,
    false AS absorbed
FROM pieces AS p
LEFT JOIN step_neighbours AS n
    ON n.step_id = p.step_id AND n.rank_id = getvariable('selected_rank')::INTEGER
WINDOW in_step AS (PARTITION BY p.step_id ORDER BY p.piece);

-- Each piece with the number of the stretch on its left: a piece that is not absorbed is a wall between two stretches.
CREATE OR REPLACE TEMP VIEW idle_sides AS
SELECT
    *,
    count(*) FILTER (NOT absorbed) OVER (
        PARTITION BY step_id ORDER BY piece ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS stretch
FROM idle_pieces;

-- How much more idle than busy each stretch is, ns; gaps to the neighbouring steps count for the outer two.
CREATE OR REPLACE TEMP VIEW idle_scores AS
SELECT step_id, stretch, sum(score_ns) AS score_ns
FROM (
    SELECT step_id, stretch, gap_before_ns AS score_ns
    FROM idle_sides
    UNION ALL
    SELECT step_id, stretch, end_ns - start_ns - 2 * busy_ns
    FROM idle_sides
    WHERE absorbed
    UNION ALL
    SELECT step_id, stretch + CASE WHEN absorbed THEN 0 ELSE 1 END, edge_after_ns
    FROM idle_sides
    WHERE edge_after_ns IS NOT NULL
)
GROUP BY step_id, stretch;
