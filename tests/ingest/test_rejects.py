"""What cannot be believed is set aside with line and reason; a file that is no kernel table is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.errors import InputMissing, NpuRooflineError, UnsupportedExport
from npu_roofline.ingest.stage import Staging

from .kernel_csv import row, starts, table, write

GOOD = table([row(start=start) for start in starts(10)])
REJECTS = "SELECT line, reason FROM rejects ORDER BY line"


def damaged(line: int, change: Callable[[str], str]) -> str:
    """The good table with one line (1 is the header) changed."""
    lines = GOOD.split("\n")
    lines[line - 1] = change(lines[line - 1])
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: line.rsplit(",", 1)[0], "21 fields instead of 22"),
        (lambda line: line + ",1,2", "24 fields instead of 22"),
        (lambda line: line.replace(",40.000,", ",NaN,"), "duration is not finite"),
        (lambda line: line.replace(",40.000,", ",-inf,"), "duration is not finite"),
        (lambda line: line.replace(",40.000,", ",-4.020,"), "duration is negative"),
        (lambda line: line.replace(",40.000,", ",forty,"), "duration is not a number"),
        (lambda line: line.replace(",40.000,", ",N/A,"), "no duration"),
        (lambda line: line.replace(",40.000,", ",1e300,"), "duration is longer than any kernel"),
        (lambda line: line.replace("1779440805", "x"), "start time is not a number"),
        (lambda line: line.replace("1779440805", "-1779440805"), "start time is negative"),
        (
            lambda line: line.replace("1779440805", "99991779440805"),
            "start time is beyond the clock (2^63 ns)",
        ),
        (lambda line: line.replace("\t", "E+3"), "start time has an exponent: its digits are lost"),
        (lambda line: line.replace("dynamic", '"dyn"amic'), "quotes are not balanced"),
        (lambda line: line.replace("dynamic", "dyn\0amic"), "holds a NUL byte"),
        (lambda line: line.replace("dynamic", "x" * 1_100_000), "the line is longer than any row"),
    ],
)
def test_a_row_that_cannot_be_believed_is_set_aside(
    tmp_path: Path, staged: Callable[..., Staging], change: Callable[[str], str], reason: str
) -> None:
    """One damaged row of ten: it is in rejects with its line and reason, the other nine are kept."""
    con = staged(write(tmp_path, damaged(5, change))).con
    assert con.execute(REJECTS).fetchall() == [(5, reason)]
    assert con.execute("SELECT rows_read, rows_kept, rows_rejected FROM runs").fetchone() == (10, 9, 1)
    lines = con.execute("SELECT file_row FROM kernels ORDER BY kernel_id").fetchall()
    assert [line for (line,) in lines] == [2, 3, 4, 6, 7, 8, 9, 10, 11]


def test_a_row_that_is_not_utf8_is_set_aside(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """A name in another encoding costs its own row only."""
    profile = write(tmp_path, "")
    lines = GOOD.encode().split(b"\n")
    lines[3] = lines[3].replace(b"dynamic", b"dyn\xe9mic")
    (profile / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").write_bytes(b"\n".join(lines))
    assert staged(profile).con.execute(REJECTS).fetchall() == [(4, "not valid UTF-8")]


def test_an_open_quote_does_not_swallow_the_rows_behind_it(tmp_path: Path, rows: Callable) -> None:
    """A quote that is opened and never closed costs one row, not the rest of the file."""
    text = damaged(4, lambda line: line.replace(",dynamic,", ',"dynamic,'))
    assert rows(write(tmp_path, text), REJECTS) == [(4, "quotes are not balanced")]


def test_a_file_cut_in_the_middle_of_a_row_loses_that_row(tmp_path: Path, rows: Callable) -> None:
    """The profiler was killed while it wrote: the last line ends in its 20th field, DT_BF16."""
    assert rows(write(tmp_path, GOOD.removesuffix("BF16,ND,N/A\n")), REJECTS) == [
        (11, "20 fields instead of 22")
    ]


def test_blank_lines_are_no_rows(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Blank lines between and behind the rows are neither kept nor rejected, and lines keep their numbers."""
    con = staged(write(tmp_path, GOOD.replace("\n", "\n\n") + "\n")).con
    assert con.execute("SELECT rows_read, rows_kept, rows_rejected FROM runs").fetchone() == (10, 10, 0)
    assert con.execute("SELECT max(file_row) FROM kernels").fetchone() == (21,)


def test_a_cell_that_is_no_number_is_null_and_counted(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """A damaged cell that is not start or duration costs its value, not its row, and the rank says so."""
    con = staged(write(tmp_path, damaged(3, lambda line: line.replace(",24,", ",many,")))).con
    assert con.execute("SELECT count(*), count(block) FROM kernels").fetchone() == (10, 9)
    assert con.execute("SELECT notes FROM ranks").fetchall() == [
        (["kernel_details.csv: 1 cells of Block Dim cannot be read"],)
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (GOOD.split("\n")[0].encode() + b"\n", "has a header and no rows"),
        (b"\x7fELF\x02\x01\x01\0\0\0" + bytes(range(1, 200)) * 20, "is a binary file"),
        (GOOD.encode("utf-16"), "is UTF-16"),
        (GOOD.encode("utf-16-le"), "is UTF-16"),
        (b"Name,Start \xe9", "not UTF-8"),
        (GOOD.replace(",", ";").encode(), "separated by semicolons"),
        (GOOD.replace("\n", "\r").encode(), "CR alone"),
        (b"x" * 10_000_000, "longer than any header"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "Git LFS pointer"),
        (
            GOOD.replace(",40.000,", ",NaN,").encode(),
            "none of the 10 rows can be read: duration is not finite",
        ),
        (GOOD.replace("3,0,", "3,1,", 1).encode(), r"several devices \(Device_id 0, 1\)"),
        (GOOD.replace("Block Dim", "Duration(us)", 1).encode(), r"occur twice: Duration\(us\)"),
    ],
)
def test_a_file_that_is_no_kernel_table_is_refused_in_words(
    tmp_path: Path, staged: Callable, content: bytes, words: str
) -> None:
    """What is wrong, where, and a hint: one UnsupportedExport and nothing else."""
    profile = write(tmp_path, "")
    (profile / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").write_bytes(content)
    with pytest.raises(UnsupportedExport, match=words) as caught:
        staged(profile)
    assert "kernel_details.csv" in caught.value.message
    assert caught.value.hint


def test_a_path_that_is_not_there_is_said(tmp_path: Path, staged: Callable) -> None:
    """A wrong path is InputMissing with the path in it."""
    with pytest.raises(InputMissing, match=r"no file or folder .*nowhere"):
        staged(tmp_path / "nowhere")


def test_a_file_that_vanishes_is_said(
    tmp_path: Path, staged: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is gone between finding and reading it is InputMissing, not a traceback."""
    profile = write(tmp_path, GOOD)
    monkeypatch.setattr("npu_roofline.ingest.stage._refuse_unanswerable", lambda *_: _unlink(profile))
    with pytest.raises(InputMissing, match="not there"):
        staged(profile)


def _unlink(profile: Path) -> None:
    (profile / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").unlink()


def test_a_file_that_grows_while_it_is_read_is_refused(
    tmp_path: Path, staged: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A profiler that still writes would give half a step; the file is refused."""
    from npu_roofline.ingest import kernel_table

    profile = write(tmp_path, GOOD)
    read = kernel_table._read_strictly

    def read_and_grow(con, number, path, *rest):
        answer = read(con, number, path, *rest)
        path.write_text(GOOD + GOOD.split("\n", 1)[1])
        return answer

    monkeypatch.setattr(kernel_table, "_read_strictly", read_and_grow)
    with pytest.raises(UnsupportedExport, match="changed while it was read"):
        staged(profile)


def test_no_permission_is_said(tmp_path: Path, staged: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be opened is InputMissing with the reason (played: root may open everything)."""
    profile = write(tmp_path, GOOD)
    real = Path.open

    def refuse(path: Path, *arguments, **options):
        if path.name == "kernel_details.csv":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputMissing, match="Permission denied"):
        staged(profile)


def test_one_broken_rank_does_not_stop_the_others(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Of two ranks one is empty: the other lands, the broken one is named in files, ranks and notes."""
    write(tmp_path / "rank_0_ascend_pt", GOOD)
    write(tmp_path / "rank_1_ascend_pt", "")
    con = staged(tmp_path).con
    assert con.execute("SELECT rank_id, has_kernels FROM ranks ORDER BY rank_id").fetchall() == [
        (0, True),
        (1, False),
    ]
    assert con.execute("SELECT rank_id, status FROM files ORDER BY rank_id").fetchall() == [
        (0, "read"),
        (1, "failed"),
    ]
    (notes,) = con.execute("SELECT notes FROM runs").fetchone() or ([],)
    assert len(notes) == 1
    assert "is empty" in notes[0]


def test_when_every_rank_is_broken_the_first_error_is_raised(tmp_path: Path, staged: Callable) -> None:
    """Two empty ranks are an error, not an empty run."""
    write(tmp_path / "rank_0_ascend_pt", "")
    write(tmp_path / "rank_1_ascend_pt", "")
    with pytest.raises(NpuRooflineError, match=r"rank_0_ascend_pt.*is empty"):
        staged(tmp_path)
