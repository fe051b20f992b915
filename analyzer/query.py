"""Read-only SQL over the tables of a database, and over the selection and its labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..errors import WrongUsage
from .answer import Answer
from .labels import publish_labels

if TYPE_CHECKING:
    import duckdb

    from .session import Session

# What one statement may be. MULTI is a PIVOT, which DuckDB runs as two. The database is open read-only
# besides.
_READING = frozenset({"SELECT", "EXPLAIN", "MULTI"})

_NO_ROWS = ("describe", "show", "explain")  # of what a table is, not of its runs
# Joining by run_id keeps the rows of a run together; it does not choose one.
_JOINED_BY = re.compile(r"\bUSING\s*\([^)]*\)", re.IGNORECASE)

# Set for good before the user's text runs: no file, no extension, no network, no Python variable can be
# reached.
_LOCKS = (
    "SET enable_external_access = false",
    "SET python_enable_replacements = false",
    "SET lock_configuration = true",
)


def query(session: Session, sql: str) -> Answer:
    """Answer one SELECT; the rows are mappings by column name, in the order of the query.

    Besides the tables of the database it sees selected_kernels, selected_statistics, selected_signatures
    and `labels` (one row per signature). Raises WrongUsage for anything that is not one reading statement,
    and with the database's own message when the statement is wrong.
    """
    import duckdb

    publish_labels(session)
    for lock in _LOCKS:
        session.con.execute(lock)
    try:
        statement = _single_statement(session.con, sql)
        cursor = session.con.execute(statement)
        names = _distinct([column[0] for column in cursor.description or ()])
        rows = tuple(dict(zip(names, row, strict=True)) for row in cursor.fetchall())
    except duckdb.Error as error:
        raise WrongUsage(f"the query failed: {_one_line(error)}", _hint(error)) from error
    return Answer(
        command="query",
        run=session.run,
        device=session.device_info,
        coverage=None,
        rows=rows,
        notes=(*(() if rows else ("the query gives no rows",)), *_every_run(session, sql)),
        extras={"columns": tuple(names)},
    )


def _every_run(session: Session, sql: str) -> tuple[str, ...]:
    """That the query reads more than the run which the answer names, where its text tells no runs apart."""
    text = re.findall(r"\w+", _JOINED_BY.sub("", sql).lower())
    words = set(text)
    if (
        text[0] in _NO_ROWS
        or "run_id" in words
        or "labels" in words
        or any(word.startswith("selected_") for word in words)
    ):
        return ()
    runs = session.value("SELECT count(*) FROM runs")
    stored = session.con.execute(
        "SELECT table_name FROM duckdb_columns() WHERE column_name = 'run_id' AND table_name <> 'runs'"
    ).fetchall()
    tables = sorted({name for (name,) in stored} & words)
    if runs < 2 or not tables:
        return ()
    run = session.run
    return (
        f"{', '.join(tables)}: all {runs:,} runs of the database are read, as --run selects in "
        f"selected_kernels, selected_signatures and labels only; for {run.name} alone: run_id = {run.run_id}",
    )


def _single_statement(con: duckdb.DuckDBPyConnection, sql: str) -> Any:
    statements = con.extract_statements(sql)
    if len(statements) != 1:
        found = "no statement" if not statements else f"{len(statements)} statements"
        raise WrongUsage(f"the query holds {found}", "give exactly one SELECT")
    kind = statements[0].type.name
    if kind not in _READING:
        raise WrongUsage(
            f"{kind} is not allowed: the database is only read here", "give one SELECT (or DESCRIBE, SHOW)"
        )
    return statements[0]


def _distinct(names: list[str]) -> list[str]:
    """Column names made distinct: a second `a` becomes `a_2`."""
    seen: set[str] = set()
    distinct = []
    for name in names:
        number, candidate = 1, name
        while candidate in seen:
            number += 1
            candidate = f"{name}_{number}"
        seen.add(candidate)
        distinct.append(candidate)
    return distinct


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _hint(error: Exception) -> str:
    text = str(error)
    if "file system operations are disabled" in text or "disabled by configuration" in text:
        return "a query reads the tables of the database only; ingest the file first"
    return "`query 'SHOW TABLES'` and `query 'DESCRIBE kernels'` show what there is"
