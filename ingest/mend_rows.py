"""What reads well cell by cell and cannot be: starts of another time, counters that are no number."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import IngestOptions

if TYPE_CHECKING:
    import duckdb

    from .columns import Column
    from .kernel_table import KernelFile

_NS_PER_DAY = 86_400 * 10**9


def set_far_rows_apart(con: duckdb.DuckDBPyConnection, limit_days: float) -> dict[int, list[tuple[int, str]]]:
    """Move rows of `raw` that start further than the limit from the middle one to `raw_rejects`.

    One such row would make a step of years. Returns (line, name) of the rows by number of the file. The
    middle row is always kept.
    """
    first, last = _row(con, "SELECT min(start_ns), max(start_ns) FROM raw")
    limit_ns = round(limit_days * _NS_PER_DAY)
    if first is None or last - first <= limit_ns:
        return {}
    (middle,) = _row(con, "SELECT quantile_disc(start_ns, 0.5) FROM raw")
    # Rows are counted from the first of their file: that must be written down before any of them goes.
    con.execute(
        "UPDATE raw SET line = raw.rowid - f.first_row + 2 "
        "FROM (SELECT file, min(rowid) AS first_row FROM raw GROUP BY file) AS f "
        "WHERE f.file = raw.file AND raw.line IS NULL"
    )
    con.execute("SET VARIABLE far_start = ?", [middle])
    con.execute("SET VARIABLE far_limit = ?", [limit_ns])
    con.execute(
        "INSERT INTO raw_rejects SELECT file, line, CASE WHEN start_ns = 0 "
        "THEN 'start time is 0 and those of the other rows are not: it was not recorded' "
        f"ELSE format('starts {{:,.0f}} days {{}} the middle row of the capture: no time of this capture', "
        f"abs(start_ns - getvariable('far_start')) / {_NS_PER_DAY}, "
        "CASE WHEN start_ns < getvariable('far_start') THEN 'before' ELSE 'after' END) END, "
        "concat_ws(', ', name, type, 'start ' || start_ns || ' ns', duration_us || ' us') "
        f"FROM raw WHERE {_FAR}"
    )
    gone = con.execute(f"DELETE FROM raw WHERE {_FAR} RETURNING file, line, coalesce(name, '')").fetchall()
    found: dict[int, list[tuple[int, str]]] = {}
    for number, line, name in sorted(gone):
        found.setdefault(number, []).append((line, name))
    return found


_FAR = "abs(start_ns - getvariable('far_start')) > getvariable('far_limit')"


def reject_far_rows(
    con: duckdb.DuckDBPyConnection, files: Sequence[KernelFile], options: IngestOptions
) -> None:
    """`set_far_rows_apart` for kernel tables: rejects get the text of the file, and its counts follow."""
    for number, rows in set_far_rows_apart(con, options.far_start_days).items():
        file = files[number]
        file.rows_kept -= len(rows)
        file.rows_rejected += len(rows)
        for line, text in _lines(file.path, [line for line, _ in rows], options.reject_text_limit):
            con.execute("UPDATE raw_rejects SET text = ? WHERE file = ? AND line = ?", [text, number, line])


def drop_non_finite(con: duckdb.DuckDBPyConnection, columns: Sequence[Column]) -> list[str]:
    """Make NaN and infinity in counters of `raw` NULL, and say how many there were in which column."""
    if not columns:
        return []
    # NaN sorts above infinity, so the extremes tell, and one pass over clean columns is all it costs.
    names = [column.name for column in columns]
    extremes = ", ".join(f"isfinite(max({name})) AND isfinite(min({name}))" for name in names)
    suspects = [
        name
        for name, clean in zip(names, _row(con, f"SELECT {extremes} FROM raw"), strict=True)
        if clean is False
    ]
    notes = []
    for name in suspects:
        (count,) = _row(con, f"SELECT count(*) FROM raw WHERE NOT isfinite({name})")
        con.execute(f"UPDATE raw SET {name} = NULL WHERE NOT isfinite({name})")
        cells = f"1 cell of {name} is" if count == 1 else f"{count:,} cells of {name} are"
        notes.append(f"{cells} NaN or infinite, which is no measurement: taken as not measured")
    return notes


def impossible_counters(
    con: duckdb.DuckDBPyConnection, columns: Sequence[Column], options: IngestOptions
) -> list[str]:
    """Nothing, or one sentence on rows whose counters no hardware can give; they stay as exported.

    The labels leave such counters out; in a group of many rows its median hides them, so they are said here.
    """
    names = {column.name for column in columns}
    limit = options.counter_limit
    ratios = [column.name for column in columns if column.unit == "ratio"]
    outside = " OR ".join(f"{name} < 0 OR {name} > {limit}" for name in ratios)
    times = [name for name in ("aicore_time_us", "aiv_time_us") if name in names]
    longest = f"greatest({', '.join(times)})" if times else "NULL"
    occupancy = "cube_utilization_pct" if "cube_utilization_pct" in names else "NULL"
    counted = {
        "shares outside 0 to 1": outside or "false",
        "core times of 0 although they ran": f"{longest} = 0 AND duration_us > 0",
        "core times longer than the kernel": f"{longest} > {limit} * duration_us AND duration_us > 0",
        "a cube utilization outside 0 to 100 %": f"{occupancy} < 0 OR {occupancy} > {100 * limit}",
    }
    found = _row(
        con, f"SELECT {', '.join(f'count(*) FILTER ({where})' for where in counted.values())} FROM raw"
    )
    said = [f"{count:,} with {what}" for what, count in zip(counted, found, strict=True) if count]
    return [f"rows with counters that cannot be: {', '.join(said)}; no label rests on those"] if said else []


def _lines(path: Path, wanted: Sequence[int], limit: int) -> list[tuple[int, str]]:
    """(1-based number, text cut to a readable length) of some lines of a file."""
    found, numbers = [], set(wanted)
    with path.open("rb") as file:
        for number, line in enumerate(islice(file, max(wanted)), start=1):
            if number in numbers:
                text = line.decode("utf-8", errors="replace").rstrip("\r\n")
                found.append((number, text if len(text) <= limit else text[:limit] + "…"))
    return found


def _row(con: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    return con.execute(query).fetchall()[0]
