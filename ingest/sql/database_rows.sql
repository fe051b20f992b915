-- Every row of a profiler database that is a kernel, with what speaks against it.
-- Grain: one row per task of COMPUTE_TASK_INFO and COMMUNICATION_SCHEDULE_TASK_INFO (one task may have run several
-- times), per row of them without a task, and per row of COMMUNICATION_OP.
-- Inputs: db_<table> (as in the file), db_task_kinds (engine by kind of task), db_texts (STRING_IDS; a text that says
-- "not recorded" is NULL). Parameters: $missing (the id that stands for none), $start_limit_ns, $duration_limit_ns.

CREATE OR REPLACE TABLE db_rows AS
WITH listed AS (
    SELECT
        'COMPUTE_TASK_INFO' AS source, task, name, type, core, block, mix_block, op_state, hf32,
        input_shapes, input_dtypes, input_formats, output_shapes, output_dtypes, output_formats, wait_ns
    FROM db_compute_task_info
    UNION ALL BY NAME
    SELECT 'COMMUNICATION_SCHEDULE_TASK_INFO' AS source, task, name, type, core
    FROM db_communication_schedule_task_info
    WHERE task NOT IN (SELECT task FROM db_compute_task_info WHERE task IS NOT NULL)
),
tasks AS (
    SELECT *, count(*) OVER (PARTITION BY task) AS uses
    FROM db_task
    WHERE task IN (SELECT task FROM listed)
),
-- A collective names the launch that it came from, and so the device and graph of its tasks, if they are of one.
launches AS (
    SELECT
        connection,
        CASE WHEN count(DISTINCT device_id) = 1 THEN min(device_id) END AS device_id,
        CASE WHEN count(DISTINCT model_id) = 1 THEN min(model_id) END AS model_id
    FROM db_task
    WHERE connection IN (SELECT connection FROM db_communication_op)
    GROUP BY connection
),
all_rows AS (
    SELECT
        l.*, t.task IS NOT NULL AS has_task, t.uses, t.start_ns, t.end_ns, t.device_id, t.model_id, t.kind,
        nullif(t.stream_id, $missing) AS stream_id,
        nullif(t.task_id, $missing) AS task_id,
        nullif(t.context_id, $missing) AS context_id
    FROM listed AS l
    LEFT JOIN tasks AS t USING (task)
    UNION ALL BY NAME
    SELECT
        'COMMUNICATION_OP' AS source, op AS task, name, type, wait_ns, true AS has_task, start_ns, end_ns,
        coalesce(c.device_id, launches.device_id) AS device_id, launches.model_id
    FROM db_communication_op AS c
    LEFT JOIN launches USING (connection)
),
texts AS (
    SELECT
        r.source, r.task, r.has_task, r.uses, r.start_ns, r.end_ns, r.wait_ns, r.device_id, r.model_id, r.stream_id,
        r.task_id, r.context_id, r.block, r.mix_block,
        n.value AS name,
        r.name IS NOT NULL AND n.id IS NULL AS name_lost,
        t.value AS type,
        CASE
            WHEN r.source = 'COMMUNICATION_OP' THEN 'COMMUNICATION'
            WHEN r.source = 'COMMUNICATION_SCHEDULE_TASK_INFO' THEN CASE WHEN c.value = 'AI_CPU' THEN c.value ELSE 'COMMUNICATION' END
            WHEN c.value IS NOT NULL THEN c.value
            ELSE coalesce(any_kind.core, with_context.core)
        END AS core,
        op_state.value AS op_state, hf32.value AS hf32,
        i1.value AS input_shapes, i2.value AS input_dtypes, i3.value AS input_formats,
        o1.value AS output_shapes, o2.value AS output_dtypes, o3.value AS output_formats,
        (r.type IS NOT NULL AND t.id IS NULL)::INTEGER + (r.core IS NOT NULL AND c.id IS NULL)::INTEGER
            + (r.input_shapes IS NOT NULL AND i1.id IS NULL)::INTEGER
            + (r.input_dtypes IS NOT NULL AND i2.id IS NULL)::INTEGER
            + (r.output_shapes IS NOT NULL AND o1.id IS NULL)::INTEGER
            + (r.output_dtypes IS NOT NULL AND o2.id IS NULL)::INTEGER AS texts_lost,
        row_number() OVER (PARTITION BY r.source, r.task, r.start_ns, r.end_ns) AS copy
    FROM all_rows AS r
    LEFT JOIN db_texts AS n ON n.id = r.name
    LEFT JOIN db_texts AS t ON t.id = r.type
    LEFT JOIN db_texts AS c ON c.id = r.core
    LEFT JOIN db_texts AS k ON k.id = r.kind
    LEFT JOIN db_texts AS op_state ON op_state.id = r.op_state
    LEFT JOIN db_texts AS hf32 ON hf32.id = r.hf32
    LEFT JOIN db_texts AS i1 ON i1.id = r.input_shapes
    LEFT JOIN db_texts AS i2 ON i2.id = r.input_dtypes
    LEFT JOIN db_texts AS i3 ON i3.id = r.input_formats
    LEFT JOIN db_texts AS o1 ON o1.id = r.output_shapes
    LEFT JOIN db_texts AS o2 ON o2.id = r.output_dtypes
    LEFT JOIN db_texts AS o3 ON o3.id = r.output_formats
    LEFT JOIN db_task_kinds AS any_kind ON any_kind.kind = k.value AND any_kind.context IS NULL
    LEFT JOIN db_task_kinds AS with_context
        ON with_context.kind = k.value AND with_context.context = (r.context_id IS NOT NULL)
)
SELECT
    *,
    CASE
        WHEN NOT has_task THEN 'no row of TASK has its globalTaskId'
        WHEN name_lost THEN 'its name is not in STRING_IDS'
        WHEN start_ns IS NULL THEN 'no start time'
        WHEN start_ns < 0 THEN 'start time is negative'
        WHEN start_ns > $start_limit_ns THEN 'start time is beyond the clock (2^63 ns)'
        WHEN end_ns IS NULL THEN 'no end time'
        WHEN end_ns < start_ns THEN 'end precedes start'
        WHEN end_ns - start_ns > $duration_limit_ns THEN 'duration is longer than any kernel'
        WHEN task IS NOT NULL AND copy > 1 THEN 'listed twice'
    END AS reason
FROM texts;
