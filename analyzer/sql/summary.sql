-- Time of each key (bound, type or stream) over the selected steps: total, per class, and per step.
-- Inputs: selected_kernels, selected_signatures, labels, selected_steps; variable summary_by. Grain: key.
-- per_step_us is the median over all selected steps, a step without the key counting as 0.

WITH keyed AS (
    SELECT
        CASE getvariable('summary_by')
            WHEN 'bound' THEN coalesce(l.bound || '/' || l.limiter, 'unknown/not labelled')
            WHEN 'type' THEN coalesce(s.type, '(no type)')
            WHEN 'stream' THEN coalesce('stream ' || k.stream_id, 'no stream (collectives listed by name)')
        END AS key,
        k.step_id,
        k.signature_id,
        k.kernel_class,
        round(k.duration_us * 1e6)::BIGINT AS duration_ps,
        -- greatest() would skip a NULL and answer 0 where no roof is known.
        CASE WHEN l.achievable_us IS NOT NULL
            THEN round(greatest(0, k.duration_us - l.achievable_us) * 1e6)::BIGINT END AS potential_ps
    FROM selected_kernels AS k
    LEFT JOIN selected_signatures AS s USING (signature_id)
    LEFT JOIN labels AS l USING (signature_id)
    WHERE k.kernel_class IN ('aicore', 'communication')
),
by_step AS (
    SELECT key, step_id, sum(duration_ps) / 1e6 AS duration_us
    FROM keyed
    GROUP BY key, step_id
),
medians AS (
    SELECT k.key, quantile_cont(coalesce(b.duration_us, 0), 0.5) AS step_us
    FROM (SELECT DISTINCT key FROM by_step) AS k
    CROSS JOIN selected_steps AS s
    LEFT JOIN by_step AS b ON b.key = k.key AND b.step_id = s.step_id
    GROUP BY k.key
)
SELECT
    key,
    count(*) AS kernels,
    sum(duration_ps) / 1e6 AS total_us,
    m.step_us,
    coalesce(sum(duration_ps) FILTER (kernel_class = 'aicore') / 1e6, 0) AS aicore_us,
    coalesce(sum(duration_ps) FILTER (kernel_class = 'communication') / 1e6, 0) AS communication_us,
    sum(potential_ps) / 1e6 AS potential_us,
    -- A sum over part of the kernels says so: what the rest could win is not known, not 0.
    CASE WHEN count(potential_ps) > 0 AND count(potential_ps) < count(*) FILTER (kernel_class = 'aicore')
        THEN 'potential leaves out ' || (count(*) FILTER (kernel_class = 'aicore') - count(potential_ps))
            || ' kernels whose roof is not known'
        ELSE '' END AS note
FROM keyed
JOIN medians AS m USING (key)
GROUP BY key, m.step_us
ORDER BY m.step_us DESC, total_us DESC, key;
