-- The kinds of kernel that an operator of msprof op may be: same name or type, on the same kind of core.
-- Grain: signature. Parameters: $name, $type, $core.
-- Columns: signature_id, whether the name is the same, median duration us, most frequent block.

WITH candidates AS (
    SELECT signature_id, type = $type AS same_type FROM signatures
    WHERE kernel_class = 'aicore' AND ($core IS NULL OR core IS NULL OR core = $core)
),
groups AS (
    SELECT
        k.signature_id,
        bool_or(k.name = $name) AS same_name,
        bool_or(c.same_type) AS same_type,
        median(k.duration_us) AS median_us,
        mode(k.block) AS block
    FROM kernels AS k
    JOIN candidates AS c USING (signature_id)
    WHERE k.duplicate_of IS NULL AND (k.name = $name OR c.same_type)
    GROUP BY k.signature_id
)
SELECT signature_id, same_name, median_us, block
FROM groups
ORDER BY signature_id;
