-- Question: what is a kernel called, for each kind of kernel at each place?
-- Grain: part, position, signature. Inputs: selected_kernels. Runs in a session; copied to the scratch database.

SELECT
    part,
    coalesce(position, CASE WHEN part IS NULL THEN sequence_index END) AS position,
    signature_id AS signature,
    min(name) AS name
FROM selected_kernels
GROUP BY ALL;
