-- Question: what runs around one call, from the beginning of its window on?
-- Grain: counted kernel. Inputs: selected_kernels, selected_signatures, parameters step, start, end (ns), layer, part,
-- first (position of the window's first kernel; NULL = no window is known), most (rows).

WITH begun AS (
    SELECT least($start::BIGINT, coalesce(min(start_ns) - ($end::BIGINT - $start::BIGINT) // 8, $start::BIGINT))
        AS start_ns
    FROM selected_kernels
    WHERE step_id = $step AND layer IS NOT DISTINCT FROM $layer::INTEGER AND part IS NOT DISTINCT FROM $part::VARCHAR
        AND position = $first::INTEGER
)
SELECT k.kernel_id, k.stream_id, s.type, k.part, k.position, k.start_ns, k.duration_us
FROM selected_kernels AS k
LEFT JOIN selected_signatures AS s USING (signature_id)
WHERE k.step_id = $step AND k.kernel_class IN ('aicore', 'communication')
    AND k.end_ns > (SELECT start_ns FROM begun) AND k.start_ns < $end::BIGINT
ORDER BY k.start_ns, k.kernel_id
LIMIT $most;
