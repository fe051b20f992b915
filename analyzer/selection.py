"""Which run, rank and steps a question looks at, put into temporary tables and views of its connection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputMissing
from .sqlfiles import run_sql
from .statistics import insert_statistics
from .steps import parse_steps

if TYPE_CHECKING:
    import duckdb


def choose_rank(run: str, ranks: list[dict[str, Any]], wanted: int | None) -> dict[str, Any]:
    """The rank asked for, or the lowest with kernels; InputMissing says what there is."""
    with_kernels = [each for each in ranks if each["has_kernels"]]
    if wanted is None:
        if with_kernels:
            return with_kernels[0]
        held = sorted({kind for each in ranks for kind in each["holds"]})
        raise InputMissing(
            f"run {run!r} holds no kernels; it holds {', '.join(held) or 'nothing that is read'}",
            "ingest a capture with kernel_details.csv or op_summary; `runs show` says what this one answers",
        )
    for each in ranks:
        if each["rank_id"] == wanted and each["has_kernels"]:
            return each
    there = ", ".join(str(each["rank_id"]) for each in with_kernels) or "none"
    for each in ranks:
        if each["rank_id"] == wanted:
            raise InputMissing(
                f"rank {wanted} of {run!r} has no kernels, only {', '.join(each['holds'] or ['nothing'])}",
                f"ranks with kernels: {there}",
            )
    raise InputMissing(f"run {run!r} has no rank {wanted}", f"ranks with kernels: {there}")


def choose_steps(
    con: duckdb.DuckDBPyConnection, run_id: int, rank_id: int, text: str | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(every step that has kernels, the selected ones)."""
    rows = con.execute(
        "SELECT step_id FROM steps WHERE run_id = ? AND rank_id = ? AND kernels > 0 ORDER BY step_id",
        [run_id, rank_id],
    ).fetchall()
    existing = tuple(step for (step,) in rows)
    return existing, existing if text is None else parse_steps(text, existing)


def select(
    con: duckdb.DuckDBPyConnection, run_id: int, rank_id: int, steps: tuple[int, ...], all_steps: bool
) -> None:
    """Create the temporary tables and views; statistics are read where stored, else worked out for
    these steps.
    """
    con.execute("SET VARIABLE selected_run = ?", [run_id])
    con.execute("SET VARIABLE selected_rank = ?", [rank_id])
    con.execute("SET VARIABLE selected_step_ids = ?", [list(steps)])
    run_sql(con, "selection.sql")
    if all_steps:
        con.execute(
            "CREATE TEMP VIEW selected_statistics AS SELECT * FROM group_statistics "
            "WHERE run_id = getvariable('selected_run') AND rank_id = getvariable('selected_rank')"
        )
    else:
        con.execute("CREATE TEMP TABLE selected_statistics AS FROM group_statistics LIMIT 0")
        insert_statistics(con, "selected_statistics", source="selected_kernels")
