-- Question: what does each pair of places cost per call and per step, and how much does that scatter?
-- Inputs: _kernels, _kinds, _places, _pairs (place, pair). Grain as said at each table.

CREATE TABLE _paired AS
SELECT k.side, k.step, p.pair, n.place, k.layer, k.stream, k.duration_us, k.waited_ns
FROM _kernels AS k
JOIN (
    SELECT i.side, i.graph, i.busy, i.part, i.position, i.signature, o.place
    FROM _kinds AS i
    JOIN _places AS o
        ON o.side = i.side AND o.graph = i.graph AND o.busy = i.busy AND o.part IS NOT DISTINCT FROM i.part
        AND o.type = i.type AND o.place_position IS NOT DISTINCT FROM i.place_position
        AND o.place_signature IS NOT DISTINCT FROM i.place_signature
) AS n
    ON n.side = k.side AND n.graph = k.graph AND n.busy = k.busy AND n.part IS NOT DISTINCT FROM k.part
    AND n.position IS NOT DISTINCT FROM k.position AND n.signature = k.signature
JOIN _pairs AS p ON p.place = n.place;

-- side, pair, step. Sums are of whole picoseconds and nanoseconds: the same in whatever order rows are added.
CREATE TABLE _pair_steps AS
SELECT side, pair, step, count(*) AS calls,
    sum(round(duration_us * 1e6)::BIGINT)::BIGINT / 1e6 AS total_us,
    coalesce(median(nullif(duration_us, 0)), 0) AS median_us, -- 0 was not measured
    coalesce(sum(waited_ns), 0)::BIGINT / 1e3 AS waited_us,
    avg(duration_us) AS level_us, median(duration_us) AS middle_us
FROM _paired
GROUP BY side, pair, step;

-- side, pair: over all calls of all steps
CREATE TABLE _pair_calls AS
SELECT side, pair, count(*) AS calls, coalesce(median(nullif(duration_us, 0)), 0) AS median_us, mode(stream) AS stream,
    count(DISTINCT layer) AS layers, min(layer) AS first_layer, avg(duration_us) AS level_us,
    median(duration_us) AS middle_us
FROM _paired
GROUP BY side, pair;

-- side, pair: scatter of one call after its own place's level and its step's level are taken out (two-way table of
-- places and steps; exact where each place is called once per step). Degrees of freedom (places - 1)(steps - 1).
-- For the robust scatter all levels are medians: one call of 14 ms would move the mean of its step and of its place.
CREATE TABLE _pair_scatter AS
WITH rows_of AS (
    SELECT side, pair, place, layer, avg(duration_us) AS level_us, median(duration_us) AS middle_us
    FROM _paired GROUP BY ALL
),
sizes AS (
    SELECT r.side, r.pair, r.places, c.steps, a.level_us, a.middle_us, a.calls
    FROM (SELECT side, pair, count(*) AS places FROM rows_of GROUP BY ALL) AS r
    JOIN (SELECT side, pair, count(*) AS steps FROM _pair_steps GROUP BY ALL) AS c USING (side, pair)
    JOIN _pair_calls AS a USING (side, pair)
    WHERE r.places >= getvariable('scatter_places') AND c.steps >= 2
)
SELECT k.side, k.pair,
    (z.places - 1) * (z.steps - 1) AS degrees,
    sqrt(sum((k.duration_us - r.level_us - c.level_us + z.level_us) ** 2) / ((z.places - 1) * (z.steps - 1)))
        AS scatter_us,
    1.4826 * median(abs(k.duration_us - r.middle_us - c.middle_us + z.middle_us))
        * sqrt(z.calls / ((z.places - 1) * (z.steps - 1))) AS scatter_robust_us
FROM _paired AS k
JOIN sizes AS z USING (side, pair)
JOIN rows_of AS r
    ON r.side = k.side AND r.pair = k.pair AND r.place = k.place AND r.layer IS NOT DISTINCT FROM k.layer
JOIN _pair_steps AS c ON c.side = k.side AND c.pair = k.pair AND c.step = k.step
GROUP BY k.side, k.pair, z.places, z.steps, z.calls;
