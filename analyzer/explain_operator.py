"""What `msprof op` measured of a kernel, and how evenly its blocks ran: steps of `explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .answer import ExplainStep
from .labels import LabelledGroup
from .operators_measured import EngineBlocks, block_times, operator_bytes, operator_launches

if TYPE_CHECKING:
    from .session import Session

# Every launch is in the database; this many are shown.
_LAUNCHES_SHOWN = 3


def operator_steps(group: LabelledGroup, session: Session) -> list[ExplainStep]:
    """The measured bytes of the kernel and the spread of its blocks; nothing where it was not measured."""
    launches = operator_launches(session, group.signature_id)
    if not launches:
        return []
    steps = [_bytes_step(group, session, launches)]
    for launch in launches[:_LAUNCHES_SHOWN]:
        for engine in block_times(session, launch["operator_id"]):
            steps.append(_block_step(engine, launch))
    return steps


def _bytes_step(group: LabelledGroup, session: Session, launches: list[dict[str, Any]]) -> ExplainStep:
    measured = operator_bytes(session).get(group.signature_id)
    duration_us = group.statistics.median_us
    numbers: dict[str, float | int | str | None] = {
        "measured_alone_us": launches[0]["duration_us"],
        "in_the_run_us": duration_us,
        "read_bytes": launches[0]["read_bytes"],
        "write_bytes": launches[0]["write_bytes"],
    }
    if measured is not None and measured.reaches_hbm:
        numbers["beyond_l2_bytes"] = measured.total
        numbers["l2_hit_rate"] = measured.hit_rate
        if duration_us > 0:
            numbers["hbm_gb_s"] = measured.total / duration_us / 1e3
    alone = "" if launches[0]["rank_id"] is not None else f"matched {launches[0]['matched']}; "
    what = f"{len(launches)} launch{'es' if len(launches) > 1 else ''}, {alone}"
    return ExplainStep(
        "What msprof op measured",
        numbers,
        f"{what}bytes read and written include L2 hits; alone, L2 may hold other data than in the model",
    )


def _block_step(engine: EngineBlocks, launch: dict[str, Any]) -> ExplainStep:
    if engine.blocks == 1:
        verdict = "one block: nothing to spread"
    else:
        verdict = (
            f"the slowest, {engine.slowest}, ran {engine.imbalance * 100:.0f} % longer than the mean of "
            f"{engine.blocks} {engine.engine} blocks"
        )
    return ExplainStep(
        f"How even the {engine.engine} blocks were",
        {
            "blocks": engine.blocks,
            "shortest_us": engine.shortest_us,
            "median_us": engine.median_us,
            "longest_us": engine.longest_us,
            "operator_us": launch["duration_us"],
        },
        verdict,
    )
