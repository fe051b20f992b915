-- Question: which call of a place is of middle length?
-- Grain: one kernel. Inputs: selected_kernels, parameters part, position, signature. The earliest of equals.

WITH calls AS (
    SELECT kernel_id, step_id, layer, start_ns, end_ns, duration_us
    FROM selected_kernels
    WHERE signature_id = $signature AND part IS NOT DISTINCT FROM $part::VARCHAR
        AND ($position::INTEGER IS NULL
            OR coalesce(position, CASE WHEN part IS NULL THEN sequence_index END) = $position::INTEGER)
)
SELECT *
FROM calls
ORDER BY abs(duration_us - (SELECT median(duration_us) FROM calls)), start_ns, kernel_id
LIMIT 1;
