-- The places that kernels of the selection stand at, numbered: a signature at a position, by falling time, then the
-- signatures of which some kernels have no position. Inputs: selected_statistics, selected_signatures.
-- Grain: signature, part, position; part and position NULL = the whole signature.

CREATE OR REPLACE TEMP TABLE _places AS
WITH labelled AS (
    SELECT s.signature_id, s.part, s.position, s.count, s.total_us
    FROM selected_statistics AS s
    JOIN selected_signatures AS g USING (signature_id)
    WHERE g.kernel_class IN ('aicore', 'communication')
),
placed AS (
    SELECT signature_id, sum(count) AS count
    FROM labelled
    WHERE part IS NOT NULL
    GROUP BY signature_id
),
wanted AS (
    SELECT l.*
    FROM labelled AS l
    LEFT JOIN placed AS p USING (signature_id)
    WHERE l.part IS NOT NULL
        OR (l.position IS NULL AND coalesce(p.count, 0) < l.count)
)
SELECT
    signature_id,
    part,
    position,
    (row_number() OVER (ORDER BY part IS NULL, total_us DESC, signature_id, part, position) - 1)::INTEGER AS place
FROM wanted;
