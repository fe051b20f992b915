-- Rows (M) of the matmuls of each step: the smallest M up to which half of the matmul time is spent.
-- Time-weighted, so that one short lm_head over the last token does not make a prefill step look like decode.
-- GroupedMatmul is left out: its M is a padded capacity. Inputs: selected_kernels, labels. Grain: step.

WITH by_rows AS (
    SELECT k.step_id, l.m, sum(round(k.duration_us * 1e6)::BIGINT) / 1e6 AS duration_us
    FROM selected_kernels AS k
    JOIN labels AS l USING (signature_id)
    WHERE l.family = 'matmul' AND l.m IS NOT NULL
    GROUP BY k.step_id, l.m
),
running AS (
    SELECT
        *,
        sum(duration_us) OVER (PARTITION BY step_id ORDER BY m) AS up_to_us,
        sum(duration_us) OVER (PARTITION BY step_id) AS all_us
    FROM by_rows
)
SELECT step_id, min(m) AS m
FROM running
WHERE up_to_us >= all_us / 2
GROUP BY step_id;
