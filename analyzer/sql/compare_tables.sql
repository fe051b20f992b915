-- The scratch tables of one comparison, in memory, both sides together (side 0 = before, 1 = after).
-- Steps are numbered over all repeats of a side; graph numbers the captures that make up one step.

CREATE TABLE _kernels (
    side UTINYINT,
    graph UTINYINT,
    step INTEGER,
    busy BOOLEAN,
    part VARCHAR,
    layer INTEGER,
    position INTEGER,
    signature UBIGINT,
    stream INTEGER,
    duration_us DOUBLE,
    waited_ns BIGINT
);

CREATE TABLE _signatures (
    signature UBIGINT PRIMARY KEY,
    type VARCHAR,
    core VARCHAR,
    kernel_class VARCHAR,
    input_shapes VARCHAR
);

-- One kernel name per kind of kernel at a place: what a person searches for in a timeline.
CREATE TABLE _names (
    side UTINYINT,
    graph UTINYINT,
    part VARCHAR,
    position INTEGER,
    signature UBIGINT,
    name VARCHAR
);

CREATE TABLE _steps (side UTINYINT, graph UTINYINT, step_id INTEGER, step INTEGER);
