-- What each kind of link moved for the collectives of the selection. Grain: kind of link. Parameters: $run, $rank.
-- Collectives outside steps count where the whole capture is one step.

SELECT
    link AS key,
    count(*) AS collectives,
    sum(size_bytes) AS bytes,
    sum(transit_us) AS transit_us,
    sum(size_bytes) / nullif(sum(transit_us), 0) / 1e3 AS gb_s
FROM communication
WHERE run_id = $run AND rank_id = $rank AND level = 'link' AND link IS NOT NULL
    AND (step_id IS NULL OR step_id IN (SELECT step_id FROM selected_steps))
GROUP BY link
ORDER BY bytes DESC, key;
