-- Question: which kernels of the selection does a comparison look at, and how long did the device wait before each?
-- Grain: counted kernel. Inputs: selected_kernels. Runs in a session; the result is copied to the scratch database.
-- Where nothing repeats, the place in the step stands for the position: the order of launches is the structure left.

SELECT
    step_id,
    kernel_class IN ('aicore', 'communication') AS busy,
    part,
    layer,
    coalesce(position, CASE WHEN part IS NULL THEN sequence_index END) AS position,
    signature_id AS signature,
    stream_id AS stream,
    duration_us,
    CASE WHEN kernel_class IN ('aicore', 'communication') THEN greatest(0, start_ns - max(
        CASE WHEN kernel_class IN ('aicore', 'communication') THEN end_ns END
    ) OVER earlier) END AS waited_ns
FROM selected_kernels
WINDOW earlier AS (
    PARTITION BY step_id ORDER BY start_ns, end_ns, kernel_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
);
