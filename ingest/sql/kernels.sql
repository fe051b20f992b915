-- The kernels of one rank from its rows, numbers and signatures.
-- Grain: kernel. Parameters: rank. Inputs: scratch.raw, raw_order, raw_keys.
-- A rank without any step id is one step, 0; otherwise a row without one lies outside every step.

INSERT INTO kernels BY NAME
SELECT
    1 AS run_id,
    $rank AS rank_id,
    o.kernel_id,
    o.duplicate_of,
    k.signature_id,
    k.kernel_class,
    r.start_ns + CAST(round(r.duration_us * 1000) AS BIGINT) AS end_ns,
    CASE WHEN $whole_capture THEN 0 ELSE r.step_id END AS step_id,
    coalesce(r.line, r.rowid - f.first_row + 2) AS file_row,
    r.* EXCLUDE (
        file, line, untyped_name, signature_key, step_id, type, core, hf32,
        input_shapes, input_dtypes, input_formats, output_shapes, output_dtypes, output_formats
    )
FROM scratch.raw AS r
JOIN raw_order AS o ON o.row = r.rowid
JOIN raw_keys AS k USING (signature_key)
JOIN raw_files AS f USING (file);
