"""Reading and writing the tables tunings and experiments, one transaction for each change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import InputMissing, WrongUsage
from ...ingest.database import insert_rows, transaction
from ...ingest.store import Store, runs
from ..sqlfiles import rows_of
from .records import Experiment, Tuning

if TYPE_CHECKING:
    import duckdb

Record = TypeVar("Record", Tuning, Experiment)


@dataclass(frozen=True)
class Ledger:
    """One tuning with its experiments in order, and the content of the runs that are in the database now."""

    tuning: Tuning
    experiments: tuple[Experiment, ...]
    runs_now: dict[str, str]  # name -> content hash
    tunings: tuple[str, ...]  # the names of all, the latest last


def read_ledger(db: Path | str, name: str | None) -> Ledger:
    """The tuning of that name, or the latest. Raises InputMissing, naming those that exist."""
    with Store.open(Path(db), read_only=True) as store:
        return _ledger(store.con, name)


@contextmanager
def writing(db: Path | str, name: str | None) -> Iterator[tuple[duckdb.DuckDBPyConnection, Ledger]]:
    """The ledger inside one transaction: what is added lands whole or not at all."""
    with Store.open(Path(db), read_only=False) as store, transaction(store.con):
        yield store.con, _ledger(store.con, name)


def add_tuning(db: Path | str, made: Tuning) -> Tuning:
    """Write a tuning under the next number, its name made unique; WrongUsage where a given name is taken.

    An empty name asks for one made of the target.
    """
    with Store.open(Path(db), read_only=False) as store, transaction(store.con):
        existing = _all(store.con, Tuning, "SELECT * FROM tunings ORDER BY tuning_id")
        taken = {each.name for each in existing}
        if made.name and made.name in taken:
            raise WrongUsage(
                f"there is a tuning named {made.name!r} already",
                "give another --name, or record into that one",
            )
        if made.keeps is not None and made.keeps not in taken:
            raise InputMissing(
                f"no tuning is named {made.keeps!r}", f"tunings: {', '.join(taken) or 'none yet'}"
            )
        number = max((each.tuning_id for each in existing), default=0) + 1
        name = made.name or _unused(made.target, taken)
        values = {each.name: getattr(made, each.name) for each in fields(Tuning)}
        written = Tuning(**{**values, "tuning_id": number, "name": name})
        _insert(store.con, "tunings", written)
    return written


def add_experiment(con: duckdb.DuckDBPyConnection, made: Experiment) -> None:
    """Write an experiment, inside the transaction of `writing`."""
    _insert(con, "experiments", made)


def run_hashes(db: Path | str) -> dict[str, str]:
    """Content hash of every run by name."""
    with Store.open(Path(db), read_only=True) as store:
        return {each.name: each.content_hash for each in runs(store.con)}


def experiments_naming(db: Path | str, run: str) -> int:
    """How many experiments were measured on a run of that name."""
    with Store.open(Path(db), read_only=True) as store:
        found = store.con.execute(
            "SELECT count(*) FROM experiments WHERE list_contains(run_names, ?)", [run]
        ).fetchall()
    return found[0][0]


def now() -> datetime:
    """The time as the database keeps it: UTC, whole seconds."""
    return datetime.now(UTC).replace(tzinfo=None, microsecond=0)


def _ledger(con: duckdb.DuckDBPyConnection, name: str | None) -> Ledger:
    tunings = _all(con, Tuning, "SELECT * FROM tunings ORDER BY tuning_id")
    if not tunings:
        raise InputMissing("nothing is being tuned yet", "begin with npu-roofline tune start c-...")
    names = tuple(each.name for each in tunings)
    chosen = tunings[-1] if name is None else next((each for each in tunings if each.name == name), None)
    if chosen is None:
        raise InputMissing(f"no tuning is named {name!r}", f"tunings: {', '.join(names)}")
    found = _all(
        con,
        Experiment,
        "SELECT * FROM experiments WHERE tuning_id = ? ORDER BY experiment_id",
        [chosen.tuning_id],
    )
    return Ledger(chosen, tuple(found), {each.name: each.content_hash for each in runs(con)}, names)


def _all(
    con: duckdb.DuckDBPyConnection, kind: type[Record], query: str, parameters: list[int] | None = None
) -> list[Record]:
    return [kind(**_with_tuples(row)) for row in rows_of(con, query, parameters)]


def _with_tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}


def _insert(con: duckdb.DuckDBPyConnection, table: str, record: Tuning | Experiment) -> None:
    """The record's fields are the table's columns, in their order."""
    insert_rows(
        con, table, [[list(value) if isinstance(value, tuple) else value for value in astuple(record)]]
    )


def _unused(name: str, taken: set[str]) -> str:
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate
