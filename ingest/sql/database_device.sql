-- Keeps the tasks of one device of a database that holds several: what is of another device is deleted from the copies.
-- Inputs: db_task, db_compute_task_info, db_communication_schedule_task_info, db_communication_op. Variables: own_device,
-- first_device (whether rows of which no device is known are kept: those of the lowest device of the file).
-- A collective is of the device that it names, else of the one that its launch ran tasks on.

CREATE OR REPLACE TABLE db_own_tasks AS
SELECT task FROM db_task WHERE device_id = getvariable('own_device')::BIGINT OR (device_id IS NULL AND getvariable('first_device')::BOOLEAN);

CREATE OR REPLACE TABLE db_other_tasks AS
SELECT task FROM db_task WHERE NOT coalesce(device_id = getvariable('own_device')::BIGINT, getvariable('first_device')::BOOLEAN)
EXCEPT SELECT task FROM db_own_tasks;

CREATE OR REPLACE TABLE db_launches AS
SELECT connection, min(device_id) AS device_id
FROM db_task GROUP BY connection HAVING count(DISTINCT device_id) = 1;

DELETE FROM db_compute_task_info
WHERE task IN (SELECT task FROM db_other_tasks)
    OR (NOT getvariable('first_device')::BOOLEAN AND (task IS NULL OR task NOT IN (SELECT task FROM db_own_tasks WHERE task IS NOT NULL)));

DELETE FROM db_communication_schedule_task_info
WHERE task IN (SELECT task FROM db_other_tasks)
    OR (NOT getvariable('first_device')::BOOLEAN AND (task IS NULL OR task NOT IN (SELECT task FROM db_own_tasks WHERE task IS NOT NULL)));

DELETE FROM db_communication_op AS c
WHERE NOT coalesce(
    coalesce(c.device_id, (SELECT l.device_id FROM db_launches AS l WHERE l.connection = c.connection)) = getvariable('own_device')::BIGINT,
    getvariable('first_device')::BOOLEAN
);

DELETE FROM db_task WHERE NOT coalesce(device_id = getvariable('own_device')::BIGINT, getvariable('first_device')::BOOLEAN);
