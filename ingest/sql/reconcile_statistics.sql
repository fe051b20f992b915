-- op_statistic.csv against the kernels of one rank. Grain: type and engine. Parameters: $rank.
-- Columns: type, core, calls and us as the exporter sums them (NULL = not listed), calls and us of the kernels (NULL =
-- none). Collectives are left out: the exporter lists them in some versions, and twice in the kernel table.
-- Only types that the export itself names take part, as the file knows no other.

WITH said AS (
    SELECT
        type,
        CASE core WHEN 'HCCL' THEN 'COMMUNICATION' ELSE core END AS core,
        sum(count)::BIGINT AS calls,
        sum(total_us) AS us
    FROM op_statistics
    WHERE rank_id = $rank AND type IS NOT NULL
    GROUP BY ALL
),
held AS (
    SELECT s.type, s.core, count(*) AS calls, sum(k.duration_us) AS us
    FROM kernels AS k
    JOIN signatures AS s USING (signature_id)
    WHERE k.rank_id = $rank AND k.duplicate_of IS NULL AND s.type_source = 'column' AND s.core IS NOT NULL
    GROUP BY ALL
)
SELECT
    coalesce(s.type, h.type) AS type,
    coalesce(s.core, h.core) AS core,
    s.calls,
    s.us,
    h.calls,
    h.us
FROM said AS s
FULL JOIN held AS h ON h.type = s.type AND h.core = s.core
WHERE coalesce(s.core, h.core) <> 'COMMUNICATION'
ORDER BY greatest(coalesce(s.us, 0), coalesce(h.us, 0)) DESC, type, core;
