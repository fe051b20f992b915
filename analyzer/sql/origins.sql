-- Which operator and source line launched the kernels of each kind, most often?
-- Grain: signature, and signature with part and position. Inputs: selected_kernels, kernel_origins, torch_ops.
-- Kernels of which the trace does not say it are counted in occurrences, not in known.

WITH traced AS (
    SELECT k.signature_id, k.part, k.position, o.torch_op, o.source, o.source_from, o.module, o.launch_op, o.op_id
    FROM selected_kernels AS k
    LEFT JOIN (
        FROM kernel_origins
        WHERE run_id = getvariable('selected_run')::INTEGER AND rank_id = getvariable('selected_rank')::INTEGER
    ) AS o USING (kernel_id)
),
grouped AS (
    SELECT
        signature_id, part, position, grouping(part, position) AS level, torch_op, source,
        count(*) AS kernels, mode(source_from) AS source_from, mode(module) AS module, mode(launch_op) AS launch_op,
        min(op_id) AS op_id
    FROM traced
    GROUP BY GROUPING SETS ((signature_id, torch_op, source), (signature_id, part, position, torch_op, source))
),
ranked AS (
    SELECT
        *,
        sum(kernels) OVER place AS occurrences,
        sum(kernels) FILTER (torch_op IS NOT NULL) OVER place AS known,
        count(*) FILTER (torch_op IS NOT NULL) OVER place AS origins,
        row_number() OVER (
            PARTITION BY signature_id, part, position, level ORDER BY torch_op IS NULL, kernels DESC, torch_op, source
        ) AS nth
    FROM grouped
    WINDOW place AS (PARTITION BY signature_id, part, position, level)
)
SELECT
    r.signature_id, r.part, r.position, r.torch_op, r.launch_op, r.module, r.source, r.source_from, t.input_dims,
    r.kernels::BIGINT AS kernels, r.known::BIGINT AS known, r.occurrences::BIGINT AS occurrences, r.origins
FROM ranked AS r
LEFT JOIN torch_ops AS t
    ON t.run_id = getvariable('selected_run')::INTEGER AND t.rank_id = getvariable('selected_rank')::INTEGER
    AND t.op_id = r.op_id
WHERE r.nth = 1 AND r.torch_op IS NOT NULL AND (r.level > 0 OR r.part IS NOT NULL);
