-- The kernels of a trace that stands alone, in the columns of a kernel table.
-- Grain: task of the kind kernel or collective. Inputs: t_tasks, t_flows, t_ranges, trace_events. Output: raw.
--
-- A step reaches, on the device, from the first to the last task that its operators launched: the host runs ahead, so
-- the times of the host tell nothing.

INSERT INTO raw BY NAME
WITH steps AS (
    SELECT TRY_CAST(regexp_extract(name, '(\d+)$', 1) AS INTEGER) AS step_id, thread_id, start_ns, end_ns
    FROM t_ranges WHERE kind = 'step'
),
launched AS (
    SELECT s.step_id, min(f.to_ns) AS first_ns, max(f.to_ns) AS last_ns
    FROM (SELECT DISTINCT from_ns, to_ns FROM t_flows WHERE category = 'async_npu') AS f
    ASOF JOIN steps AS s ON f.from_ns >= s.start_ns
    WHERE f.from_ns < s.end_ns AND s.step_id IS NOT NULL
    GROUP BY s.step_id
),
kernels AS (
    SELECT t.*, e.file FROM t_tasks AS t JOIN (SELECT rowid AS number, file FROM trace_events) AS e USING (number)
    WHERE kind IN ('kernel', 'collective')
)
SELECT
    k.file,
    k.number AS line,
    k.start_ns,
    k.core,
    k.name,
    (k.end_ns - k.start_ns) / 1000.0 AS duration_us,
    CASE WHEN k.start_ns <= s.last_ns THEN s.step_id END AS step_id,
    TRY_CAST(k.stream_id AS INTEGER) AS stream_id,
    k.task_id, k.model_id, k.context_id,
    k.name AS untyped_name,
    hash(k.core, k.name) AS signature_key
FROM kernels AS k
ASOF LEFT JOIN launched AS s ON k.start_ns >= s.first_ns;
