"""What is in a database: its runs, and for one run what it holds and which questions it can answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..ingest.availability import Availability, availability
from ..ingest.store import RunRecord, Store, find_run, runs
from ..roofline.registry import registry
from ..roofline.resolve import ResolvedDevice
from .answer import Answer, IngestRow, QuestionRow, RankRow, RunRow
from .device_choice import device_info, resolve_for_rank
from .labels import TRAINING_FLAGS
from .ranks import chips_of_ranks, different_chips, rank_notes
from .sqlfiles import rows_of, utc_text

if TYPE_CHECKING:
    import duckdb


def runs_list(db: Path | str) -> Answer:
    """Every run of the database, the latest first. Raises InputMissing when there is no database."""
    with Store.open(Path(db), read_only=True) as store:
        found = sorted(runs(store.con), key=lambda record: -record.run_id)
        rows = tuple(_run_row(store.con, record) for record in found)
    return Answer(command="runs", run=None, device=None, coverage=None, rows=rows)


def runs_show(db: Path | str, name: str | None = None) -> Answer:
    """One run: its ranks and files, and each question with what it would need (default: the latest run).

    Extras: `questions`, `ranks`, `files`. Raises InputMissing naming the runs that exist.
    """
    with Store.open(Path(db), read_only=True) as store:
        record = find_run(store.con, name)
        row = _run_row(store.con, record)
        ranks = rank_rows(store.con, record.run_id)
        return Answer(
            command="runs",
            run=None,
            device=None,
            coverage=None,
            rows=(row,),
            notes=(
                *(record.notes or ()),
                *rank_notes(store.con, record.run_id),
                *filter(None, [different_chips(chips_of_ranks(store.con, record))]),
            ),
            extras={
                "questions": question_rows(store.con, record.run_id),
                "ranks": ranks,
                "files": file_rows(store.con, record.run_id),
            },
        )


def question_rows(con: duckdb.DuckDBPyConnection, run_id: int) -> tuple[QuestionRow, ...]:
    """Each question with its evidence in this run, and the profiler option that would record what is
    missing.
    """
    training = _training_types(con, run_id)
    return tuple(_question_row(each, training) for each in availability(con, run_id))


def _question_row(found: Availability, training: tuple[str, ...]) -> QuestionRow:
    if found.inference_only and training:
        return QuestionRow(
            question=found.question,
            status="no",
            evidence=found.evidence,
            missing=f"inference: {', '.join(training[:3])} run in training only",
            how_to_record="profile a decode step of inference",
        )
    return QuestionRow(found.question, found.status, found.evidence, found.missing, found.how_to_record)


def _training_types(con: duckdb.DuckDBPyConnection, run_id: int) -> tuple[str, ...]:
    """Gradient and optimizer types of any rank of the run, in order of name."""
    types = con.execute(
        "SELECT DISTINCT type FROM signatures WHERE run_id = ? AND type IS NOT NULL", [run_id]
    )
    return tuple(
        sorted(name for (name,) in types.fetchall() if registry().row_of(name).flags & TRAINING_FLAGS)
    )


def rank_rows(con: duckdb.DuckDBPyConnection, run_id: int) -> tuple[RankRow, ...]:
    """The ranks of a run with what their folders hold, also those without kernels."""
    rows = rows_of(
        con,
        """
        SELECT r.rank_id AS rank, r.label, r.device_id, r.has_kernels, coalesce(k.kernels, 0) AS kernels,
            coalesce(s.steps, 0) AS steps, r.holds, r.metric_mode, r.profiler_level AS level, r.path
        FROM ranks r
        LEFT JOIN (SELECT rank_id, count(*) AS kernels FROM kernels WHERE run_id = $run GROUP BY rank_id) k
            USING (rank_id)
        LEFT JOIN (
            SELECT rank_id, count(*) AS steps FROM steps WHERE run_id = $run AND kernels > 0 GROUP BY rank_id
        ) s USING (rank_id)
        WHERE r.run_id = $run ORDER BY r.rank_id
        """,
        {"run": run_id},
    )
    return tuple(RankRow(**{**row, "holds": tuple(row["holds"] or ())}) for row in rows)


def file_rows(con: duckdb.DuckDBPyConnection, run_id: int) -> tuple[IngestRow, ...]:
    """Every file that ingest met, with what became of it."""
    rows = rows_of(
        con,
        "SELECT rank_id AS rank, path, kind, status, rows_read, rows_kept, rows_rejected, note "
        "FROM files WHERE run_id = ? ORDER BY rank_id, status = 'read' DESC, path",
        [run_id],
    )
    return tuple(IngestRow(**row) for row in rows)


def device_of_run(con: duckdb.DuckDBPyConnection, record: RunRecord) -> ResolvedDevice | None:
    """The resolved device of the first rank with kernels; None when no rank has any.

    A run whose ranks are of different chips has no one device, and its `source` names them.
    """
    groups = chips_of_ranks(con, record)
    if said := different_chips(groups):
        chips = tuple(sorted({soc for group in groups for soc in group.candidates}))
        return ResolvedDevice(
            None, "several", chips, said, "unknown", hint="ask about one rank at a time (--rank N)"
        )
    if groups:
        return groups[0].device
    ranks = rows_of(
        con, "SELECT * FROM ranks WHERE run_id = ? AND has_kernels ORDER BY rank_id LIMIT 1", [record.run_id]
    )
    return resolve_for_rank(con, record, ranks[0], None, None) if ranks else None


def _run_row(con: duckdb.DuckDBPyConnection, record: RunRecord) -> RunRow:
    ranks = rank_rows(con, record.run_id)
    device = device_of_run(con, record)
    return RunRow(
        name=record.name,
        run_id=record.run_id,
        ingested_at=utc_text(record.ingested_at),
        ranks=len(ranks),
        ranks_with_kernels=sum(rank.has_kernels for rank in ranks),
        kernels=sum(rank.kernels for rank in ranks),
        steps=max((rank.steps for rank in ranks), default=0),
        rows_rejected=record.rows_rejected,
        metric_modes=tuple(sorted({rank.metric_mode for rank in ranks if rank.metric_mode})),
        device=None if device is None else device_info(device).soc,
        source_paths=tuple(record.source_paths),
    )
