"""A real capture against itself: nothing is found where nothing is, and 2 % are found where they are."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import duckdb
import pytest
from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.compare import compare
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.statistics import fill_group_statistics

LONGCAT = "longcat_910c_decode"
STEPS = (3, 4, 5, 6, 7)  # step 3 holds an all-reduce of 14 ms, step 6 one of 691 us
GATE_UP = "4,3072;384,192,16,32;12288"
CALLED = ("faster", "slower")


def splits() -> Iterator[tuple[str, str]]:
    """The 10 ways to split five steps 2 against 3, each in both orders, as --steps takes them."""
    for two in combinations(STEPS, 2):
        three = [step for step in STEPS if step not in two]
        sides = (",".join(map(str, two)), ",".join(map(str, three)))
        yield from (sides, sides[::-1])


@pytest.fixture(scope="module")
def injected(real_database: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture, and runs in which the gate-up projection takes 2 % and 0.2 % more."""
    path = tmp_path_factory.mktemp("injected") / "injected.duckdb"
    shutil.copy(real_database(LONGCAT), path)
    with duckdb.connect(str(path)) as con:
        for number, (name, factor) in enumerate((("more", 1.02), ("little", 1.002)), 2):
            add_run(con, number, name, factor)
        fill_group_statistics(con)
    return path


def add_run(con: duckdb.DuckDBPyConnection, run_id: int, name: str, factor: float) -> None:
    """A copy of run 1 in which every call of the gate-up projection is longer by the factor."""
    con.execute(
        "INSERT INTO runs BY NAME SELECT ? AS run_id, ? AS name, ? AS content_hash, "
        "* EXCLUDE (run_id, name, content_hash) FROM runs WHERE run_id = 1",
        [run_id, name, name],
    )
    for table in ("ranks", "signatures", "tensors", "streams", "steps"):
        con.execute(
            f"INSERT INTO {table} BY NAME "
            f"SELECT ? AS run_id, * EXCLUDE (run_id) FROM {table} WHERE run_id = 1",
            [run_id],
        )
    con.execute(
        "INSERT INTO kernels BY NAME SELECT ? AS run_id, k.* EXCLUDE (run_id) REPLACE ("
        "k.duration_us * CASE WHEN s.input_shapes = ? THEN ? ELSE 1 END AS duration_us) "
        "FROM kernels AS k JOIN signatures AS s ON s.run_id = 1 AND s.signature_id = k.signature_id "
        "WHERE k.run_id = 1",
        [run_id, GATE_UP, factor],
    )
    con.execute(
        "UPDATE kernels SET end_ns = start_ns + round(duration_us * 1000)::BIGINT WHERE run_id = ?", [run_id]
    )


def asked(path: Path, before: tuple[str | None, str], after: tuple[str | None, str]) -> Answer:
    """(run, steps) on either side; None is the only run."""
    with (
        open_session(path, run=before[0], steps=before[1]) as one,
        open_session(path, run=after[0], steps=after[1]) as other,
    ):
        return compare(one, other)


@pytest.mark.parametrize("split", list(splits()), ids="-against-".join)
def test_no_split_of_one_capture_gives_a_change(
    real_database: Callable[[str], Path], split: tuple[str, str]
) -> None:
    """2 against 3 of the same five steps, in both orders: no place, no signature, no step is called changed.

    In 4 of the 10 ways the 14 ms all-reduce moves the median of a side from 10.7 to 18 ms.
    """
    answer = asked(real_database(LONGCAT), (None, split[0]), (None, split[1]))
    called = [row.key for row in answer.rows if row.change in CALLED]
    called += [each.name for each in answer.extras["signatures"] if each.change in CALLED]
    called += [stream.note for stream in answer.extras["streams"] if stream.longer_tail]
    assert called == []
    assert answer.extras["step"].wall_change == "inconclusive"
    assert answer.extras["verdict"].outcome == "inconclusive"
    assert answer.extras["regressions"] == ()
    assert {row.change for row in answer.rows} <= {"same", "inconclusive"}


def test_two_per_cent_in_the_gate_up_projection_are_found(injected: Path) -> None:
    """In at least 18 of the 20 splits the signature is called slower; nothing else is ever called."""
    found = 0
    for before, after in splits():
        answer = asked(injected, (LONGCAT, before), ("more", after))
        (gate_up,) = [each for each in answer.extras["signatures"] if each.input_shapes == GATE_UP]
        found += gate_up.change == "slower"
        assert {row.input_shapes for row in answer.rows if row.change in CALLED} <= {GATE_UP}
        assert gate_up.change in ("slower", "inconclusive")
    assert found >= 18


def test_two_tenths_of_a_per_cent_are_never_claimed(injected: Path) -> None:
    """0.2 % is far below the smallest effect of 1 %: inconclusive in every split, for places and together."""
    for before, after in list(splits())[::2]:
        answer = asked(injected, (LONGCAT, before), ("little", after))
        changes = {each.change for each in answer.extras["signatures"] if each.input_shapes == GATE_UP}
        assert changes <= {"inconclusive", "same"}
        assert not [row for row in answer.rows if row.change in CALLED]


def test_the_capture_against_itself(real_database: Callable[[str], Path]) -> None:
    """268 places, all the same; the outlier step is named, and the medians are those of the capture."""
    answer = asked(real_database(LONGCAT), (None, "3-7"), (None, "3-7"))
    assert len(answer.rows) == 268
    assert {row.change for row in answer.rows} == {"same"}
    assert (
        answer.extras["sentence"] == "No difference: the same numbers on both sides; the step takes 10.72 ms."
    )
    step = answer.extras["step"]
    assert (step.before.usable_steps, step.before.wall_us) == (4, pytest.approx(10_718.174))
    assert any("step 3 of longcat_910c_decode takes 25.6 ms" in note for note in answer.notes)


def test_the_step_adds_up_whatever_is_compared(real_database: Callable[[str], Path]) -> None:
    """Steps 3-5 against 6-7: rows and residuals give the change of mean and median wall to 0.1 us."""
    answer = asked(real_database(LONGCAT), (None, "3-5"), (None, "6-7"))
    step = answer.extras["step"]
    overlap, idle, median = (part.delta_us for part in answer.extras["residual"])
    changed = sum(row.delta_step_us for row in answer.rows)
    assert changed + overlap + idle == pytest.approx(
        step.after.wall_mean_us - step.before.wall_mean_us, abs=0.1
    )
    assert changed + overlap + idle + median == pytest.approx(step.wall_delta_us, abs=0.1)
    usual = answer.extras["usual"]
    assert (usual.steps_before, usual.steps_after) == (2, 2)
    assert usual.before_wall_us == pytest.approx((10_665.80 + 10_718.17) / 2, abs=1.0)
