-- Time of each operator type and bound in a step, so that one slow step moves no bar of a picture.
-- Inputs: selected_kernels, selected_signatures, labels, selected_steps. Grain: type and bound.
-- step_us is the median over all selected steps, a step without the pair counting as 0.
WITH by_step AS (
    SELECT
        coalesce(s.type, '(no type)') AS type,
        coalesce(l.bound, 'unknown') AS bound,
        k.step_id,
        count(*) AS kernels,
        fsum(k.duration_us) AS duration_us
    FROM selected_kernels AS k
    LEFT JOIN selected_signatures AS s USING (signature_id)
    LEFT JOIN labels AS l USING (signature_id)
    WHERE k.kernel_class IN ('aicore', 'communication')
    GROUP BY ALL
),
pairs AS (
    SELECT type, bound, sum(kernels)::BIGINT AS kernels, fsum(duration_us) AS total_us
    FROM by_step
    GROUP BY type, bound
)
SELECT
    p.type,
    p.bound,
    p.kernels,
    p.total_us,
    quantile_cont(coalesce(b.duration_us, 0), 0.5) AS step_us
FROM pairs AS p
CROSS JOIN selected_steps AS s
LEFT JOIN by_step AS b ON b.type = p.type AND b.bound = p.bound AND b.step_id = s.step_id
GROUP BY ALL
ORDER BY p.total_us DESC, p.type, p.bound
