-- What was tried: a tuning is the search for one prefetch, an experiment one measured pair of runs (or a quoted gain).
-- Neither table has a run_id: ledgers outlive the runs that they name. A run that is replaced or removed later leaves
-- its experiments with their numbers; run_hashes tell that the capture is no longer the one that was compared.

CREATE TABLE tunings (
    tuning_id INTEGER,
    name VARCHAR,
    started_at TIMESTAMP,
    target VARCHAR,
    target_text VARCHAR,
    run_name VARCHAR,
    run_hash VARCHAR,
    weight_bytes BIGINT,
    first_bytes BIGINT,
    most_bytes BIGINT,
    dependency VARCHAR,
    dependencies VARCHAR[],
    others VARCHAR[],
    keeps VARCHAR
);
COMMENT ON TABLE tunings IS 'One search for the size and place of one prefetch: npu-roofline tune start.';
COMMENT ON COLUMN tunings.tuning_id IS 'Number of the tuning in this database, from 1, never used twice.';
COMMENT ON COLUMN tunings.name IS 'Name of the tuning, unique in this database; --tuning takes it.';
COMMENT ON COLUMN tunings.started_at IS 'When tune start was called, UTC.';
COMMENT ON COLUMN tunings.target IS 'What is prefetched: the id of a candidate (c-...), or the name that was given.';
COMMENT ON COLUMN tunings.target_text IS 'The target for people: its operator type and shapes; NULL = named by hand.';
COMMENT ON COLUMN tunings.run_name IS 'The run whose candidate it is; NULL = named by hand.';
COMMENT ON COLUMN tunings.run_hash IS 'runs.content_hash of that run when the tuning began; NULL = named by hand.';
COMMENT ON COLUMN tunings.weight_bytes IS 'Storage bytes of the weight, > 0; NULL = not known, then no rung of the ladder has a size.';
COMMENT ON COLUMN tunings.first_bytes IS 'max_size to try first, bytes, > 0; NULL = not known.';
COMMENT ON COLUMN tunings.most_bytes IS 'Largest max_size that L2 and the cap allow, bytes, > 0; NULL = no limit is known.';
COMMENT ON COLUMN tunings.dependency IS 'The kernel whose output starts the prefetch at first; NULL = not known.';
COMMENT ON COLUMN tunings.dependencies IS 'Other safe dependencies to try once the size is settled, in this order.';
COMMENT ON COLUMN tunings.others IS 'Ids of the other candidates of the run, largest saving first: what may be stacked at last.';
COMMENT ON COLUMN tunings.keeps IS 'Name of the tuning whose result stays in place during this one (stacking); NULL = none.';

CREATE TABLE experiments (
    tuning_id INTEGER,
    experiment_id INTEGER,
    recorded_at TIMESTAMP,
    dependency VARCHAR,
    max_size BIGINT,
    coefficient DOUBLE,
    before VARCHAR,
    after VARCHAR,
    run_names VARCHAR[],
    run_hashes VARCHAR[],
    outcome VARCHAR,
    gain_of VARCHAR,
    gain_pct DOUBLE,
    gain_low_pct DOUBLE,
    gain_high_pct DOUBLE,
    floor_pct DOUBLE,
    target_pct DOUBLE,
    window_pct DOUBLE,
    facts VARCHAR[],
    note VARCHAR
);
COMMENT ON TABLE experiments IS 'One experiment of a tuning: npu-roofline tune record.';
COMMENT ON COLUMN experiments.tuning_id IS 'The tuning; tunings.tuning_id.';
COMMENT ON COLUMN experiments.experiment_id IS 'Number of the experiment in its tuning, from 1.';
COMMENT ON COLUMN experiments.recorded_at IS 'When tune record was called, UTC.';
COMMENT ON COLUMN experiments.dependency IS 'The kernel whose output starts the prefetch; NULL = not known.';
COMMENT ON COLUMN experiments.max_size IS 'Bytes that the prefetch asked for, > 0.';
COMMENT ON COLUMN experiments.coefficient IS 'max_size / weight bytes, 0..1; NULL = the size of the weight is not known.';
COMMENT ON COLUMN experiments.before IS 'The side before, as compare takes it; NULL = a gain without captures.';
COMMENT ON COLUMN experiments.after IS 'The side after, as compare takes it; NULL = a gain without captures.';
COMMENT ON COLUMN experiments.run_names IS 'Names of the runs that were compared; empty for a gain without captures.';
COMMENT ON COLUMN experiments.run_hashes IS 'runs.content_hash of these runs when they were compared, in the same order.';
COMMENT ON COLUMN experiments.outcome IS 'Verdict of the comparison: accepted, rejected, inconclusive; headline = a gain without captures.';
COMMENT ON COLUMN experiments.gain_of IS 'What the gain was measured on: target and window, step, or headline.';
COMMENT ON COLUMN experiments.gain_pct IS 'Time saved per step, % of the step before; positive = faster; NULL = not measured.';
COMMENT ON COLUMN experiments.gain_low_pct IS 'Lower end of the 95 % interval of gain_pct; NULL = not known.';
COMMENT ON COLUMN experiments.gain_high_pct IS 'Upper end of the 95 % interval of gain_pct; NULL = not known.';
COMMENT ON COLUMN experiments.floor_pct IS 'Smallest gain, and smallest difference to another experiment, that counts, %, >= 0.';
COMMENT ON COLUMN experiments.target_pct IS 'Change of the target per call, %, negative = faster; NULL = not measured.';
COMMENT ON COLUMN experiments.window_pct IS 'Change of its window per call, %, negative = faster; NULL = not measured.';
COMMENT ON COLUMN experiments.facts IS 'What the comparison established, as the rules for the next action name it (target_faster, window_worse, ...).';
COMMENT ON COLUMN experiments.note IS 'What a reader must know beside the numbers; NULL = nothing.';
