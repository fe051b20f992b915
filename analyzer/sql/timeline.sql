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
        row_number() OVER (ORDER BY duration_us DESC, kernel_id) AS place
    FROM selected_kernels
    WHERE step_id = $step_id
),
capped AS (
    SELECT
        *,
        count(*) FILTER (place > $most) OVER () AS left_out,
        coalesce(fsum(duration_us) FILTER (place > $most) OVER (), 0) AS left_out_us
    FROM ranked
    QUALIFY place <= $most
)
SELECT
    c.kernel_id,
    c.name,
    coalesce(g.type, '(no type)') AS type,
    c.signature_id,
    c.kernel_class,
    c.stream_id,
    c.layer,
    c.position,
    (c.start_ns - $step_start_ns) / 1000.0 AS start_us,
    c.duration_us,
    c.left_out,
    c.left_out_us
FROM capped AS c
LEFT JOIN selected_signatures AS g USING (signature_id)
ORDER BY c.start_ns, c.kernel_id
