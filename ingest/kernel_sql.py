"""The SQL that turns a kernel table into typed rows: one statement for every header variant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .columns import NOT_RECORDED, Column, Header, kernel_columns
from .options import IngestOptions

# The texts that tell one kind of work from another; the name only where the export has no type.
SIGNATURE_TEXTS = (
    "type",
    "core",
    "hf32",
    "input_shapes",
    "input_dtypes",
    "input_formats",
    "output_shapes",
    "output_dtypes",
    "output_formats",
)
_UNTYPED_NAME = "CASE WHEN type IS NULL OR type IN ('', '0') THEN name END"
KEY_COLUMNS = (
    f"{_UNTYPED_NAME} AS untyped_name, hash({', '.join(SIGNATURE_TEXTS)}, {_UNTYPED_NAME}) AS signature_key"
)


def raw_columns(headers: Sequence[Header]) -> list[Column]:
    """Every column that is no PMU counter, and the counters that any of the files has."""
    present = frozenset().union(*(header.names for header in headers))
    return [column for column in kernel_columns() if column.mode is None or column.name in present]


def counters_of(headers: Sequence[Header]) -> list[Column]:
    """The columns of `raw` that hold measurements beside the duration, in order."""
    present = frozenset().union(*(header.names for header in headers))
    return [
        column
        for column in kernel_columns()
        if column.type == "DOUBLE" and column.name in present and column.name != "duration_us"
    ]


def create_raw(columns: Sequence[Column]) -> str:
    """CREATE TABLE for the rows of one rank as they stand in its files, before numbering and joins."""
    typed = [f"{column.name} {column.type}" for column in columns if column.name != "start"]
    own = ("file INTEGER", "line BIGINT", "start_ns BIGINT", "untyped_name VARCHAR", "signature_key UBIGINT")
    return f"CREATE TABLE raw ({', '.join((*own, *typed))})"


def cell_types(header: Header, has_line: bool) -> dict[str, str]:
    """The `columns` argument of read_csv: types by position, so that no name in a header can surprise."""
    first = {"line": "BIGINT"} if has_line else {}
    types = [column.type if column is not None else "VARCHAR" for column in header.fields]
    return {**first, **{f"c{index}": type_ for index, type_ in enumerate(types)}}


def insert_rows(header: Header, has_line: bool, options: IngestOptions) -> str:
    """INSERT INTO raw from read_csv; parameters: path, columns, file.

    The read is strict: a cell of the wrong type, a wrong number of fields or broken quotes end it.
    """
    present = {column.name: (f"c{index}", column) for index, column in enumerate(header.fields) if column}
    cells = ", ".join(f"{cell} AS {name}" for name, (cell, _) in present.items())
    absent = ", ".join(
        f"NULL AS {column.name}"
        for column in kernel_columns()
        if column.mode is None and column.name not in present
    )
    kept = [name for name in present if name != "start"]
    null_words = ", ".join(f"'{word}'" for word in NOT_RECORDED)
    return (
        f"INSERT INTO raw BY NAME SELECT $file AS file, line, {_START_NS} AS start_ns, {KEY_COLUMNS}, "
        f"{', '.join(kept)} FROM ("
        f"SELECT {'line' if has_line else 'NULL AS line'}, {', '.join(filter(None, (cells, absent)))} "
        "FROM read_csv($path, columns = $columns, header = true, auto_detect = false, delim = ',', "
        "quote = '\"', escape = '\"', strict_mode = true, null_padding = false, ignore_errors = false, "
        f"nullstr = [{null_words}], max_line_size = {options.line_limit_bytes}, "
        f"buffer_size = {8 * options.line_limit_bytes}))"
    )


# Decimal us as exact integer ns: float64 would lose the last digits of 1.7e15. A start with an exponent was
# rounded by a spreadsheet and is not believed.
_START_NS = (
    "CASE WHEN NOT contains(start, 'E') AND NOT contains(start, 'e') "
    "THEN TRY_CAST(TRY_CAST(start AS DECIMAL(19, 3)) * 1000 AS BIGINT) END"
)


def unbelievable_rows(options: IngestOptions) -> str:
    """SELECT that counts the rows of one file whose start or duration cannot be believed; parameter: file."""
    return (
        "SELECT count(*) FROM raw WHERE file = ? AND NOT coalesce("
        f"start_ns BETWEEN 0 AND {options.start_limit_us * 1000} "
        f"AND duration_us BETWEEN 0 AND {options.duration_limit_us!r}, false)"
    )


def literal_path(path: Path) -> str:
    """A path for read_csv, which would take * ? [ in a folder's name for a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
