-- How much time lies above the achievable roof, kernel by kernel: the median would hide the slow half of a group.
-- Inputs: selected_kernels, labels. Grain: signature. A signature without a roof has no row here.

CREATE OR REPLACE TEMP VIEW potential_of_signatures AS
SELECT k.signature_id, sum(round(greatest(0, k.duration_us - l.achievable_us) * 1e6)::BIGINT) / 1e6 AS potential_us
FROM selected_kernels AS k
JOIN labels AS l USING (signature_id)
WHERE l.achievable_us IS NOT NULL
GROUP BY k.signature_id;
