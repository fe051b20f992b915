-- Question: which places does each side have, and what stands there?
-- Grain: side, graph, engine class, part, position, type; without a position also per signature.
-- Inputs: _kernels, _signatures, variables position_limit and steps_of (steps per side). Result: _places, _kinds.

-- One row per kind of kernel at a position. A position counts only where it holds its type in at least half of the
-- steps (else the sequence shifted in some step, and positions say nothing), and where there are not too many to align.
CREATE TABLE _kinds AS
WITH counted AS (
    SELECT k.side, k.graph, k.busy, k.part, k.position, coalesce(s.type, '(no type)') AS type, k.signature,
        count(*) AS calls, count(DISTINCT k.step) AS steps
    FROM _kernels AS k LEFT JOIN _signatures AS s USING (signature)
    GROUP BY ALL
),
width AS (
    SELECT side, graph, busy, part, count(DISTINCT position) AS positions FROM counted GROUP BY ALL
),
steady AS (
    SELECT side, graph, busy, part, position, type
    FROM counted
    WHERE position IS NOT NULL
    GROUP BY ALL
    HAVING sum(steps) * 2 >= any_value(getvariable('steps_of')[side + 1])
)
SELECT c.side, c.graph, c.busy, c.part, c.position, c.type, c.signature, c.calls,
    CASE WHEN t.type IS NOT NULL AND w.positions <= getvariable('position_limit') THEN c.position END AS place_position,
    CASE WHEN t.type IS NULL OR w.positions > getvariable('position_limit') THEN c.signature END AS place_signature
FROM counted AS c
JOIN width AS w
    ON w.side = c.side AND w.graph = c.graph AND w.busy = c.busy AND w.part IS NOT DISTINCT FROM c.part
LEFT JOIN steady AS t
    ON t.side = c.side AND t.graph = c.graph AND t.busy = c.busy AND t.part IS NOT DISTINCT FROM c.part
    AND t.position = c.position AND t.type = c.type;

CREATE TABLE _places AS
SELECT
    (row_number() OVER (
        ORDER BY side, graph, busy DESC, part NULLS LAST, place_position NULLS LAST, type, place_signature
    ) - 1)::INTEGER AS place,
    *
FROM (
    SELECT k.side, k.graph, k.busy, k.part, k.place_position, k.type, k.place_signature,
        arg_max(k.signature, (k.calls, k.signature)) AS signature, sum(k.calls) AS calls, min(n.name) AS name
    FROM _kinds AS k
    LEFT JOIN (
        SELECT side, graph, part, position, signature, min(name) AS name FROM _names GROUP BY ALL
    ) AS n
        ON n.side = k.side AND n.graph = k.graph AND n.part IS NOT DISTINCT FROM k.part
        AND n.position IS NOT DISTINCT FROM k.position AND n.signature = k.signature
    GROUP BY ALL
);
