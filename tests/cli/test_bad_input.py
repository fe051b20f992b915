"""Bad input of every kind: the right exit code, two lines on stderr, and the database as it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from npu_roofline.cli.main import run

from tests.cli.conftest import Samples


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Run a command line that must fail; return its exit code, error line and hint line."""
    capsys.readouterr()
    code = run(arguments)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert len(lines) == 2, err
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: ")
    assert "Traceback" not in err
    return code, lines[0], lines[1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("kernel_details.csv", b""),
        ("kernel_details.csv", b"Step Id,Name,Type\n"),
        ("kernel_details.csv", bytes(range(256)) * 40),
        ("kernel_details.csv", "Name,Duration(us)\né,1\n".encode("utf-16")),
        ("notes.csv", b"a,b\n1,2\n"),
        ("kernel_details.csv", b"A" * 10_000_000),
    ],
    ids=["empty", "header only", "binary", "wrong encoding", "no export", "10 MB in one line"],
)
def test_a_file_without_kernels_is_refused(
    name: str, content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that gives no kernel exits 3 with what is wrong, and no database appears."""
    file = tmp_path / name
    file.write_bytes(content)
    database = tmp_path / "runs.duckdb"
    code, error, _ = refused(["ingest", str(file), "--db", str(database)], capsys)
    assert code == 3
    assert name in error
    assert not database.exists()


def test_a_path_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing folder exits 3 and the error names it."""
    code, error, _ = refused(
        ["ingest", str(tmp_path / "nowhere"), "--db", str(tmp_path / "d.duckdb")], capsys
    )
    assert code == 3
    assert "nowhere" in error


def test_an_empty_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder without any export exits 3 and says so."""
    (tmp_path / "prof").mkdir()
    code, error, _ = refused(["ingest", str(tmp_path / "prof"), "--db", str(tmp_path / "d.duckdb")], capsys)
    assert code == 3
    assert "prof" in error


def test_damaged_rows_are_set_aside_and_the_rest_lands(
    samples: Samples, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A capture with damaged rows exits 4, and the rest of it answers questions."""
    database = str(tmp_path / "d.duckdb")
    assert run(["ingest", str(samples.profiles["broken_rows"]), "--db", database]) == 4
    assert "rejected" in capsys.readouterr().out
    assert run(["hotspots", "--db", database]) == 0


def test_the_same_content_is_refused_until_replaced(
    samples: Samples, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ingesting the same files again exits 3 under any name, and 0 with --replace."""
    database = str(tmp_path / "d.duckdb")
    path = str(samples.profiles["level0"])
    assert run(["ingest", path, "--db", database]) == 0
    code, error, hint = refused(["ingest", path, "--db", database, "--run", "another"], capsys)
    assert code == 3
    assert "already" in error
    assert "--replace" in hint
    assert run(["ingest", path, "--db", database, "--replace"]) == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["hotspots", "--run", "nosuchrun"], 3, "nosuchrun"),
        (["hotspots", "--rank", "77"], 3, "77"),
        (["hotspots", "--steps", "900"], 3, "900"),
        (["hotspots", "--steps", "x-y"], 2, "x-y"),
        (["hotspots", "--device", "910Z9"], 3, "910Z9"),
        (["hotspots", "--device", "missing.toml"], 3, "missing.toml"),
        (["hotspots", "--config", "missing.toml"], 3, "missing.toml"),
        (["hotspots", "--bound", "memry"], 2, "memry"),
        (["hotspots", "--limiter", "hbmm"], 2, "hbmm"),
        (["hotspots", "--family", "matmull"], 2, "matmull"),
        (["explain", "k-00000000"], 2, "k-00000000"),
        (["explain", "nonsense"], 2, "nonsense"),
        (["query", "DROP TABLE runs"], 2, "DROP"),
        (["query", "SELECT nothing FROM nowhere"], 2, "nowhere"),
        (["query", "SELECT * FROM read_csv('/etc/passwd')"], 2, "passwd"),
        (["compare", "moe_decode_before", "nosuchrun"], 3, "nosuchrun"),
        (["runs", "show", "nosuchrun"], 3, "nosuchrun"),
        (["runs", "remove", "nosuchrun"], 3, "nosuchrun"),
    ],
)
def test_a_question_that_cannot_be_answered_says_why(
    arguments: list[str], code: int, said: str, samples: Samples, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names that do not exist and questions that cannot be asked exit with their code and are named."""
    found, error, _ = refused([*arguments, "--db", str(samples.database)], capsys)
    assert found == code
    assert said in error


@pytest.mark.parametrize("command", [["hotspots"], ["runs", "list"], ["compare", "a", "b"]])
def test_a_missing_database_says_how_to_make_one(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Asking before anything was ingested exits 3, makes no file, and the hint names ingest."""
    database = tmp_path / "none.duckdb"
    code, error, hint = refused([*command, "--db", str(database)], capsys)
    assert code == 3
    assert "none.duckdb" in error
    assert "ingest" in hint
    assert not database.exists()


def test_a_database_of_another_tool_is_left_alone(
    samples: Samples, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A DuckDB file that is not ours is neither read nor written."""
    import duckdb

    database = tmp_path / "theirs.duckdb"
    with duckdb.connect(str(database)) as con:
        con.execute("CREATE TABLE runs (name VARCHAR)")
    before = database.read_bytes()
    for arguments in (["hotspots"], ["ingest", str(samples.profiles["level0"])]):
        code, error, _ = refused([*arguments, "--db", str(database)], capsys)
        assert code == 3
        assert "theirs.duckdb" in error
    assert database.read_bytes() == before


def test_a_locked_database_is_said_to_be_busy(
    samples: Samples, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """While another process holds the database for writing, a reader waits briefly and then says so."""
    database = tmp_path / "busy.duckdb"
    database.write_bytes(samples.database.read_bytes())
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import duckdb,sys; c=duckdb.connect(sys.argv[1]); print(1,flush=True); input()",
            database,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"1\n"
        code, error, _ = refused(["hotspots", "--db", str(database)], capsys)
    finally:
        holder.communicate(b"\n", timeout=30)
    assert code == 3
    assert "busy.duckdb" in error


def test_the_database_is_never_a_report(samples: Samples, capsys: pytest.CaptureFixture[str]) -> None:
    """-o onto the database, or onto an export, is refused and changes neither."""
    before = samples.database.read_bytes()
    target = str(samples.database)
    code, error, _ = refused(["hotspots", "--db", target, "--format", "json", "-o", target], capsys)
    assert code == 2
    assert "is left as it is" in error
    assert samples.database.read_bytes() == before
    table = next(samples.profiles["level0"].rglob("kernel_details.csv"))
    text = table.read_bytes()
    code, _, _ = refused(["hotspots", "--db", target, "-o", str(table)], capsys)
    assert code == 2
    assert table.read_bytes() == text


def test_a_removed_run_is_gone_and_the_others_stay(
    samples: Samples, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """runs remove takes one run away and says so; its export and the other runs are untouched."""
    database = tmp_path / "copy.duckdb"
    database.write_bytes(samples.database.read_bytes())
    assert run(["runs", "remove", "level0", "--db", str(database)]) == 0
    assert "level0" in capsys.readouterr().err
    assert run(["runs", "list", "--format", "csv", "--db", str(database)]) == 0
    listed = capsys.readouterr().out
    assert "level0" not in listed
    assert "moe_decode_after" in listed
    assert samples.profiles["level0"].is_dir()


def test_the_id_of_a_sequence_leads_to_its_command(
    samples: Samples, capsys: pytest.CaptureFixture[str]
) -> None:
    """An id of `fuse scan` is no unknown word: exit 2, and the hint names the command that explains it."""
    code, error, hint = refused(["explain", "f-73a02c77", "--db", str(samples.database)], capsys)
    assert (code, "f-73a02c77 is a sequence" in error) == (2, True)
    assert "fuse scan" in hint
