"""Copying and deleting whole runs, table by table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InternalError

if TYPE_CHECKING:
    import duckdb


def public_tables(con: duckdb.DuckDBPyConnection, catalog: str) -> list[str]:
    """The tables of a catalog that hold runs, by name; the internal ones start with _."""
    rows = con.execute(
        "SELECT table_name FROM duckdb_columns() WHERE database_name = ? AND column_name = 'run_id' "
        "AND NOT starts_with(table_name, '_') ORDER BY table_name",
        [catalog],
    ).fetchall()
    return [name for (name,) in rows]


def delete_run(con: duckdb.DuckDBPyConnection, catalog: str, run_id: int) -> None:
    """Delete every row of a run; an empty catalog name means the current one."""
    if not catalog:
        row = con.execute("SELECT current_database()").fetchone()
        catalog = "" if row is None else row[0]
    for table in public_tables(con, catalog):
        con.execute(f'DELETE FROM "{catalog}"."{table}" WHERE run_id = ?', [run_id])


def copy_run(con: duckdb.DuckDBPyConnection, source: str, target: str, run_id: int) -> None:
    """Copy the one run of a staging catalog into another under a new number, and count that it is whole."""
    for table in public_tables(con, source):
        con.execute(
            f'INSERT INTO "{target}"."{table}" BY NAME '
            f'SELECT * REPLACE (CAST(? AS INTEGER) AS run_id) FROM "{source}"."{table}"',
            [run_id],
        )
        staged = _count(con, f'SELECT count(*) FROM "{source}"."{table}"', [])
        landed = _count(con, f'SELECT count(*) FROM "{target}"."{table}" WHERE run_id = ?', [run_id])
        if staged != landed:
            raise InternalError(
                f"{table}: {staged} rows were staged and {landed} landed", "nothing was written; report this"
            )


def _count(con: duckdb.DuckDBPyConnection, query: str, parameters: list) -> int:
    row = con.execute(query, parameters).fetchone()
    return 0 if row is None else row[0]
