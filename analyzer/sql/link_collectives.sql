-- Time of the collectives of the selection by kind. Grain: type of collective. Parameters: $run, $rank.
-- A name is hcom_allReduce__586_0_1: what it does, its group, its number.

SELECT
    regexp_extract(name, '^(hcom_)?([A-Za-z]+)', 2) AS type,
    coalesce(kind, 'collective') AS kind,
    count(*) AS count,
    coalesce(sum(elapse_us), 0) AS elapse_us,
    coalesce(sum(transit_us), 0) AS transit_us,
    coalesce(sum(wait_us), 0) AS wait_us,
    coalesce(sum(synchronization_us), 0) AS synchronization_us,
    coalesce(sum(idle_us), 0) AS idle_us
FROM communication
WHERE run_id = $run AND rank_id = $rank AND level = 'operator'
    AND (step_id IS NULL OR step_id IN (SELECT step_id FROM selected_steps))
GROUP BY ALL
ORDER BY elapse_us DESC, type, kind;
