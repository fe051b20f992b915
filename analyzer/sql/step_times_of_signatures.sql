-- Time of each signature in a step: the median over all selected steps, a step without it counting as 0.
-- Inputs: selected_kernels, selected_steps. Grain: signature.
-- The steps that lack a signature are zeros at the head of its sorted times; they are counted, not joined: the
-- product of all signatures and all steps would be far larger than either.

WITH by_step AS (
    SELECT signature_id, step_id, sum(round(duration_us * 1e6)::BIGINT) / 1e6 AS duration_us
    FROM selected_kernels
    WHERE kernel_class IN ('aicore', 'communication')
    GROUP BY signature_id, step_id
),
sorted AS (
    SELECT
        signature_id,
        list_sort(list(duration_us)) AS times_us,
        (SELECT count(*) FROM selected_steps) AS steps,
        (SELECT count(*) FROM selected_steps) - count(*) AS absent
    FROM by_step
    GROUP BY signature_id
)
SELECT
    signature_id,
    -- Lists count from 1; an index below 1 is one of the zeros and reads as NULL.
    (
        coalesce(CASE WHEN (steps + 1) // 2 > absent THEN times_us[(steps + 1) // 2 - absent] END, 0)
        + coalesce(CASE WHEN steps // 2 + 1 > absent THEN times_us[steps // 2 + 1 - absent] END, 0)
    ) / 2 AS step_us
FROM sorted
