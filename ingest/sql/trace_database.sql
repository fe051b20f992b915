-- What a profiler database says of the host and of every task, in the tables that a trace gives.
-- Grain: operator, call, range, task, arrow. Inputs: db_<table> as in the file, db_texts (STRING_IDS), db_api_types.
-- /*kind*/ and /*core*/ are the rules of trace.toml.
--
-- A connection id joins a call to its tasks, an enqueue to its dequeue, and a forward to its backward operator; the
-- numbers of these kinds may coincide. A backward pair has sequence numbers, the call that launches has none.

CREATE OR REPLACE TABLE t_calls AS
WITH stacks AS (
    SELECT c.id, string_agg(t.value, e'\n' ORDER BY c.depth) AS call_stack
    FROM db_pytorch_callchains AS c JOIN db_texts AS t ON t.id = c.frame GROUP BY c.id
)
SELECT
    row_number() OVER (ORDER BY coalesce(a.start_ns, TRY_CAST(a.start_text AS BIGINT)), a.rowid) - 1 AS op_id,
    coalesce(e.name, 'op') AS type, n.value AS name, a.thread & 4294967295 AS thread_id,
    coalesce(a.start_ns, TRY_CAST(a.start_text AS BIGINT)) AS start_ns,
    coalesce(a.end_ns, TRY_CAST(a.end_text AS BIGINT)) AS end_ns,
    replace(d.value, e'\r\n', '') AS dims_text, replace(t.value, e'\r\n', '') AS types_text,
    s.call_stack, CASE WHEN a.sequence >= 0 THEN a.sequence END AS sequence_number,
    nullif(a.forward_thread, 0) AS forward_thread_id, a.connection
FROM (SELECT *, rowid FROM db_pytorch_api) AS a
LEFT JOIN db_texts AS n ON n.id = a.name
LEFT JOIN db_texts AS d ON d.id = a.dims
LEFT JOIN db_texts AS t ON t.id = a.types
LEFT JOIN db_api_types AS e ON e.id = a.type
LEFT JOIN stacks AS s ON s.id = a.stack
WHERE coalesce(a.start_ns, TRY_CAST(a.start_text AS BIGINT)) >= 0
    AND coalesce(a.end_ns, TRY_CAST(a.end_text AS BIGINT)) >= coalesce(a.start_ns, TRY_CAST(a.start_text AS BIGINT));

-- Writers of early 2025 put the shapes into the column of the types and the types into that of the shapes: shapes are
-- digits, commas and semicolons alone.
CREATE OR REPLACE TABLE t_ops AS
WITH swapped AS (
    SELECT coalesce(count(*) FILTER (regexp_matches(types_text, '^[0-9,; ]*[0-9]'))
        > count(*) FILTER (regexp_matches(dims_text, '^[0-9,; ]*[0-9]')), false) AS yes
    FROM t_calls
)
SELECT op_id, name, thread_id, start_ns, end_ns, CASE WHEN yes THEN types_text ELSE dims_text END AS input_dims,
    CASE WHEN yes THEN dims_text ELSE types_text END AS input_types, call_stack, sequence_number, forward_thread_id
FROM t_calls CROSS JOIN swapped WHERE type = 'op' AND name IS NOT NULL;

CREATE OR REPLACE TABLE t_apis AS
SELECT e.name AS level, n.value AS name, a.thread & 4294967295 AS thread_id, a.start_ns, a.end_ns,
    nullif(a.connection, 4294967295) AS connection_id
FROM db_cann_api AS a
LEFT JOIN db_texts AS n ON n.id = a.name
LEFT JOIN db_api_types AS e ON e.id = a.type
WHERE a.start_ns >= 0 AND a.end_ns >= a.start_ns;

CREATE OR REPLACE TABLE t_ranges AS
SELECT CASE WHEN type = 'queue' THEN 'queue' WHEN type = 'mstx' THEN 'mstx' WHEN starts_with(name, 'ProfilerStep#') THEN 'step'
        WHEN starts_with(name, 'nn.Module: ') THEN 'module' ELSE 'python' END AS kind,
    name, thread_id, start_ns, end_ns
FROM t_calls WHERE name IS NOT NULL AND (type <> 'op' OR starts_with(name, 'ProfilerStep#'))
UNION ALL
SELECT 'mstx', n.value, m.thread & 4294967295, m.start_ns, m.end_ns
FROM db_mstx_events AS m JOIN db_texts AS n ON n.id = m.name
WHERE m.start_ns >= 0 AND m.end_ns >= m.start_ns;

CREATE OR REPLACE TABLE t_tasks AS
WITH named AS (
    SELECT task, any_value(name) AS name FROM db_compute_task_info GROUP BY task
    UNION ALL
    SELECT task, any_value(name) FROM db_communication_schedule_task_info
    WHERE task NOT IN (SELECT task FROM db_compute_task_info WHERE task IS NOT NULL) GROUP BY task
),
sizes AS (
    SELECT task, max(bytes) AS bytes FROM db_communication_task_info GROUP BY task
),
tasks AS (
    SELECT row_number() OVER (ORDER BY t.start_ns, t.rowid) - 1 AS number, n.name IS NOT NULL AS is_kernel,
        coalesce(x.value, k.value) AS name, k.value AS task_type, 0 AS pid,
        nullif(t.stream_id, 4294967295) AS tid, t.start_ns, t.end_ns, nullif(t.stream_id, 4294967295) AS stream_id,
        nullif(t.task_id, 4294967295) AS task_id, nullif(t.context_id, 4294967295) AS context_id, t.model_id,
        nullif(t.connection, 4294967295) AS connection_id, CASE WHEN s.bytes >= 0 THEN s.bytes END AS bytes
    FROM (SELECT *, rowid FROM db_task) AS t
    LEFT JOIN named AS n USING (task)
    LEFT JOIN sizes AS s USING (task)
    LEFT JOIN db_texts AS x ON x.id = n.name
    LEFT JOIN db_texts AS k ON k.id = t.kind
    WHERE t.start_ns >= 0 AND t.end_ns >= t.start_ns
),
collectives AS (
    SELECT (SELECT count(*) FROM db_task) + row_number() OVER (ORDER BY c.start_ns, c.op) AS number, x.value AS name,
        NULL AS task_type, 1 AS pid, 0 AS tid, c.start_ns, c.end_ns, c.connection AS connection_id
    FROM db_communication_op AS c JOIN db_texts AS x ON x.id = c.name
    WHERE c.start_ns >= 0 AND c.end_ns >= c.start_ns
)
SELECT * EXCLUDE (is_kernel), CASE WHEN is_kernel THEN 'kernel' WHEN /*kind*/ = 'kernel' THEN 'kernel_part' ELSE /*kind*/ END AS kind, NULL::VARCHAR AS direction,
    CASE WHEN is_kernel THEN /*core*/ END AS core
FROM tasks
UNION ALL BY NAME
SELECT *, 'collective' AS kind, 'COMMUNICATION' AS core FROM collectives;

CREATE OR REPLACE TABLE t_flows AS
WITH uses AS (
    SELECT DISTINCT c.connection AS id, a.type, a.op_id, a.thread_id, a.start_ns, a.sequence_number
    FROM t_calls AS a JOIN db_connection_ids AS c ON c.id = a.connection
),
counted AS (
    SELECT *, count(*) FILTER (sequence_number IS NOT NULL) OVER (PARTITION BY id, type) AS with_sequence,
        row_number() OVER (PARTITION BY id, type, sequence_number IS NULL ORDER BY start_ns, op_id) AS nth
    FROM uses
),
pairs AS (
    SELECT CASE WHEN f.type = 'queue' THEN 'async_task_queue' ELSE 'fwdbwd' END AS category, f.id::VARCHAR AS flow_id,
        f.thread_id AS from_thread_id, f.start_ns AS from_ns, 0 AS to_process_id, b.thread_id AS to_thread_id,
        b.start_ns AS to_ns
    FROM counted AS f
    JOIN counted AS b ON b.id = f.id AND b.type = f.type AND b.nth = 2
        AND (b.sequence_number IS NULL) = (f.sequence_number IS NULL)
    WHERE f.nth = 1 AND (f.type = 'queue' OR (f.type = 'op' AND f.sequence_number IS NOT NULL))
),
launchers AS (
    SELECT id, thread_id, start_ns FROM counted
    WHERE type = 'op' AND (sequence_number IS NULL OR with_sequence = 1)
    QUALIFY row_number() OVER (PARTITION BY id ORDER BY sequence_number IS NULL DESC, start_ns) = 1
)
FROM pairs
UNION ALL
SELECT 'async_npu', l.id::VARCHAR, l.thread_id, l.start_ns, t.pid, t.tid, t.start_ns
FROM launchers AS l JOIN t_tasks AS t ON t.connection_id = l.id
UNION ALL
SELECT 'HostToDevice', a.connection_id::VARCHAR, a.thread_id, a.start_ns, t.pid, t.tid, t.start_ns
FROM (
    FROM t_apis WHERE connection_id IS NOT NULL
    QUALIFY row_number() OVER (PARTITION BY connection_id ORDER BY start_ns) = 1
) AS a
JOIN t_tasks AS t USING (connection_id);

DROP TABLE t_calls;
