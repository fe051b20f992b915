"""ingest_run and runs: what lands, what is said about it, and that a run lands whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.analyzer.hotspots import hotspots
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.runs import runs_list, runs_show
from npu_roofline.analyzer.session import open_session
from npu_roofline.errors import AlreadyIngested, InputMissing, UnknownDevice
from npu_roofline.sample_profiles.generate import write_samples


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The sample profiles by name."""
    return write_samples(tmp_path_factory.mktemp("samples"))


def test_an_ingest_tells_what_it_read(samples: dict[str, Path], tmp_path: Path) -> None:
    """1,888 rows in, 1,888 kept, none rejected, 112 listed twice; one row per file of the folder."""
    answer = ingest_run([samples["moe_decode_before"]], tmp_path / "a.duckdb", name="before")
    assert answer.extras["name"] == "before"
    assert (answer.extras["rows_read"], answer.extras["rows_kept"], answer.rejected) == (1888, 1888, 0)
    assert answer.extras["duplicate_rows"] == 112
    [table] = [row for row in answer.rows if row.kind == "kernel_details"]
    assert (table.rows_read, table.rows_kept, table.rows_rejected) == (1888, 1888, 0)
    assert answer.device is not None
    assert "910B2" in (answer.device.soc or "")


def test_rejected_rows_are_counted_and_shown(samples: dict[str, Path], tmp_path: Path) -> None:
    """A damaged table lands without its broken rows; each of them is told with file, line and reason."""
    answer = ingest_run([samples["broken_rows"]], tmp_path / "a.duckdb")
    assert answer.rejected > 0
    assert answer.extras["rows_read"] == answer.extras["rows_kept"] + answer.rejected
    assert all(each.reason and each.line for each in answer.extras["rejects"])


def test_the_same_content_is_refused_unless_replaced(samples: dict[str, Path], tmp_path: Path) -> None:
    """A second ingest of one profile is recognised; --replace leaves one run, not two."""
    database = tmp_path / "a.duckdb"
    ingest_run([samples["level0"]], database, name="a")
    with pytest.raises(AlreadyIngested):
        ingest_run([samples["level0"]], database, name="b")
    ingest_run([samples["level0"]], database, name="a", replace=True)
    assert [row.name for row in runs_list(database).rows] == ["a"]


def test_a_wrong_device_stops_before_anything_is_written(samples: dict[str, Path], tmp_path: Path) -> None:
    """--device 910Z9 is no device: no database is made."""
    database = tmp_path / "a.duckdb"
    with pytest.raises(UnknownDevice):
        ingest_run([samples["level0"]], database, device="910Z9")
    assert not database.exists()


def test_the_device_given_to_ingest_holds(samples: dict[str, Path], tmp_path: Path) -> None:
    """A level-0 run ingested with --device 910B3 answers on that chip; a command's own --device goes
    first.
    """
    database = tmp_path / "a.duckdb"
    ingest_run([samples["level0"]], database, device="910B3")
    with open_session(database) as session:
        assert "910B3" in (session.device_info.soc or "")
    with open_session(database, device="910B4") as session:
        assert "910B4" in (session.device_info.soc or "")


def test_a_device_file_stays_in_the_database(samples: dict[str, Path], tmp_path: Path) -> None:
    """A user's TOML is kept as text: after the file is gone the run still answers with its numbers."""
    import npu_roofline.roofline.device as hardware

    file = tmp_path / "mine.toml"
    text = (hardware.DEVICE_FOLDER / "910b3_9372.toml").read_text(encoding="utf-8")
    head, _, soc = text.partition("[[soc]]")
    first = "[[soc]]" + soc.split("[[soc]]")[0]
    file.write_text((head + first).replace('"910B3"', '"MY-BOARD"'), encoding="utf-8")
    ingest_run([samples["level0"]], tmp_path / "a.duckdb", device=str(file))
    file.unlink()
    with open_session(tmp_path / "a.duckdb") as session:
        assert "MY-BOARD" in (session.device_info.soc or "")


def test_the_latest_run_answers_unless_named(samples: dict[str, Path], tmp_path: Path) -> None:
    """Two runs: the second answers by default, the first by name, and a third name lists the two."""
    database = tmp_path / "a.duckdb"
    ingest_run([samples["level0"]], database, name="first")
    ingest_run([samples["dense_decode"]], database, name="second")
    with open_session(database) as session:
        assert session.run.name == "second"
    with open_session(database, run="first") as session:
        assert session.run.name == "first"
    with pytest.raises(InputMissing) as caught, open_session(database, run="third"):
        pass
    assert "first, second" in caught.value.hint


def test_runs_are_listed_the_latest_first(samples: dict[str, Path], tmp_path: Path) -> None:
    """The list tells kernels, steps and the device of each run."""
    database = tmp_path / "a.duckdb"
    ingest_run([samples["level0"]], database, name="first")
    ingest_run([samples["moe_decode_before"]], database, name="second")
    rows = runs_list(database).rows
    assert [row.name for row in rows] == ["second", "first"]
    assert (rows[0].kernels, rows[0].steps, rows[0].ranks) == (1888, 8, 1)
    assert rows[1].device is None


def test_a_run_says_what_it_can_answer(samples: dict[str, Path], tmp_path: Path) -> None:
    """Level 0 cannot say what limits a kernel, and names the option that records it."""
    ingest_run([samples["level0"]], tmp_path / "a.duckdb")
    questions = runs_show(tmp_path / "a.duckdb").extras["questions"]
    lacking = [each for each in questions if each.status == "no"]
    assert lacking
    assert all(each.missing and each.how_to_record for each in lacking)


def test_answers_are_the_same_every_time(samples: dict[str, Path], tmp_path: Path) -> None:
    """Two ingests of one profile, on one and on two threads, give equal hotspots to the last digit."""
    answers = []
    for jobs in (1, 2):
        database = tmp_path / f"{jobs}.duckdb"
        ingest_run([samples["moe_decode_before"]], database, name="same", jobs=jobs)
        with open_session(database) as session:
            answers.append(hotspots(session).rows)
    assert answers[0] == answers[1]


def test_progress_is_told_stage_by_stage(samples: dict[str, Path], tmp_path: Path) -> None:
    """The caller hears of reading, layers, statistics and writing, in that order."""
    heard: list[str] = []

    def listen(stage: str, done: int, total: int | None) -> None:
        heard.append(stage)
        assert total is None or done <= total

    ingest_run([samples["level0"]], tmp_path / "a.duckdb", progress=listen)
    stages = list(dict.fromkeys(heard))
    assert stages[-3:] == ["finding layers", "working out statistics", "writing the database"]
    assert len(stages) > 3
