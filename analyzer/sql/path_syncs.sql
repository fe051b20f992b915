-- Question: when did the host wait for the device?
-- Grain: call. Variables: selected_run, selected_rank, path_first_ns, path_last_ns.

SELECT start_ns, end_ns
FROM api_calls
WHERE run_id = getvariable('selected_run') AND rank_id = getvariable('selected_rank')
    AND end_ns >= getvariable('path_first_ns') AND start_ns <= getvariable('path_last_ns')
    AND regexp_matches(name, '(?i)synchronize|memcopysync|aclrtMemcpy$')
ORDER BY end_ns, start_ns;
