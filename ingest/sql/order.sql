-- Which number does each row get, and which rows say again what another row says?
-- Grain: one row per row of scratch.raw. Inputs: scratch.raw (rows as in the files), raw_keys (class by key).
--
-- AIV-driven collectives are listed twice with identical start and duration: once as the kernel on its stream, once
-- without a stream (formats.md 5). The row with the stream is counted. Both must be communication, so that two
-- different kernels that start together are never merged; the n-th of one kind pairs with the n-th of the other.

CREATE OR REPLACE TEMP TABLE raw_order AS
WITH numbered AS (
    SELECT
        rowid AS row,
        row_number() OVER (ORDER BY start_ns, file, rowid) - 1 AS kernel_id,
        start_ns,
        duration_us,
        stream_id IS NULL AS without_stream,
        signature_key
    FROM scratch.raw
),
collectives AS (
    SELECT
        kernel_id,
        start_ns,
        duration_us,
        without_stream,
        row_number() OVER (PARTITION BY start_ns, duration_us, without_stream ORDER BY kernel_id) AS nth
    FROM numbered
    SEMI JOIN (SELECT signature_key FROM raw_keys WHERE kernel_class = 'communication') USING (signature_key)
),
pairs AS (
    SELECT again.kernel_id, counted.kernel_id AS duplicate_of
    FROM collectives AS again
    JOIN collectives AS counted USING (start_ns, duration_us, nth)
    WHERE again.without_stream AND NOT counted.without_stream
)
SELECT n.row, n.kernel_id, p.duplicate_of
FROM numbered AS n
LEFT JOIN pairs AS p USING (kernel_id);
