"""Accidents and malice, one function each: bytes in, bytes out, everything drawn from the given generator."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Callable
from random import Random
from typing import Any

Mutation = Callable[[bytes, Random], bytes]

# Text that a cell can hold after an accident or an attack.
NASTY = (
    "",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "nan",
    "inf",
    "-inf",
    "1e308",
    "-1e308",
    "1e-320",
    "9" * 40,
    "-1",
    "-0.0",
    "0",
    "18446744073709551616",
    "9223372036854775807",
    "0x10",
    "1_000",
    " 5 ",
    "1,5",
    "٣",
    "½",
    "1.2.3",
    "--5",
    "+7",
    "\x00",
    "a\x00b",
    "\ufeff",
    "\u202etxt.exe",
    "\x1b[31mred\x1b[0m",
    "=cmd|'/c calc'!A0",
    "@SUM(1)",
    "'; DROP TABLE kernels; --",
    '"',
    '""',
    '"""',
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "{}",
    "[]",
    "\\",
    "\t",
    "x" * 20_000,
    "😀" * 50,
    "e\u0301",
    "\ud7ff",
)
SHAPES = (
    '"4,4096;',
    '"999999999999999999,999999999999"',
    '"-4,3"',
    '"4,,4"',
    '";;;;;;;;"',
    '"0,0"',
    '"4;4096"',
    '"a,b"',
    '"1,2,3,4,5,6,7,8,9,10,11,12"',
    '"4 , 4096"',
    '""',
    '"4.5,2"',
    '"' + "1," * 3000 + '1"',
    '"9223372036854775807"',
)


def flip_bytes(data: bytes, random: Random) -> bytes:
    """A few bits changed, anywhere."""
    changed = bytearray(data)
    for _ in range(random.randrange(1, 20)):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def cut(data: bytes, random: Random) -> bytes:
    """The file ends early."""
    return data[: random.randrange(len(data) + 1)]


def lose_middle(data: bytes, random: Random) -> bytes:
    """A piece in the middle is gone."""
    begin = random.randrange(len(data) + 1)
    return data[:begin] + data[begin + random.randrange(400) :]


def insert_junk(data: bytes, random: Random) -> bytes:
    """Bytes that belong to no text stand somewhere."""
    place = random.randrange(len(data) + 1)
    junk = random.choice(
        (b"\x00" * 8, b"\xff\xfe\xfa", b'"', b'"\n"', b"\r", b"\n\n\n", random.randbytes(40))
    )
    return data[:place] + junk + data[place:]


def shuffle_lines(data: bytes, random: Random) -> bytes:
    """Rows in another order; the header stays."""
    header, *lines = data.splitlines(keepends=True) or [b""]
    random.shuffle(lines)
    return b"".join([header, *lines])


def repeat_lines(data: bytes, random: Random) -> bytes:
    """Some rows twice, the header among them."""
    lines = data.splitlines(keepends=True)
    for _ in range(random.randrange(1, 6)):
        if lines:
            lines.insert(random.randrange(len(lines) + 1), random.choice(lines))
    return b"".join(lines)


def append_itself(data: bytes, _random: Random) -> bytes:
    """Two files in one: the header comes again in the middle."""
    return data + data


def other_line_ends(data: bytes, random: Random) -> bytes:
    """CRLF, bare CR, or a mix of both."""
    lines = data.splitlines()
    ends = random.choice(((b"\r\n",), (b"\r",), (b"\n", b"\r\n")))
    return b"".join(line + random.choice(ends) for line in lines)


def other_encoding(data: bytes, random: Random) -> bytes:
    """The same text as another program would store it."""
    text = data.decode(errors="replace")
    return random.choice(
        (
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-8-sig"),
            lambda: text.replace("a", "ä").encode("latin-1", errors="replace"),
            lambda: gzip.compress(data, mtime=0),
            lambda: text.replace("Name", "名称").encode("gb18030"),
        )
    )()


def other_separator(data: bytes, random: Random) -> bytes:
    """Semicolons or tabs instead of commas."""
    return data.replace(b",", random.choice((b";", b"\t", b"|", b",,")))


def shuffle_columns(data: bytes, random: Random) -> bytes:
    """The same table with its columns in another order."""
    order = list(range(len(_first(data))))
    random.shuffle(order)
    return _table(data, lambda row: [row[i] for i in order if i < len(row)])


def lose_columns(data: bytes, random: Random) -> bytes:
    """Some columns are not there."""
    lost = {random.randrange(len(_first(data)) or 1) for _ in range(random.randrange(1, 4))}
    return _table(data, lambda row: [cell for i, cell in enumerate(row) if i not in lost])


def double_columns(data: bytes, random: Random) -> bytes:
    """A column is there twice, under one name, with the same or other values."""
    column = random.randrange(len(_first(data)) or 1)
    other = random.choice((True, False))
    return _table(
        data,
        lambda row: [*row, *([row[column][::-1] if other else row[column]] if column < len(row) else [])],
    )


def rename_header(data: bytes, random: Random) -> bytes:
    """A header is spelled in a way that no exporter does."""
    rows = _rows(data)
    if rows and rows[0]:
        column = random.randrange(len(rows[0]))
        name = rows[0][column]
        rows[0][column] = random.choice(
            (name.upper(), f" {name} ", name + "\u200b", random.choice(NASTY), name.replace("(", " ("))
        )
    return _text(rows)


def nasty_cells(data: bytes, random: Random) -> bytes:
    """Single cells hold what they never should."""
    rows = _rows(data)
    for _ in range(random.randrange(1, 12)):
        row = random.choice(rows) if rows else []
        if row:
            row[random.randrange(len(row))] = random.choice(NASTY)
    return _text(rows)


def nasty_column(data: bytes, random: Random) -> bytes:
    """One column holds the same odd value in every row."""
    rows = _rows(data)
    column, value = random.randrange(len(rows[0]) if rows and rows[0] else 1), random.choice(NASTY)
    for row in rows[1:]:
        if column < len(row):
            row[column] = value
    return _text(rows)


def nasty_shapes(data: bytes, random: Random) -> bytes:
    """Shape cells that are no shapes, or far too large ones."""
    rows = _rows(data)
    columns = [i for i, name in enumerate(rows[0] if rows else []) if "Shapes" in name]
    for row in rows[1:]:
        if columns and random.random() < 0.3 and len(row) > max(columns):
            row[random.choice(columns)] = random.choice(SHAPES)
    return _text(rows)


def wrong_field_counts(data: bytes, random: Random) -> bytes:
    """Rows with a field too many or too few."""
    rows = _rows(data)
    for row in rows[1:]:
        if row and random.random() < 0.2:
            if random.random() < 0.5:
                row.pop(random.randrange(len(row)))
            else:
                row.insert(random.randrange(len(row) + 1), random.choice(NASTY))
    return _text(rows)


def odd_json(data: bytes, random: Random) -> bytes:
    """A value anywhere in the document is of another kind, or gone."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return cut(data, random)
    _spoil(document, random)
    return random.choice(
        (json.dumps(document), json.dumps([document]), "[" * 3000, "null", "{}", "")
    ).encode()


def _spoil(node: Any, random: Random) -> None:
    while isinstance(node, dict) and node:
        key = random.choice(sorted(node))
        if not isinstance(node[key], dict) or random.random() < 0.4:
            node[key] = random.choice((None, [], {}, -1, 1e308, 10**40, True, "x" * 5000, "\u202e", [[[]]]))
            return
        node = node[key]


CSV_MUTATIONS: tuple[Mutation, ...] = (
    flip_bytes,
    cut,
    lose_middle,
    insert_junk,
    shuffle_lines,
    repeat_lines,
    append_itself,
    other_line_ends,
    other_encoding,
    other_separator,
    shuffle_columns,
    lose_columns,
    double_columns,
    rename_header,
    nasty_cells,
    nasty_column,
    nasty_shapes,
    wrong_field_counts,
)
JSON_MUTATIONS: tuple[Mutation, ...] = (
    odd_json,
    odd_json,
    flip_bytes,
    cut,
    lose_middle,
    insert_junk,
    other_encoding,
)


def _rows(data: bytes) -> list[list[str]]:
    text = data.decode(errors="surrogateescape")
    try:
        return list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error:
        return [line.split(",") for line in text.splitlines()]


def _first(data: bytes) -> list[str]:
    rows = _rows(data)
    return rows[0] if rows else []


def _table(data: bytes, change: Callable[[list[str]], list[str]]) -> bytes:
    return _text([change(row) for row in _rows(data)])


def _text(rows: list[list[str]]) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue().encode(errors="surrogateescape")
