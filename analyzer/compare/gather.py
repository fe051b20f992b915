"""Both sides of a comparison in one scratch database, and their places paired there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...errors import InternalError
from ..sqlfiles import rows_of, run_sql, sql
from .pairing import Pair, Place, pair_places
from .sides import Side, StepRef

if TYPE_CHECKING:
    import duckdb

    from ..session import Session

# Rows with at least so many places in a step show their noise inside a step, too.
SCATTER_PLACES = 4


@contextmanager
def gathered(before: Side, after: Side) -> Iterator[duckdb.DuckDBPyConnection]:
    """A scratch database in memory with the counted kernels of both sides, places and all.

    Tables: _kernels, _signatures, _kinds, _places. Kernels are streamed over as Arrow, never as objects.
    """
    import duckdb

    with duckdb.connect(":memory:") as scratch:
        run_sql(scratch, "compare_tables.sql")
        steps = (before.steps(), after.steps())
        for number, side in enumerate((before, after)):
            _copy_side(scratch, number, side, steps[number])
        options = before.first.options
        scratch.execute("SET VARIABLE position_limit = ?", [options.position_limit])
        scratch.execute("SET VARIABLE scatter_places = ?", [SCATTER_PLACES])
        scratch.execute("SET VARIABLE steps_of = ?", [[len(each) for each in steps]])
        run_sql(scratch, "compare_places.sql")
        yield scratch


def _copy_side(
    scratch: duckdb.DuckDBPyConnection, number: int, side: Side, steps: tuple[StepRef, ...]
) -> None:
    first = 0
    for captures in side.repeats:
        count = len(captures[0].step_ids)
        for graph, session in enumerate(captures):
            numbers = [
                (number, graph, step.step_ids[graph], step.number) for step in steps[first : first + count]
            ]
            _copy_session(scratch, session, numbers)
        first += count


def _copy_session(
    scratch: duckdb.DuckDBPyConnection,
    session: Session,
    steps: list[tuple[int, int, int, int]],
) -> None:
    scratch.execute("DELETE FROM _steps")
    columns = [list(each) for each in zip(*steps, strict=True)]
    scratch.execute(
        "INSERT INTO _steps SELECT unnest(?::UTINYINT[]), unnest(?::UTINYINT[]), unnest(?::INTEGER[]), "
        "unnest(?::INTEGER[])",
        columns,
    )
    session.con.complete()  # another question may have left rows of its last statement unread
    reader = session.con.sql(sql("compare_kernels.sql")).to_arrow_reader(100_000)
    scratch.register("_incoming", reader)
    scratch.execute(
        "INSERT INTO _kernels SELECT s.side, s.graph, s.step, i.busy, i.part, i.layer, i.position, "
        "i.signature, i.stream, i.duration_us, i.waited_ns "
        "FROM _incoming AS i JOIN _steps AS s USING (step_id)"
    )
    scratch.unregister("_incoming")
    side, graph = steps[0][:2]
    names = session.con.sql(sql("compare_names.sql")).to_arrow_table()
    scratch.register("_incoming", names)
    scratch.execute(
        "INSERT INTO _names SELECT ?, ?, part, position, signature, name FROM _incoming",
        [side, graph],
    )
    scratch.unregister("_incoming")
    texts = session.con.sql(
        "SELECT signature_id, type, core, kernel_class, input_shapes FROM selected_signatures "
        "WHERE signature_id IN (SELECT signature_id FROM selected_kernels)"
    ).to_arrow_table()
    scratch.register("_incoming", texts)
    scratch.execute("INSERT OR IGNORE INTO _signatures SELECT * FROM _incoming")
    scratch.unregister("_incoming")


def paired(scratch: duckdb.DuckDBPyConnection, steps: tuple[int, int]) -> list[Pair]:
    """Pair the places of both sides and work out each pair's statistics: _paired, _pair_steps, and so on.

    `steps`: how many each side has. Raises InternalError when a kernel ends in no pair or in two.
    """
    places: tuple[list[Place], list[Place]] = ([], [])
    for row in rows_of(scratch, "SELECT * FROM _places ORDER BY place"):
        places[row["side"]].append(
            Place(
                number=row["place"],
                graph=row["graph"],
                part=row["part"],
                position=row["place_position"],
                type=row["type"],
                signature=row["signature"],
                calls=row["calls"] / max(1, steps[row["side"]]),
                busy=row["busy"],
                name=row["name"] or "",
            )
        )
    pairs = pair_places(*places)
    scratch.execute("CREATE TABLE _pairs (place INTEGER, pair INTEGER)")
    members = [(place.number, at) for at, pair in enumerate(pairs) for place in (*pair.before, *pair.after)]
    scratch.execute(
        "INSERT INTO _pairs SELECT unnest(?::INTEGER[]), unnest(?::INTEGER[])",
        [[number for number, _ in members], [at for _, at in members]],
    )
    run_sql(scratch, "compare_statistics.sql")
    _check_kept(scratch)
    return pairs


def _check_kept(scratch: duckdb.DuckDBPyConnection) -> None:
    """Conservation: every kernel of both sides is in exactly one pair."""
    there, found = (
        scratch.execute(f"SELECT count(*) FROM {table}").fetchall()[0][0] for table in ("_kernels", "_paired")
    )
    if there != found:
        raise InternalError(f"{there} kernels were compared, {found} are in a pair", "please report this")
