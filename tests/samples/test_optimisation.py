"""The optimisation report: every heading of the specification, in both languages, whatever was measured."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from npu_roofline.analyzer.prefetch_tasks import PrefetchTask

from tests.samples.conftest import Profiles, command_line

PAIR = ("moe_decode_before", "moe_decode_after")
HEADINGS = {
    "en": (
        "Targets, and why",
        "Key findings of the roofline analysis",
        "The dependency window, and why it is safe",
        "Switches and code path",
        "max\\_size, and where it comes from",
        "Configuration and parameters",
        "Code changes",
        "Performance",
        "Verification checklist",
        "How to run the tests",
        "Risks, and what to try next",
    ),
    "zh": (
        "目标算子及理由",
        "Roofline 关键结论",
        "依赖窗口的选择理由",
        "开关与代码路径",
        "max\\_size 取值依据",
        "优化配置和参数",
        "代码修改说明",
        "性能测试结果",
        "验证检查清单",
        "如何运行测试",
        "风险与后续调优建议",
    ),
}


def document(profiles: Profiles, *more: str) -> str:
    """The report of the sample pair."""
    for name in PAIR:
        profiles.ingest(name)
    code, out, err = command_line("compare", *PAIR, "--db", str(profiles.database), "--document", *more)
    assert code == 0, err
    return out


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("target", [[], ["--target", "c-772c5e02-17"]], ids=["no target", "target"])
def test_every_heading_is_there(profiles: Profiles, lang: str, target: list[str]) -> None:
    """The eleven headings in their order, with a target and without; each section says something."""
    text = document(profiles, "--lang", lang, *target)
    sections = re.findall(r"^## \d+\. (.*)\n\n(\S)", text, flags=re.MULTILINE)
    assert tuple(title.replace("max_size", "max\\_size") for title, _ in sections) == HEADINGS[lang]


def test_the_numbers_of_a_target_are_filled_in(profiles: Profiles) -> None:
    """Half of 40 MiB limits; 33.16 -> 24.10 us; window 39.09 -> 39.98; four of five checks are met."""
    text = document(profiles, "--target", "c-772c5e02-17")
    assert "| weight 40.0 MiB x coefficient 0.5 | 20.0 MiB | ◄ |" in text
    assert "| target, a call | 33.16 | 24.10 | -9.06 | -27.3 % | faster |" in text
    assert "| its window, a call | 39.09 | 39.98 | \\+0.89 | \\+2.3 % | slower |" in text
    checklist = text.split("## 9.")[1].split("## 10.")[0]
    assert [checklist.count(f"| {word} |") for word in ("yes", "no", "not measured")] == [4, 0, 1]


def test_what_was_not_measured_says_what_to_run(profiles: Profiles) -> None:
    """Without a target: five places name the command that would fill them, and no number is made up."""
    text = document(profiles)
    assert text.count("Not measured. Run this:") >= 5
    assert "`npu-roofline candidates --run moe_decode_before`" in text
    assert "target, a call" not in text


def test_a_change_that_may_be_noise_is_no_percentage(profiles: Profiles) -> None:
    """Idle time 617.21 -> 618.68 us is inconclusive: times and difference are given, a percentage is not."""
    assert "| device idle | 617.21 | 618.68 | \\+1.47 | - | inconclusive |" in document(profiles)


def test_the_document_is_markdown_only(profiles: Profiles, tmp_path: Path) -> None:
    """-o report.md carries the tool's mark; another suffix is refused."""
    for name in PAIR:
        profiles.ingest(name)
    line = ["compare", *PAIR, "--db", str(profiles.database), "--document", "-o"]
    assert command_line(*line, str(tmp_path / "report.md"))[0] == 0
    assert (tmp_path / "report.md").read_text("utf-8").startswith("<!-- npu-roofline compare -->")
    code, _, err = command_line(*line, str(tmp_path / "report.html"))
    assert (code, "is Markdown" in err) == (2, True)


def test_the_ledger_is_in_the_report(profiles: Profiles) -> None:
    """A recorded experiment of the target stands in the table of sizes, with the knee marked."""
    for name in PAIR:
        profiles.ingest(name)
    for words in (["start", "c-772c5e02-17", "--run", PAIR[0]], ["record", *PAIR]):
        assert command_line("tune", *words, "--db", str(profiles.database))[0] == 0
    text = document(profiles, "--target", "c-772c5e02-17")
    assert re.search(r"\| 1 ◄ \| 20\.0 MiB \| 50 % \| GroupedMatmul, layer 14 \| \\\+1\.26 \| gain \|", text)


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        (None, "is seen in a trace only. Not measured. Run this:"),
        ((), "none: no copy task ran between the kernels of these steps"),
        ((4.0, 9.0, 5.0), "3 in 8 steps, 5.0 us long in the middle."),
    ],
)
def test_prefetch_tasks_are_counted_only_where_a_trace_was_read(
    profiles: Profiles, monkeypatch: pytest.MonkeyPatch, tasks: tuple[float, ...] | None, expected: str
) -> None:
    """Without a trace nothing is known of them, with one they are counted: of 4, 5, 9 us the middle is 5."""
    made = None if tasks is None else tuple(PrefetchTask(0, 0, us, 7, None) for us in tasks)
    monkeypatch.setattr("npu_roofline.analyzer.compare.document.prefetch_tasks", lambda _: made)
    assert expected in document(profiles)
