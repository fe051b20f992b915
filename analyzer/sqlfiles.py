"""The statements in analyzer/sql by file name, and rows and times of the database as Python has them."""

from __future__ import annotations

import functools
from datetime import datetime
from importlib import resources
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


@functools.cache
def sql(name: str) -> str:
    """Text of the file, e.g. 'statistics.sql'."""
    return resources.files("npu_roofline.analyzer").joinpath("sql", name).read_text(encoding="utf-8")


def run_sql(con: duckdb.DuckDBPyConnection, name: str) -> None:
    """Run every statement of a file that takes no parameters."""
    con.execute(sql(name))


def rows_of(con: duckdb.DuckDBPyConnection, query: str, parameters: Any = None) -> list[dict[str, Any]]:
    """Run one SELECT and return its rows by column name."""
    cursor = con.execute(query, parameters)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def utc_text(moment: datetime) -> str:
    """A time of the database, which is UTC without saying so, as ISO 8601: 2026-01-02T03:04:05Z."""
    return f"{moment.isoformat(timespec='seconds')}Z"
