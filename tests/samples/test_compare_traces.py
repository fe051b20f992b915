"""The sample pair with traces beside it, from the files to the reports: prefetches, and the critical path."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from npu_roofline.sample_profiles.generate import write_samples

from tests.samples.conftest import command_line
from tests.samples.traces import write_trace

TARGET = "c-772c5e02-17"
CAPTURES = {"before": ("moe_decode_before", None), "after": ("moe_decode_after", 25.0)}
CAPTURES |= {"late": ("moe_decode_after", 60.0)}


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """What `compare before X` writes; the prefetch of `after` takes 25 us, that of `late` 60."""
    folder: Path = tmp_path_factory.mktemp("traced")
    database = folder / "traced.duckdb"
    for name, (sample, prefetch_us) in CAPTURES.items():
        profile = write_samples(folder / name, [sample])[sample]
        write_trace(profile, prefetch_us)
        code, _, err = command_line("ingest", str(profile), "--run", name, "--db", str(database))
        assert code == 0, err

    def ask(after: str, *more: str) -> str:
        code, out, err = command_line(
            "compare", "before", after, "--target", TARGET, "--db", str(database), *more
        )
        assert code == 0, err
        return out

    return ask


def test_a_prefetch_in_time(compared: Callable[..., str]) -> None:
    """One of 25 us in each of 6 layers of a step: 150 us, all of it beside the window of 42 us, none late."""
    answer = json.loads(compared("after", "--format", "json"))
    rows = {row["name"]: (row["before"], row["after"], row["met"]) for row in answer["prefetch"]}
    assert rows["prefetch tasks"] == (0, 6, None)
    assert rows["their time"] == (0, pytest.approx(150.0), None)
    assert rows["overlap with the window"] == (None, pytest.approx(25.0), True)
    assert rows["ended after the target had started"] == (0, 0, True)
    assert rows["in flight for one call"] == (None, 40.0, True)  # the whole weight: 40 MiB
    assert answer["verdict"]["failure_signals"] == ["the target is faster and its window is stable"]


def test_a_late_prefetch_changes_what_to_do(compared: Callable[..., str]) -> None:
    """60 us do not fit into a window of 42 us: the target is faster all the same, more is not proposed."""
    answer = json.loads(compared("late", "--format", "json"))
    rows = {row["name"]: row["after"] for row in answer["prefetch"]}
    assert rows["ended after the target had started"] == 48
    assert rows["overlap with the window"] + rows["late by"] == pytest.approx(60.0, abs=0.3)
    assert answer["verdict"]["failure_signals"][0].startswith(
        "the target is faster, but its prefetch ends after"
    )


def test_the_path_of_both_sides(compared: Callable[..., str]) -> None:
    """All calls of the target are on it; the main stream's part is shorter by its gain, 54 us less others."""
    answer = json.loads(compared("after", "--format", "json"))
    assert [(side["status"], side["steps"], side["target_on_path"]) for side in answer["path_sides"]] == [
        ("validated", 8, 48),
        ("validated", 8, 48),
    ]
    rows = {row["name"]: row for row in answer["path"]}
    assert sum(row["before_us"] for row in answer["path"]) == pytest.approx(
        answer["step"]["before"]["wall_mean_us"]
    )
    assert rows["kernels of the main stream"]["delta_us"] == pytest.approx(-48.0, abs=0.1)
    assert "not explained" not in rows


@pytest.mark.parametrize(
    ("lang", "expected"),
    [
        (
            "en",
            (
                "| prefetch tasks | - | 0 | 6 | a step |",
                "of the target's 48 calls in these steps 48 are on it",
            ),
        ),
        ("zh", ("| 预取任务 | - | 0 | 6 | a step |", "目标在这些步中的 48 次调用里,48 次在关键路径上")),
    ],
)
def test_the_optimisation_report_has_both(
    compared: Callable[..., str], lang: str, expected: tuple[str, ...]
) -> None:
    """The checks stand in the checklist, the path in the findings and in the checklist."""
    text = compared("after", "--document", "--lang", lang)
    assert all(each.lower() in text.lower() for each in expected)
    findings, checklist = text.split("## 2.")[1].split("## 3.")[0], text.split("## 9.")[1].split("## 10.")[0]
    name = {"en": "kernels of the main stream", "zh": "主流上的算子"}[lang]
    assert name in findings
    assert name in checklist


def test_the_page_has_both(compared: Callable[..., str], tmp_path: Path) -> None:
    """The card of the trace, and prefetches in the timeline of either language."""
    for lang, title in (("en", "Prefetches that ran"), ("zh", "实际运行的预取")):
        page = tmp_path / f"{lang}.html"
        compared("after", "-o", str(page), "--lang", lang)
        text = page.read_text(encoding="utf-8")
        assert title in text
        assert 'id="trace"' in text
        assert json.dumps({"en": "prefetch", "zh": "预取"}[lang], ensure_ascii=False) in text
