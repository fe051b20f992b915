-- How long each block of one launch ran, summed up per engine. Grain: engine. Parameters: $run, $operator.

SELECT
    CASE metric WHEN 'aic_time(us)' THEN 'cube' ELSE 'vector' END AS engine,
    count(*) AS blocks,
    min(value) AS shortest_us,
    median(value) AS median_us,
    avg(value) AS mean_us,
    max(value) AS longest_us,
    'block ' || arg_max(block, (value, -block)) || ' ' || arg_max(core, (value, -block)) AS slowest
FROM operator_metrics
WHERE run_id = $run AND operator_id = $operator AND metric IN ('aic_time(us)', 'aiv_time(us)')
GROUP BY metric
ORDER BY engine;
