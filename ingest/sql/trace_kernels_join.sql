-- Which task of the trace is which kernel of the kernel table? One task per kernel, one kernel per task.
-- Grain: pair. Variables: trace_rank. Inputs: kernels, scratch.t_tasks. Output: trace_task_kernels (temporary).
--
-- By stream, task and start. The kernel table of level 0 has neither stream nor task, collectives never do, and a writer
-- may number streams in another way: there name and start tell. Collectives start up to 1 ns earlier in the kernel table than in the trace, because one
-- writer cuts the digits that the other rounds. The n-th of equal kernels is the n-th of equal tasks, so that nothing
-- is multiplied, whatever the file says.

CREATE OR REPLACE TEMP TABLE trace_kernel_tasks AS
SELECT number, kind, name, pid, tid, stream_id, task_id, start_ns FROM scratch.t_tasks WHERE kind IN ('kernel', 'collective');

CREATE OR REPLACE TEMP TABLE trace_task_kernels AS
WITH rank_kernels AS (
    SELECT kernel_id, name, stream_id, task_id, start_ns FROM kernels WHERE rank_id = getvariable('trace_rank')
),
with_task AS (
    SELECT number, kernel_id
    FROM (
        SELECT *, row_number() OVER (PARTITION BY stream_id, task_id, start_ns ORDER BY kernel_id) AS nth
        FROM rank_kernels WHERE stream_id IS NOT NULL AND task_id IS NOT NULL
    ) AS k
    JOIN (
        SELECT *, row_number() OVER (PARTITION BY stream_id, task_id, start_ns ORDER BY number) AS nth
        FROM trace_kernel_tasks
    ) AS t USING (stream_id, task_id, start_ns, nth)
),
others AS (
    SELECT *, row_number() OVER (PARTITION BY name, start_ns ORDER BY kernel_id) AS nth
    FROM rank_kernels WHERE kernel_id NOT IN (SELECT kernel_id FROM with_task)
),
free_tasks AS (
    SELECT *, row_number() OVER (PARTITION BY name, start_ns ORDER BY number) AS nth
    FROM trace_kernel_tasks WHERE number NOT IN (SELECT number FROM with_task)
),
named AS (
    SELECT t.number, k.kernel_id, abs(t.start_ns - k.start_ns) AS apart
    FROM others AS k
    JOIN (
        SELECT number, name, nth, start_ns, unnest([start_ns - 1, start_ns, start_ns + 1]) AS near_ns FROM free_tasks
    ) AS t ON t.name = k.name AND t.near_ns = k.start_ns AND t.nth = k.nth
    QUALIFY row_number() OVER (PARTITION BY k.kernel_id ORDER BY apart, t.number) = 1
        AND row_number() OVER (PARTITION BY t.number ORDER BY apart, k.kernel_id) = 1
)
SELECT number, kernel_id FROM with_task
UNION ALL
SELECT number, kernel_id FROM named;
