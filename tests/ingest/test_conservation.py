"""Whatever happens to a file: rows in = rows kept + rows rejected, or an error in words."""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st
from npu_roofline.errors import InternalError, NpuRooflineError
from npu_roofline.ingest.kernel_table import read_kernel_files
from npu_roofline.ingest.options import DEFAULTS

from .kernel_csv import row, starts, table

GOOD = table([row(start=start) for start in starts(12)], pmu=("aic_mac_ratio", "aiv_time(us)")).encode()
JUNK = st.sampled_from(
    [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"N/A", b"nan", b"-", b"1e400", b'""', b"\t", b";", b"9" * 30]
)


def read(content: bytes) -> tuple[int, int, int, int] | None:
    """(rows read, kept and rejected as told, rows in the tables); None when the file is refused in words."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel_details.csv"
        path.write_bytes(content)
        con = duckdb.connect()
        try:
            (file,) = read_kernel_files(con, [path], Path(folder), DEFAULTS)
        except InternalError:
            raise
        except NpuRooflineError:
            return None
        counts = con.execute(
            "SELECT (SELECT count(*) FROM raw), (SELECT count(*) FROM raw_rejects)"
        ).fetchone()
        assert counts == (file.rows_kept, file.rows_rejected)
        return file.rows_read, file.rows_kept, file.rows_rejected, sum(counts)


def lines_with_text(content: bytes) -> int:
    """Data lines that are not blank, counted apart from the reader: each is a row, kept or set aside."""
    return sum(1 for line in content.split(b"\n")[1:] if line.strip())


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), JUNK, st.booleans()), max_size=6))
def test_rows_in_are_rows_kept_and_rejected(edits: list[tuple[int, bytes, bool]]) -> None:
    """Random damage anywhere: every line with text is kept or rejected, or the file is refused in words."""
    content = GOOD
    for place, junk, insert in edits:
        content = content[:place] + junk + content[place + (0 if insert else len(junk)) :]
    counts = read(content)
    if counts is not None:
        rows_read, kept, rejected, stored = counts
        assert rows_read == kept + rejected == stored == lines_with_text(content)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, len(GOOD)))
def test_a_cut_loses_at_most_the_row_it_is_in(length: int) -> None:
    """A file cut anywhere keeps all the whole rows before the cut, or says what it is."""
    content = GOOD[:length]
    counts = read(content)
    whole = max(0, content.count(b"\n") - 1)
    if counts is None:
        assert whole <= 1  # cut in the header or in the first row: nothing is left to keep
    else:
        assert counts[1] >= whole
        assert counts[2] <= 1


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(5)), st.binary(max_size=300))
def test_arbitrary_bytes_never_raise_anything_else(order: list[int], tail: bytes) -> None:
    """Shuffled columns with arbitrary bytes behind them: an answer that adds up, or an error in words."""
    lines = [line.split(b",", 5) for line in GOOD.split(b"\n") if line]
    shuffled = b"\n".join(b",".join([*(line[place] for place in order), line[5]]) for line in lines)
    counts = read(shuffled + b"\n" + tail)
    if counts is not None:
        assert counts[0] == counts[1] + counts[2] == lines_with_text(shuffled + b"\n" + tail)
        assert counts[1] >= 12
