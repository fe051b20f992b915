-- Which operator, module and source line launched each kernel?
-- Grain: kernel that an arrow (async_npu) leads to. Variables: trace_rank, trace_operator, trace_framework (patterns).
-- Inputs: scratch.t_flows, t_ops, t_ranges, trace_kernel_tasks, trace_task_kernels.
--
-- An arrow starts at the operator that called the API (aclnnAddmm); around it, on the same thread, stand the operators
-- that the user called (aten::linear), modules and python functions. Events of a thread are nested, so what stands
-- around a moment is found by depth: how many ranges are open then, and which was the last to open at that depth.
-- Every table that is joined has one row per key, so that a strange file cannot multiply rows.

-- One launch per kernel.
CREATE OR REPLACE TEMP TABLE trace_launches AS
WITH heads AS (
    SELECT to_process_id AS pid, to_thread_id AS tid, to_ns AS start_ns, min(from_ns) AS at_ns,
        arg_min(from_thread_id, from_ns) AS thread_id
    FROM scratch.t_flows WHERE category = 'async_npu' GROUP BY ALL
)
SELECT k.kernel_id, h.thread_id, h.at_ns
FROM heads AS h
JOIN trace_kernel_tasks AS t USING (pid, tid, start_ns)
JOIN trace_task_kernels AS k USING (number)
QUALIFY row_number() OVER (PARTITION BY k.kernel_id ORDER BY t.number) = 1;

CREATE OR REPLACE TEMP TABLE trace_points AS
SELECT thread_id, at_ns FROM trace_launches WHERE thread_id IS NOT NULL GROUP BY ALL;

-- The innermost of the operators that start at one moment.
CREATE OR REPLACE TEMP TABLE trace_starts AS
SELECT thread_id, start_ns AS at_ns, arg_min(op_id, end_ns - start_ns) AS op_id, min(end_ns) AS end_ns,
    bool_or(call_stack IS NOT NULL) AS has_stack
FROM scratch.t_ops GROUP BY ALL;

-- Operators of the dispatcher that stand in no other one.
CREATE OR REPLACE TEMP TABLE trace_outer AS
SELECT thread_id, start_ns, end_ns, op_id, name
FROM scratch.t_ops WHERE regexp_full_match(name, getvariable('trace_operator'))
QUALIFY start_ns >= coalesce(max(end_ns) OVER (
    PARTITION BY thread_id ORDER BY start_ns, end_ns DESC, op_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
), start_ns);

-- Python functions tell the source only of launches without a call stack.
CREATE OR REPLACE TEMP TABLE trace_bare_threads AS
SELECT DISTINCT thread_id FROM trace_points ANTI JOIN (FROM trace_starts WHERE has_stack) USING (thread_id, at_ns);

CREATE OR REPLACE TEMP TABLE trace_kept_ranges AS
SELECT kind, name, thread_id, start_ns, end_ns FROM scratch.t_ranges WHERE kind IN ('module', 'mstx') AND end_ns > start_ns
UNION ALL
SELECT kind, name, thread_id, start_ns, end_ns
FROM (FROM scratch.t_ranges WHERE kind = 'python' AND end_ns > start_ns AND thread_id IN (FROM trace_bare_threads))
SEMI JOIN (
    SELECT name FROM (SELECT DISTINCT name FROM scratch.t_ranges WHERE kind = 'python')
    WHERE NOT regexp_full_match(name, getvariable('trace_framework'))
) USING (name);

CREATE OR REPLACE TEMP TABLE trace_depths AS
SELECT kind, thread_id, at_ns, step, name, end_ns,
    sum(step) OVER (PARTITION BY kind, thread_id ORDER BY at_ns, step, end_ns DESC ROWS UNBOUNDED PRECEDING) AS depth,
    row_number() OVER (PARTITION BY kind, thread_id ORDER BY at_ns, step, end_ns DESC) AS place
FROM (
    SELECT kind, thread_id, start_ns AS at_ns, 1 AS step, name, end_ns FROM trace_kept_ranges
    UNION ALL
    SELECT kind, thread_id, end_ns, -1, NULL, end_ns FROM trace_kept_ranges
);

CREATE OR REPLACE TEMP TABLE trace_around AS
WITH kinds AS (
    SELECT DISTINCT kind FROM trace_kept_ranges
),
depth_after AS (
    SELECT kind, thread_id, at_ns, arg_max(depth, place) AS depth FROM trace_depths GROUP BY ALL
),
depth_at AS (
    SELECT p.kind, p.thread_id, p.at_ns, d.depth
    FROM (FROM trace_points CROSS JOIN kinds) AS p
    ASOF JOIN depth_after AS d ON d.kind = p.kind AND d.thread_id = p.thread_id AND p.at_ns >= d.at_ns
    WHERE d.depth > 0
),
opened AS (
    SELECT kind, thread_id, depth, at_ns, arg_max(name, place) AS name, arg_max(end_ns, place) AS end_ns
    FROM trace_depths WHERE step = 1 GROUP BY ALL
)
SELECT p.kind, p.thread_id, p.at_ns, o.name
FROM depth_at AS p
ASOF JOIN opened AS o
    ON o.kind = p.kind AND o.thread_id = p.thread_id AND o.depth = p.depth AND p.at_ns >= o.at_ns
WHERE o.end_ns > p.at_ns;

-- A backward operator runs on a thread without Python; its forward operator has the call stack.
CREATE OR REPLACE TEMP TABLE trace_backward AS
SELECT b.thread_id, b.at_ns AS start_ns, b.end_ns, any_value(f.op_id) AS forward_op_id
FROM scratch.t_flows AS a
JOIN trace_starts AS b ON b.thread_id = a.to_thread_id AND b.at_ns = a.to_ns
JOIN trace_starts AS f ON f.thread_id = a.from_thread_id AND f.at_ns = a.from_ns
WHERE a.category = 'fwdbwd'
GROUP BY ALL;

CREATE OR REPLACE TEMP TABLE trace_sites AS
SELECT
    p.thread_id, p.at_ns, s.op_id AS launch_op_id,
    CASE WHEN o.end_ns > p.at_ns THEN o.op_id END AS outer_op_id,
    CASE WHEN b.end_ns > p.at_ns THEN b.forward_op_id END AS forward_op_id
FROM trace_points AS p
LEFT JOIN trace_starts AS s USING (thread_id, at_ns)
ASOF LEFT JOIN trace_outer AS o ON o.thread_id = p.thread_id AND p.at_ns >= o.start_ns
ASOF LEFT JOIN trace_backward AS b ON b.thread_id = p.thread_id AND p.at_ns >= b.start_ns;

CREATE OR REPLACE TEMP TABLE trace_op_texts AS
SELECT op_id, name, call_stack FROM scratch.t_ops
WHERE op_id IN (
    SELECT launch_op_id FROM trace_sites UNION SELECT outer_op_id FROM trace_sites
    UNION SELECT forward_op_id FROM trace_sites
);

CREATE OR REPLACE TEMP TABLE trace_stacks AS
SELECT call_stack, trim(list_filter(
    string_split(call_stack, e'\n'), lambda frame: NOT regexp_full_match(trim(frame), getvariable('trace_framework'))
)[1]) AS source
FROM (SELECT DISTINCT call_stack FROM trace_op_texts WHERE call_stack IS NOT NULL);

INSERT INTO kernel_origins
WITH around AS (
    SELECT thread_id, at_ns, any_value(name) FILTER (kind = 'module') AS module,
        any_value(name) FILTER (kind = 'mstx') AS mstx_range, any_value(name) FILTER (kind = 'python') AS function
    FROM trace_around GROUP BY ALL
),
found AS (
    SELECT l.kernel_id, coalesce(s.outer_op_id, s.launch_op_id) AS op_id, coalesce(o.name, n.name) AS torch_op,
        n.name AS launch_op, a.module, a.mstx_range,
        coalesce(own.source, outer_stack.source) AS stack_source, a.function, forward.source AS forward_source
    FROM trace_launches AS l
    LEFT JOIN trace_sites AS s USING (thread_id, at_ns)
    LEFT JOIN around AS a USING (thread_id, at_ns)
    LEFT JOIN trace_op_texts AS n ON n.op_id = s.launch_op_id
    LEFT JOIN trace_op_texts AS o ON o.op_id = s.outer_op_id
    LEFT JOIN trace_op_texts AS w ON w.op_id = s.forward_op_id
    LEFT JOIN trace_stacks AS own ON own.call_stack = n.call_stack
    LEFT JOIN trace_stacks AS outer_stack ON outer_stack.call_stack = o.call_stack
    LEFT JOIN trace_stacks AS forward ON forward.call_stack = w.call_stack
)
SELECT 1, getvariable('trace_rank'), kernel_id, op_id, torch_op, launch_op, module, mstx_range,
    coalesce(stack_source, function, forward_source) AS source,
    CASE WHEN stack_source IS NOT NULL THEN 'call stack' WHEN function IS NOT NULL THEN 'python function'
        WHEN forward_source IS NOT NULL THEN 'forward operator' END AS source_from
FROM found
WHERE torch_op IS NOT NULL OR module IS NOT NULL OR mstx_range IS NOT NULL;
