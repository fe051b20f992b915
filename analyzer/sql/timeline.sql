-- The kernels of one step for a picture: the longest $most of them, in start order.
-- Grain: one kernel. Times are us from $step_start_ns; rows of other engines may begin before it.
-- `left_out` and `left_out_us` say, on every row, what the cap leaves out.
WITH ranked AS (
    SELECT
        kernel_id,
        name,
        signature_id,
        kernel_class,
        stream_id,
        layer,
        position,
        start_ns,
        duration_us,
        row_number() OVER (ORDER BY duration_us DESC, kernel_id) AS place,
        count(*) OVER () AS all_kernels,
        sum(duration_us) OVER () AS all_us
    FROM selected_kernels
    WHERE step_id = $step_id
)
SELECT
    r.kernel_id,
    r.name,
    coalesce(g.type, '(no type)') AS type,
    r.signature_id,
    r.kernel_class,
    r.stream_id,
    r.layer,
    r.position,
    (r.start_ns - $step_start_ns) / 1000.0 AS start_us,
    r.duration_us,
    r.all_kernels - count(*) OVER () AS left_out,
    r.all_us - sum(r.duration_us) OVER () AS left_out_us
FROM ranked AS r
LEFT JOIN selected_signatures AS g USING (signature_id)
WHERE r.place <= $most
ORDER BY r.start_ns, r.kernel_id
