-- What does the trace say around the launches of each kind of kernel, at each of its places?
-- Grain: signature, part, position and text. Inputs: selected_kernels, kernel_origins, torch_ops; parameter signatures.
-- Of the steps one is asked for each place in the sequence: call stacks are long, and those of equal steps are equal.
-- Numbers of layers and experts become #, so that layers of one place have one text. Origins from forward operators are left out:
-- they are those of another kernel.

WITH origins AS (
    SELECT k.signature_id, k.part, k.position, k.sequence_index, min(k.kernel_id) AS kernel_id
    FROM selected_kernels AS k
    SEMI JOIN (
        FROM kernel_origins
        WHERE run_id = getvariable('selected_run')::INTEGER AND rank_id = getvariable('selected_rank')::INTEGER
    ) AS o USING (kernel_id)
    WHERE list_contains($signatures::UBIGINT[], k.signature_id)
    GROUP BY ALL
)
SELECT
    k.signature_id, k.part, k.position,
    regexp_replace(
        regexp_replace(regexp_replace(o.module, '^nn\.Module: ', ''), '_\d+$', ''), '(^|\.)\d+(\.|$)', '\1#\2', 'g'
    ) AS module,
    regexp_replace(
        regexp_replace(o.mstx_range, '(^|[./ ])\d+([./ ]|$)', '\1#\2', 'g'), '(layers?_?)\d+', '\1#', 'gi'
    ) AS mstx_range,
    CASE WHEN o.source_from = 'call stack' THEN coalesce(t.call_stack, o.source) END AS call_stack,
    CASE WHEN o.source_from = 'python function' THEN o.source END AS python_function,
    count(*) AS kernels
FROM origins AS k
JOIN kernel_origins AS o
    ON o.run_id = getvariable('selected_run')::INTEGER AND o.rank_id = getvariable('selected_rank')::INTEGER
    AND o.kernel_id = k.kernel_id
LEFT JOIN torch_ops AS t ON t.run_id = o.run_id AND t.rank_id = o.rank_id AND t.op_id = o.op_id
GROUP BY ALL
ORDER BY kernels DESC, mstx_range, module, call_stack, python_function;
