"""The ranks of a run side by side: what is said about them, and whether they are of one chip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..roofline.resolve import ResolvedDevice
from .device_choice import resolve_for_rank
from .sqlfiles import rows_of
from .steps import name_steps

if TYPE_CHECKING:
    import duckdb

    from ..ingest.store import RunRecord


_EVIDENCE = (
    *("cube_cores_mhz", "cube_cores_mhz_spread", "aic_mhz", "aiv_mhz", "cube_cores"),
    *("cube_cores_min", "cube_cores_max", "vector_cores_min", "vector_cores_max"),
    *("clock_min_mhz", "clock_max_mhz", "hbm_peak_gb_s"),
)


@dataclass(frozen=True)
class ChipGroup:
    """Ranks whose evidence fits one chip: the chips that fit all of them, and the device as resolved."""

    candidates: frozenset[str]
    ranks: tuple[int, ...]
    device: ResolvedDevice


def named_ranks(ranks: Iterable[int]) -> str:
    """'rank 3' or 'ranks 0-7, 12'."""
    found = sorted(set(ranks))
    return f"rank{'s' if len(found) > 1 else ''} {name_steps(found)}"


def rank_notes(con: duckdb.DuckDBPyConnection, run_id: int) -> list[str]:
    """Notes of the ranks, and the ranks without kernels with what they do hold; ranks that say the same share
    a line.
    """
    said: dict[str, list[int]] = {}
    for row in rows_of(con, "SELECT * FROM ranks WHERE run_id = ? ORDER BY rank_id", [run_id]):
        notes: list[str] = [*(row["notes"] or ())]
        if not row["has_kernels"]:
            notes.append(f"no kernels; {held(row['holds'])}")
        if row["unknown_columns"]:
            notes.append(f"columns not known here: {', '.join(row['unknown_columns'])}")
        for note in dict.fromkeys(notes):
            said.setdefault(note, []).append(row["rank_id"])
    return [f"{named_ranks(ranks)}: {note}" for note, ranks in said.items()]


def held(kinds: Iterable[str] | None) -> str:
    """What the folder of a rank without kernels holds, for a sentence."""
    return f"the folder holds {', '.join(kinds or ()) or 'nothing that is read'}"


def without_kernels(ranks: Iterable[dict[str, Any]]) -> list[str]:
    """The rows of the table ranks that hold no kernels, by what their folders do hold."""
    by_kinds: dict[str, list[int]] = {}
    for rank in ranks:
        if not rank["has_kernels"]:
            by_kinds.setdefault(held(rank["holds"]), []).append(rank["rank_id"])
    return [f"{named_ranks(found)}: no kernels; {kinds}" for kinds, found in by_kinds.items()]


def chips_of_ranks(con: duckdb.DuckDBPyConnection, record: RunRecord) -> list[ChipGroup]:
    """The ranks with kernels by chip; one group unless the evidence of two ranks fits no common chip.

    Ranks without evidence are of no group. A device that the user named holds for all ranks.
    """
    ranks = rows_of(
        con,
        "SELECT *, EXISTS (FROM device_info AS d WHERE d.run_id = r.run_id AND d.rank_id = r.rank_id) "
        "AS stated FROM ranks AS r WHERE run_id = ? AND has_kernels ORDER BY rank_id",
        [record.run_id],
    )
    if record.device_argument is not None:
        ranks = ranks[:1]
    alike: dict[tuple, list[dict[str, Any]]] = {}
    for rank in ranks:
        alike.setdefault(_evidence(rank), []).append(rank)
    groups: list[ChipGroup] = []
    for same in alike.values():
        resolved = resolve_for_rank(con, record, same[0], None, None)
        if resolved.device is not None:
            _add(groups, tuple(rank["rank_id"] for rank in same), resolved)
    return groups


def _evidence(rank: dict[str, Any]) -> tuple:
    """What tells the chip of a rank, to three digits: hundreds of ranks of one job are looked up once."""
    values = (rank[name] for name in _EVIDENCE)
    return (
        rank["rank_id"] if rank["stated"] else None,
        *(None if value is None else float(f"{value:.3g}") for value in values),
    )


def _add(groups: list[ChipGroup], ranks: tuple[int, ...], resolved: ResolvedDevice) -> None:
    """Put ranks to the first group with which they may share a chip; its device is the closest known."""
    fits = frozenset(resolved.candidates or (resolved.soc,))
    for number, group in enumerate(groups):
        if common := group.candidates & fits:
            closest = min((group.device, resolved), key=lambda each: len(each.candidates or (each.soc,)))
            groups[number] = ChipGroup(common, (*group.ranks, *ranks), closest)
            return
    groups.append(ChipGroup(fits, ranks, resolved))


def different_chips(groups: list[ChipGroup]) -> str | None:
    """A sentence that names the ranks and their chips where a run holds several; None where it does not."""
    if len(groups) < 2:
        return None
    each = "; ".join(f"{named_ranks(group.ranks)}: {group.device.soc}" for group in groups)
    return f"the ranks are of different chips: {each}"
