"""A fixed few hundred damaged exports, and every one that ever made the tool fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.fuzz.bases import BASES, base
from tests.fuzz.cases import Case, case
from tests.fuzz.judge import command, faults

GROUPS, GROUP_SIZE = 15, 20
# Seeds that once had a fault, from `make fuzz`; they stay.
ONCE_FAILED: tuple[int, ...] = ()


@pytest.mark.parametrize("group", range(GROUPS))
def test_damaged_exports_are_answered_or_refused_clearly(group: int, tmp_path: Path) -> None:
    """Twenty damaged exports each: no internal error, no row lost, every command answers or says why not."""
    seeds = range(group * GROUP_SIZE, (group + 1) * GROUP_SIZE)
    assert [fault for seed in seeds for fault in faults(case(seed), tmp_path)] == []


@pytest.mark.parametrize("seed", ONCE_FAILED)
def test_what_once_failed_does_not_fail_again(seed: int, tmp_path: Path) -> None:
    """A damaged export that once showed a fault of the tool is taken as it should be."""
    assert faults(case(seed), tmp_path) == []


@pytest.mark.parametrize("name", BASES)
def test_the_bases_are_whole(name: str, tmp_path: Path) -> None:
    """Undamaged, every base lands without a rejected row: the damage is what the other tests see."""
    whole = Case(0, name, "", (), dict(base(name)))
    assert faults(whole, tmp_path) == []
    code, out, _ = command(["runs", "list", "--db", str(tmp_path / "case_0.duckdb"), "--format", "json"])
    assert code == 0
    assert [row["rows_rejected"] for row in json.loads(out)["rows"]] == [0]


def test_a_case_is_fixed_by_its_number() -> None:
    """The same seed gives the same bytes, other seeds other bytes, and most cases are really damaged."""
    assert case(7) == case(7)
    cases = [case(seed) for seed in range(60)]
    assert sum(each.files != dict(base(each.name)) for each in cases) > 50
    assert len({each.mutations for each in cases}) > 20
