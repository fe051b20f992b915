-- What each rank sent to each other over each kind of link. Grain: pair and link. Parameters: $run, $rank.
-- Newer exports sum collectives of a kind up (part total) and show single ones beside it: only the sums count.

SELECT
    src_rank,
    dst_rank,
    coalesce(link, 'not said') AS link,
    sum(size_bytes) AS bytes,
    sum(transit_us) AS transit_us,
    sum(size_bytes) / nullif(sum(transit_us), 0) / 1e3 AS gb_s
FROM communication
WHERE run_id = $run AND rank_id = $rank AND level = 'pair' AND (part IS NULL OR part = 'total')
    AND (step_id IS NULL OR step_id IN (SELECT step_id FROM selected_steps))
GROUP BY ALL
ORDER BY gb_s, src_rank, dst_rank, link;
