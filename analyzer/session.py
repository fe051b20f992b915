"""One open selection of a database: the run, rank, steps and device that a question is asked of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..ingest.store import RunRecord, Store, find_run
from ..units import format_duration
from .ahead import ReadsAhead
from .answer import DeviceInfo, RunInfo
from .config import read_config
from .device_choice import device_info, resolve_for_rank
from .ranks import chips_of_ranks, different_chips, without_kernels
from .selection import choose_rank, choose_steps, select
from .sqlfiles import rows_of, utc_text
from .statistics import zero_duration_notes

if TYPE_CHECKING:
    import duckdb

    from ..roofline.options import RooflineOptions
    from ..roofline.resolve import ResolvedDevice
    from .options import AnalysisOptions

Found = TypeVar("Found")


@dataclass
class Session:
    """A read-only connection with the selection as temporary tables and views, and what belongs to it.

    `con` sees `selection`, `selected_steps`, `selected_kernels`, `selected_kernels_of_ranks`,
    `selected_signatures` and `selected_statistics` beside the tables of the database. `cache` keeps what
    several questions need, such as the labels.
    """

    con: duckdb.DuckDBPyConnection
    run: RunInfo
    rank_id: int
    ranks: tuple[int, ...]
    step_ids: tuple[int, ...]
    all_steps: bool
    device: ResolvedDevice
    options: AnalysisOptions
    roofline_options: RooflineOptions
    notes: list[str] = field(default_factory=list)
    cache: dict[str, Any] = field(default_factory=dict)
    ahead: ReadsAhead | None = None

    def rows(self, query: str, parameters: Any = None) -> list[dict[str, Any]]:
        """Rows of one SELECT, by column name."""
        return rows_of(self.con, query, parameters)

    def value(self, query: str, parameters: Any = None) -> Any:
        """The only value of one SELECT."""
        row = self.con.execute(query, parameters).fetchone()
        return None if row is None else row[0]

    def begin(self, *reads: Callable[[duckdb.DuckDBPyConnection], Any]) -> None:
        """Start reads of the selection that will be needed, beside what Python does now."""
        if self.ahead is not None:
            self.ahead.begin(*reads)

    def read(self, read: Callable[[duckdb.DuckDBPyConnection], Found]) -> Found:
        """What a read of the selection gives: begun ahead, or read now."""
        begun = None if self.ahead is None else self.ahead.result(read)
        return read(self.con) if begun is None else begun

    @property
    def device_info(self) -> DeviceInfo:
        """The device as reports show it."""
        return device_info(self.device)


@contextmanager
def open_session(
    db: Path | str,
    run: str | None = None,
    rank: int | None = None,
    steps: str | None = None,
    device: str | None = None,
    hbm_gb_s: float | None = None,
    config: Path | None = None,
) -> Iterator[Session]:
    """Open the database read-only and select a run (default: the latest), a rank and steps (default:
    all).

    Raises InputMissing, naming what there is, when the run, the rank, its kernels or a step are missing;
    WrongUsage for a wrong --steps or config; UnknownDevice for a device that is not known.
    """
    thresholds = read_config(config)
    with Store.open(Path(db), read_only=True) as store:
        con = store.con
        record = find_run(con, run)
        ranks = rows_of(con, "SELECT * FROM ranks WHERE run_id = ? ORDER BY rank_id", [record.run_id])
        chosen = choose_rank(record.name, ranks, rank)
        existing, chosen_steps = choose_steps(con, record.run_id, chosen["rank_id"], steps)
        selection = (record.run_id, chosen["rank_id"], chosen_steps, chosen_steps == existing)
        select(con, *selection)
        ahead = ReadsAhead(lambda: _second_connection(con, selection))
        with_kernels = tuple(each["rank_id"] for each in ranks if each["has_kernels"])
        session = Session(
            con=con,
            run=_run_info(record, chosen, with_kernels, chosen_steps),
            rank_id=chosen["rank_id"],
            ranks=with_kernels,
            step_ids=chosen_steps,
            all_steps=chosen_steps == existing,
            device=resolve_for_rank(con, record, chosen, device, hbm_gb_s),
            options=thresholds.analysis,
            roofline_options=thresholds.roofline,
            ahead=ahead,
        )
        session.notes += _selection_notes(session, ranks, rank)
        if device is None and len(with_kernels) > 1:
            session.notes += _chip_notes(session, record)
        try:
            yield session
        finally:
            ahead.close()


def _second_connection(
    con: duckdb.DuckDBPyConnection, selection: tuple[int, int, tuple[int, ...], bool]
) -> duckdb.DuckDBPyConnection:
    """Another connection to the same database with the same selection; temporary tables are not shared."""
    other = con.cursor()
    select(other, *selection)
    return other


def _run_info(record: Any, rank: dict[str, Any], ranks: tuple[int, ...], steps: tuple[int, ...]) -> RunInfo:
    return RunInfo(
        name=record.name,
        run_id=record.run_id,
        rank=rank["rank_id"],
        ranks=ranks,
        steps=steps,
        ingested_at=utc_text(record.ingested_at),
        source_paths=tuple(record.source_paths),
        cann_version=rank["cann_version"],
        torch_npu_version=rank["torch_npu_version"],
        metric_mode=rank["metric_mode"],
        level=rank["profiler_level"],
    )


def _selection_notes(session: Session, ranks: list[dict[str, Any]], wanted: int | None) -> list[str]:
    """What the reader must know about the selection before any number."""
    chosen = next(each for each in ranks if each["rank_id"] == session.rank_id)
    notes = [f"rank {session.rank_id}: {note}" for note in chosen["notes"] or ()]
    if wanted is None and len(session.ranks) > 1:
        others = len(session.ranks) - 1
        notes.append(
            f"rank {session.rank_id} is shown; {others} more have kernels (--rank N, summary --by rank)"
        )
    notes += without_kernels(ranks)
    unmeasured = zero_duration_notes(session.con)
    return [*notes, *_outside_steps(session), *unmeasured, *_missing_evidence(session)]


def _chip_notes(session: Session, record: RunRecord) -> list[str]:
    """A run of several chips: times of its ranks are not alike, and roofs are those of the rank shown."""
    said = different_chips(chips_of_ranks(session.con, record))
    return [f"{said}; the roofs here are those of rank {session.rank_id}"] if said else []


def _outside_steps(session: Session) -> list[str]:
    kernels, total_us = session.con.execute(
        "SELECT count(*), coalesce(sum(duration_us), 0) FROM kernels WHERE run_id = ? AND rank_id = ? "
        "AND step_id IS NULL AND duplicate_of IS NULL",
        [session.run.run_id, session.rank_id],
    ).fetchall()[0]
    time = format_duration(total_us)
    return [f"{kernels:,} kernels ({time}) lie outside every step and are not counted"] if kernels else []


def _missing_evidence(session: Session) -> list[str]:
    """What this capture can never answer, and the profiler option that records it."""
    shapes = session.value("SELECT count(input_shapes) FROM selected_signatures")
    notes = []
    if shapes == 0 and session.run.metric_mode == "none":
        notes.append(
            "this capture holds no shapes and no hardware counters (level 0): it tells which kernels take "
            "the time and where the device waits, but not what limits a kernel, its bytes or what to "
            "prefetch; record with profiler_level=Level1 and aic_metrics=PipeUtilization"
        )
    elif shapes == 0:
        notes.append("this capture holds no shapes: labels come from hardware counters alone")
    if session.device.device is None and session.device.hint:
        notes.append(f"without a known device there are no roofs; {session.device.hint}")
    return notes
