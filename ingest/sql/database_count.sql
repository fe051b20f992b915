-- How many kernels a profiler database lists, counted without the joins that read them. One number. Inputs: db_<table>.

WITH listed AS (
    SELECT task FROM db_compute_task_info
    UNION ALL
    SELECT task FROM db_communication_schedule_task_info
    WHERE task NOT IN (SELECT task FROM db_compute_task_info WHERE task IS NOT NULL)
),
runs AS (SELECT task, count(*) AS runs FROM db_task GROUP BY task)
SELECT
    (SELECT coalesce(sum(coalesce(r.runs, 1)), 0) FROM listed AS l LEFT JOIN runs AS r USING (task))
    + (SELECT count(*) FROM db_communication_op);
