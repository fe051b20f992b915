"""communication.json, communication_matrix.json, CommAnalyzer* of analysis.db -> the table communication."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import NpuRooflineError
from .database import insert_rows
from .grouping import FoundFile
from .options import IngestOptions
from .probe import fingerprint
from .run_info import read_json_object
from .sqlite_source import SqliteSource, open_sqlite

if TYPE_CHECKING:
    import duckdb

COMMUNICATION_KINDS = ("communication", "communication_matrix")
# The exporter's own sums over the collectives of a step.
_TOTAL = "Total Op Info"
_STEP = re.compile(r"(?:step)?_?(\d{1,9})")
_PAIR = re.compile(r"(\d{1,9})-(\d{1,9})")
_PART = re.compile(r"(.+)-(total|top\d+|middle|bottom\d+)")
_COLUMNS = (
    *("level", "step_id", "kind", "name", "group_name", "part", "link", "src_rank", "dst_rank", "start_ns"),
    *("elapse_us", "transit_us", "wait_us", "synchronization_us", "idle_us", "size_bytes", "gb_s"),
    *("large_packet_ratio", "source"),
)
_TIMES = {
    "elapse_us": ("Elapse Time(ms)", "elapse_time"),
    "transit_us": ("Transit Time(ms)", "transit_time"),
    "wait_us": ("Wait Time(ms)", "wait_time"),
    "synchronization_us": ("Synchronization Time(ms)", "synchronization_time"),
    "idle_us": ("Idle Time(ms)", "idle_time"),
}


@dataclass
class CommunicationFile:
    """The rows of one file by column; `skipped` entries are not what they should be, `problem` spoils all."""

    file: FoundFile
    rows: list[dict[str, Any]] = field(default_factory=list)
    sha256: str | None = None
    skipped: int = 0
    problem: str | None = None


def read_communication(file: FoundFile, options: IngestOptions) -> CommunicationFile:
    """Read one file by its kind; damage is counted or named, never raised."""
    found = CommunicationFile(file)
    try:
        found.sha256 = fingerprint(file.path).sha256
        if file.kind == "analysis_database":
            with open_sqlite(file.path, options) as source:
                _read_database(found, source)
            return found
        data, found.problem = read_json_object(file.path, options)
    except NpuRooflineError as error:
        found.problem = error.message
        return found
    read = _operator if file.kind == "communication" else _pairs
    for step_id, kind, name, content in _entries(found, data or {}):
        read(found, {"step_id": step_id, "kind": kind, **_named(name)}, content)
    return found


def add_communication(con: duckdb.DuckDBPyConnection, rank_id: int, found: CommunicationFile) -> None:
    """Write the rows of one rank."""
    source = found.file.kind
    rows = [{**row, "source": source} for row in found.rows]
    insert_rows(con, "communication", [(1, rank_id, *(row.get(name) for name in _COLUMNS)) for row in rows])


def _entries(
    found: CommunicationFile, data: Mapping[str, Any]
) -> Iterator[tuple[int | None, str, str, Mapping[str, Any]]]:
    """(step, kind, name, content) of every collective; the exporter's sums are left out."""
    for step, kinds in data.items():
        match = _STEP.fullmatch(step)
        for kind, entries in kinds.items() if isinstance(kinds, dict) else ():
            if not isinstance(entries, dict):
                found.skipped += 1
                continue
            for name, content in entries.items():
                if name == _TOTAL:
                    continue
                if isinstance(content, dict):
                    yield (int(match[1]) if match else None), kind, name, content
                else:
                    found.skipped += 1


def _named(name: str) -> dict[str, str | None]:
    """`allreduce-total@175`: what it is, which part of it is shown, in which group."""
    bare, _, group = name.rpartition("@") if "@" in name else (name, "", "")
    match = _PART.fullmatch(bare)
    return {
        "name": match[1] if match else bare,
        "part": match[2] if match else None,
        "group_name": group or None,
    }


def _operator(found: CommunicationFile, own: dict[str, Any], content: Mapping[str, Any]) -> None:
    """One collective: a row of its times, and one for each link that moved anything."""
    times = content.get("Communication Time Info")
    links = content.get("Communication Bandwidth Info")
    if not isinstance(times, dict) or not isinstance(links, dict):
        found.skipped += 1
        return
    found.rows.append({**own, "level": "operator", **_times(times, 0)})
    for link, moved in links.items():
        if isinstance(moved, dict):
            _add_link(found, {**own, "level": "link", "link": link}, moved)
        else:
            found.skipped += 1


def _pairs(found: CommunicationFile, own: dict[str, Any], content: Mapping[str, Any]) -> None:
    """What every pair of ranks exchanged in one collective."""
    for pair, moved in content.items():
        match = _PAIR.fullmatch(pair)
        if match is None or not isinstance(moved, dict):
            found.skipped += 1
            continue
        ranks = {"src_rank": int(match[1]), "dst_rank": int(match[2])}
        link = moved.get("Transport Type")
        kind = link if isinstance(link, str) and link else None
        _add_link(found, {**own, "level": "pair", "link": kind, **ranks}, moved)


def _add_link(found: CommunicationFile, own: dict[str, Any], moved: Mapping[str, Any]) -> None:
    """One row of moved bytes; nothing for a link that moved none."""
    size = _number(moved.get("Transit Size(MB)"))
    if size is None:
        found.skipped += 1
    elif size > 0:
        found.rows.append(
            {
                **own,
                "size_bytes": size * 1e6,
                "transit_us": _scaled(moved.get("Transit Time(ms)"), 1000),
                "gb_s": _number(moved.get("Bandwidth(GB/s)")),
                "large_packet_ratio": _number(moved.get("Large Packet Ratio")),
            }
        )


def _times(cells: Mapping[str, Any], spelling: int) -> dict[str, Any]:
    start = _number(cells.get(("Start Timestamp(us)", "start_timestamp")[spelling]))
    found: dict[str, Any] = {
        name: _scaled(cells.get(spellings[spelling]), 1000) for name, spellings in _TIMES.items()
    }
    usable = start is not None and 0 < start < 9.2e15
    return {"start_ns": round(start * 1000) if usable and start is not None else None, **found}


def _read_database(found: CommunicationFile, source: SqliteSource) -> None:
    """The same three levels from the tables of analysis.db; link rows repeat per packet size there."""
    for cells in _table(source, "CommAnalyzerTime"):
        found.rows.append({**_own(cells), "level": "operator", **_times(cells, 1)})
    seen = set()
    for cells in _table(source, "CommAnalyzerBandwidth"):
        own = {**_own(cells), "level": "link", "link": _text(cells.get("transport_type"))}
        key = tuple(own.items())
        if key not in seen:
            seen.add(key)
            _add_link(found, own, _spelled(cells))
    for cells in _table(source, "CommAnalyzerMatrix"):
        ranks = {f"{side}_rank": _rank(cells.get(f"{side}_rank")) for side in ("src", "dst")}
        if None in ranks.values():
            found.skipped += 1
            continue
        own = {**_own(cells), "level": "pair", "link": _text(cells.get("transport_type")), **ranks}
        _add_link(found, own, _spelled(cells))


def _table(source: SqliteSource, name: str) -> Iterator[dict[str, Any]]:
    """The rows of a table by lower-case column name; nothing when it is not there."""
    found = source.tables.get(name.upper())
    if found is not None:
        for cells in source.rows(f'SELECT * FROM "{found[0]}"'):
            yield dict(zip((column.lower() for column in found[1]), cells, strict=True))


def _own(cells: Mapping[str, Any]) -> dict[str, Any]:
    match = _STEP.fullmatch(str(cells.get("step")))
    name = _named(str(cells.get("hccl_op_name") or ""))
    return {
        "step_id": int(match[1]) if match else None,
        "kind": _text(cells.get("type")),
        **name,
        "group_name": _text(cells.get("group_name")),
    }


def _spelled(cells: Mapping[str, Any]) -> dict[str, Any]:
    """The cells of a table under the names of the JSON files."""
    return {
        "Transit Size(MB)": cells.get("transit_size"),
        "Transit Time(ms)": cells.get("transit_time"),
        "Bandwidth(GB/s)": cells.get("bandwidth"),
        "Large Packet Ratio": cells.get("large_packet_ratio"),
    }


def _number(value: Any) -> float | None:
    """A finite number >= 0; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _scaled(value: Any, times: float) -> float | None:
    number = _number(value)
    return None if number is None else number * times


def _rank(value: Any) -> int | None:
    text = str(value)
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
