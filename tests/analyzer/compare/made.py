"""Two small captures, written by hand, to compare."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from npu_roofline.analyzer.layers import assign_layers
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.session import Session
from npu_roofline.analyzer.statistics import insert_statistics

from tests.analyzer.tiny_run import Kernel, session_of

# A signature is its texts: the same in every capture, as in a real database.
_BY_CONTENT = """
CREATE TEMP TABLE renamed AS
SELECT signature_id AS old, hash(concat_ws('|', type, core, input_shapes)) AS new FROM signatures;
UPDATE signatures SET signature_id = (SELECT new FROM renamed WHERE old = signature_id);
UPDATE kernels SET signature_id = (SELECT new FROM renamed WHERE old = signature_id);
INSERT INTO streams (run_id, rank_id, stream_id, is_main)
SELECT 1, rank_id, stream_id, stream_id = 2 FROM kernels GROUP BY rank_id, stream_id;
"""


@dataclass(frozen=True)
class Op:
    """One kernel of a step: what it is, how long it takes and how long the device waits before it, us."""

    type: str
    us: float
    wait: float = 0.0
    core: str | None = "AI_VECTOR_CORE"
    stream: int = 2
    shapes: tuple[str, str, str] | None = None
    at: float | None = None  # start within the step; None = after the op before it
    extra: dict[str, object] = field(default_factory=dict)


def run(
    steps: Iterable[Sequence[Op]],
    name: str = "made",
    options: AnalysisOptions | None = None,
    trace: dict[int, tuple[float, float, float]] | None = None,
) -> Session:
    """A session over steps 1, 2, … of ops in a row; layers and statistics as ingest works them out."""
    kernels, now = [], 0.0
    for number, step in enumerate(steps, 1):
        begin = now
        for op in step:
            start = now + op.wait if op.at is None else begin + op.at
            kernels.append(
                Kernel(
                    start, op.us, op.type, op.core, number, op.stream, shapes=op.shapes, extra=dict(op.extra)
                )
            )
            now = start + op.us if op.at is None else max(now, start + op.us)
        now += 1000.0
    session = session_of(kernels, options=options, trace=trace)
    session.con.execute(_BY_CONTENT)
    assign_layers(session.con)
    session.con.execute("DELETE FROM group_statistics")
    insert_statistics(session.con, "group_statistics", source="kernels")
    session.run = replace(session.run, name=name)
    return session
