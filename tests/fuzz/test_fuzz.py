"""A fixed few hundred damaged exports, and every one that ever made the tool fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz import judge
from tests.fuzz.bases import BASES, base
from tests.fuzz.cases import Case, case
from tests.fuzz.judge import case_faults, command, group_faults

GROUPS, GROUP_SIZE = 4, 50
# Seeds that once had a fault, from `make fuzz`; they stay.
ONCE_FAILED: tuple[int, ...] = (22653,)


@pytest.mark.parametrize("group", range(GROUPS))
def test_damaged_exports_are_answered_or_refused_clearly(group: int, tmp_path: Path) -> None:
    """Damaged ranks of one run: no internal error, no row lost, the whole ranks land, all is said."""
    first = group * GROUP_SIZE
    assert group_faults(range(first, first + GROUP_SIZE), tmp_path) == []


@pytest.mark.parametrize("seed", [3, 5, 8, *ONCE_FAILED])
def test_a_damaged_export_alone_is_answered_or_refused_clearly(seed: int, tmp_path: Path) -> None:
    """Alone, too: three kinds of damage, and whatever once showed a fault of the tool."""
    assert case_faults(case(seed), tmp_path) == []


@pytest.mark.parametrize("name", BASES)
def test_the_bases_are_whole(name: str, tmp_path: Path) -> None:
    """Undamaged, every base lands without a rejected row: the damage is what the other tests see."""
    whole = Case(0, name, "", (), dict(base(name)))
    assert case_faults(whole, tmp_path) == []
    code, out, _ = command("runs", "list", "--db", str(tmp_path / "case_0.duckdb"), "--format", "json")
    assert code == 0
    assert [row["rows_rejected"] for row in json.loads(out)["rows"]] == [0]


def test_a_case_is_fixed_by_its_number() -> None:
    """The same seed gives the same bytes, other seeds other bytes, and most cases are really damaged."""
    assert case(7) == case(7)
    cases = [case(seed) for seed in range(60)]
    assert sum(each.files != dict(base(each.name)) for each in cases) > 50
    assert len({each.mutations for each in cases}) > 20


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ((5, "", "error: internal error: KeyError: 'x'\nhint: report it"), "ended with 5"),
        ((3, "", "no such thing"), "without an error and a hint"),
        ((3, "", "error: x\nhint: y\nTraceback (most recent call last)"), "traceback"),
        (
            (0, '{"rows": [], "ranks": [], "rows_read": 5, "rows_kept": 3, "rows_rejected": 1}', ""),
            "5 in, 3 kept",
        ),
    ],
)
def test_a_fault_is_seen(
    result: tuple[int, str, str], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An internal error, an error without a hint, a traceback and a lost row are each found."""
    monkeypatch.setattr(judge, "command", lambda *_: result)
    assert any(fault in each for each in case_faults(case(1), tmp_path))


def test_a_number_that_is_not_json_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NaN in an answer is no JSON, and is found."""

    def answers(*arguments: str) -> tuple[int, str, str]:
        rank = {"rank": 0, "has_kernels": True}
        whole: dict[str, Any] = {
            "rows": [],
            "ranks": [rank],
            "rows_read": 1,
            "rows_kept": 1,
            "rows_rejected": 0,
        }
        return (0, json.dumps(whole), "") if arguments[0] == "ingest" else (0, '{"x": NaN}', "")

    monkeypatch.setattr(judge, "command", answers)
    assert any("NaN is not JSON" in each for each in case_faults(case(1), tmp_path))
