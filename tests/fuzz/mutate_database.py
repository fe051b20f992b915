"""Accidents and malice inside a profiler database: what tables, columns and cells should not be."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from random import Random
from typing import Any

from tests.fuzz.mutate import (
    NASTY,
    SHAPES,
    Mutation,
    append_itself,
    cut,
    flip_bytes,
    insert_junk,
    lose_middle,
)

# What SQLite can keep in any column, whatever the column was declared as.
CELLS: tuple[Any, ...] = (
    *(text for text in NASTY if text.isascii() or len(text) < 100),
    *SHAPES,
    None,
    b"\xff\xfe\x00blob",
    0,
    -1,
    2**63 - 1,
    -(2**63),
    4294967295,
    1e308,
    float("inf"),
    1e-320,
    0.5,
    "\ud7ff",
)
Change = Callable[[sqlite3.Connection, list[str], Random], None]


def _inside(change: Change) -> Mutation:
    """The change as a mutation of the bytes; a database that cannot be opened any more is cut instead."""

    def mutation(data: bytes, random: Random) -> bytes:
        with closing(sqlite3.connect(":memory:")) as con:
            try:
                con.deserialize(data)
                tables = [
                    name
                    for (name,) in con.execute(
                        "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
                    )
                ]
                if tables:
                    change(con, tables, random)
                con.commit()
                return con.serialize()
            except (sqlite3.Error, OverflowError, UnicodeError):
                return cut(data, random)

    mutation.__name__ = change.__name__
    return mutation


def _columns(con: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in con.execute(f'PRAGMA table_info("{table}")')]


def lose_table(con: sqlite3.Connection, tables: list[str], random: Random) -> None:
    """A table is not there, or is there without a row."""
    verb = random.choice(("DROP TABLE", "DELETE FROM"))
    con.execute(f'{verb} "{random.choice(tables)}"')


def rename_things(con: sqlite3.Connection, tables: list[str], random: Random) -> None:
    """A table or a column has a name that no writer gives."""
    table = random.choice(tables)
    odd = random.choice(("", " ", "x", "'; DROP TABLE TASK; --", "名", "a" * 500)).replace('"', "")
    if random.random() < 0.4:
        con.execute(f'ALTER TABLE "{table}" RENAME TO "{odd or table.lower()}"')
    else:
        column = random.choice(_columns(con, table))
        con.execute(f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO "{odd or column.upper() + "_"}"')


def other_columns(con: sqlite3.Connection, tables: list[str], random: Random) -> None:
    """The columns of a table stand in another order, one is lost or one more is there."""
    table = random.choice(tables)
    columns = _columns(con, table)
    random.shuffle(columns)
    kept = columns[random.choice((0, 0, 1)) :] or columns
    chosen = ", ".join(f'"{name}"' for name in kept) + random.choice(
        ("", ", 1 AS surplus", ", NULL AS name2")
    )
    con.execute(f'CREATE TABLE "made anew" AS SELECT {chosen} FROM "{table}"')
    con.execute(f'DROP TABLE "{table}"')
    con.execute(f'ALTER TABLE "made anew" RENAME TO "{table}"')


def odd_cells(con: sqlite3.Connection, tables: list[str], random: Random) -> None:
    """Single cells, or a whole column, hold what they never should."""
    table = random.choice(tables)
    for _ in range(random.randrange(1, 8)):
        column = random.choice(_columns(con, table))
        some = random.choice(("rowid % 7 = 3", "rowid = 1", "1"))
        con.execute(f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE {some}', [random.choice(CELLS)])


def repeat_rows(con: sqlite3.Connection, tables: list[str], random: Random) -> None:
    """Rows are there twice, or some are gone."""
    table = random.choice(tables)
    if random.random() < 0.5:
        con.execute(f'INSERT OR IGNORE INTO "{table}" SELECT * FROM "{table}" WHERE rowid % 3 = 1')
    else:
        con.execute(f'DELETE FROM "{table}" WHERE rowid % 3 = 1')


def swap_columns(con: sqlite3.Connection, tables: list[str], random: Random) -> None:
    """Two columns of a table hold each other's values, as shapes and dtypes do in some releases."""
    table = random.choice(tables)
    columns = _columns(con, table)
    first, second = random.choice(columns), random.choice(columns)
    con.execute(f'UPDATE OR IGNORE "{table}" SET "{first}" = "{second}", "{second}" = "{first}"')


def endless_view(con: sqlite3.Connection, tables: list[str], random: Random) -> None:
    """A view that never ends, or one that fails, stands where a table should."""
    table = random.choice(tables)
    columns = ", ".join(f'1 AS "{name}"' for name in _columns(con, table))
    con.execute(f'DROP TABLE "{table}"')
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
    body = random.choice((f"{endless} SELECT {columns} FROM n", f"SELECT {columns} FROM nowhere"))
    con.execute(f'CREATE VIEW "{table}" AS {body}')


DATABASE_MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes,
    cut,
    lose_middle,
    insert_junk,
    append_itself,
    *(
        _inside(change)
        for change in (
            lose_table,
            rename_things,
            other_columns,
            odd_cells,
            odd_cells,
            odd_cells,
            repeat_rows,
            swap_columns,
            endless_view,
        )
    ),
)
