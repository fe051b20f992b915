"""Links and collectives of the selected rank, from what the profiler itself measured of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..roofline.device import Device, all_devices
from ..roofline.links import link_figure
from ..units import format_share
from .answer_links import CollectiveRow, LinkPairRow, LinkRow
from .sqlfiles import sql

if TYPE_CHECKING:
    from .session import Session

_ENGINE = "the engine behind HCCS, PCIE and SIO: the same bytes again"
# A transfer of a few kB is latency, not bandwidth, so pairs that moved less are in no comparison.
_BYTES_THAT_COUNT = 1e6


def link_rows(session: Session) -> tuple[LinkRow, ...]:
    """One row per kind of link that moved anything, by falling bytes; empty without communication.json."""
    rows = session.rows(sql("links.sql"), _selected(session))
    return tuple(_row(session, row) for row in rows)


def link_extras(session: Session) -> dict[str, Any]:
    """`pairs` (slowest first) and `collectives` (longest first) beside the links."""
    pairs = session.rows(sql("link_pairs.sql"), _selected(session))
    collectives = session.rows(sql("link_collectives.sql"), _selected(session))
    return {
        "pairs": tuple(LinkPairRow(**row) for row in pairs),
        "collectives": tuple(CollectiveRow(**row) for row in collectives),
    }


def link_notes(session: Session) -> list[str]:
    """What must be said beside the links: that nothing was recorded, or where the time really goes."""
    rows = session.rows(sql("link_collectives.sql"), _selected(session))
    if not rows:
        return [
            "no collective was measured: communication.json comes with profiler_level=Level1 or above "
            "(database export: CommAnalyzerTime of analysis.db)"
        ]
    elapse = sum(row["elapse_us"] for row in rows)
    notes = []
    if elapse > 0:
        parts = [
            f"{format_share(sum(row[name] for row in rows) / elapse)} {word}"
            for name, word in (("transit_us", "moving data"), ("wait_us", "waiting for other ranks"))
        ]
        notes.append(
            f"of the collectives' time the profiler counts {', '.join(parts)}; the rest is neither, such as "
            "reductions and launches"
        )
    return [*notes, *_uneven(session)]


def _uneven(session: Session) -> list[str]:
    """Pairs of one kind of link that are much slower than the others."""
    notes = []
    pairs = [
        row
        for row in session.rows(sql("link_pairs.sql"), _selected(session))
        if row["bytes"] >= _BYTES_THAT_COUNT and row["gb_s"] and row["src_rank"] != row["dst_rank"]
    ]
    for link in dict.fromkeys(row["link"] for row in pairs):
        same = [row for row in pairs if row["link"] == link]  # slowest first
        slow, fast = same[0], same[-1]
        if slow["gb_s"] < session.options.slow_link_share * fast["gb_s"]:
            notes.append(
                f"{link} from rank {slow['src_rank']} to {slow['dst_rank']} moves {slow['gb_s']:.1f} GB/s, "
                f"the fastest pair {fast['gb_s']:.1f}"
            )
    return notes


def _row(session: Session, row: dict[str, Any]) -> LinkRow:
    limit, figure = _figure(session, row["key"])
    rate = row["gb_s"]
    return LinkRow(
        **row,
        device_gb_s=limit,
        device_figure=figure,
        of_device=None if limit is None or rate is None else rate / limit,
        note=_ENGINE if row["key"] == "SDMA" else "",
    )


def _figure(session: Session, link: str) -> tuple[float | None, str | None]:
    """(GB/s, where that is from); chips that fit the capture may have the same roofs and other links."""
    found = {
        (figure[0], figure[1].value, figure[1].source): device.soc
        for device in _candidates(session)
        if (figure := link_figure(device, link)) is not None
    }
    said = [f"{name} of {soc}, {value:g} GB/s ({source})" for (name, value, source), soc in found.items()]
    values = {value for _, value, _ in found}
    if len(values) == 1:
        return values.pop(), said[0]
    if said:
        return None, f"{' or '.join(said)}: name the chip with --device"
    return None, None


def _candidates(session: Session) -> list[Device]:
    """Every chip that the capture may be of; the one at hand when it is the user's own file."""
    known = {device.soc: device for device in all_devices()}
    found = [known[name] for name in session.device.candidates if name in known]
    at_hand = session.device.device
    return found or ([] if at_hand is None else [at_hand])


def _selected(session: Session) -> dict[str, int]:
    return {"run": session.run.run_id, "rank": session.rank_id}
