"""The design document: its seven items in both languages, and nothing that an export can inject."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest
from npu_roofline.analyzer.answer import Saving
from npu_roofline.analyzer.plan import LANGUAGES, MODES
from npu_roofline.reports.plan_document import plan_document, plan_words
from npu_roofline.reports.render import render

from tests.plan.conftest import Planned

HEADINGS = {
    "en": ("Targets, and why", "What the roofline says", "Why these dependencies", "Switch and code path",
           "max_size", "Verification", "Risks, and what to do next"),
    "zh": ("目标算子及理由", "Roofline 关键结论", "依赖窗口的选择理由", "开关与代码路径", "max_size 取值依据",
           "验证", "风险与后续"),
}  # fmt: skip
CONFIRM = {"en": "To be confirmed before anything is written", "zh": "实施前须确认"}


def _blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("mode", MODES)
def test_the_seven_items_in_order(lang: str, mode: str, planned: Planned):
    """Sections 1 to 7 as the specification lists them, then what to confirm, then three blocks of code."""
    text = plan_document(planned(mode=mode, lang=lang))
    found = re.findall(r"^## (\d)\. (.*)$", text, re.MULTILINE)
    assert [number for number, _ in found] == list("1234567")
    assert tuple(title for _, title in found) == HEADINGS[lang]
    assert CONFIRM[lang] in text
    blocks = _blocks(text, "python")
    assert len(blocks) == 3
    for block in blocks:
        ast.parse(block)
    assert "enable_prefetch" in text


def test_every_number_of_a_size_is_shown(planned: Planned):
    """Weight, each term, the size in bytes and what limits it; the walk ends at what blocked it."""
    answer = planned()
    text = plan_document(answer)
    for call in answer.rows:
        assert f"{call.max_size:,}" in text
        assert call.limited_by in text
    assert "GroupedMatmul" in text
    assert "hazard (memory-bound" in text
    assert "(a prefetch gets" in text or "a prefetch gets 0.65" in text


def test_tables_have_the_same_cells_in_every_row(planned: Planned):
    """A cell with an unescaped border would shift the columns of its row."""
    for lang in LANGUAGES:
        lines = plan_document(planned(lang=lang)).splitlines()
        width = 0
        for line in lines:
            if not line.startswith("|"):
                width = 0
                continue
            cells = len(re.findall(r"(?<!\\)\|", line))
            width = width or cells
            assert cells == width, line


def test_nothing_planned_says_why(planned: Planned):
    """Prefill: one sentence with the reason, no code, no confirmation to ask for."""
    text = plan_document(planned(run="prefill"))
    assert "prefill" in text
    assert text.split("## Notes")[0].count("prefetch pays in decode") == 1  # the first line
    assert _blocks(text, "python") == []
    assert CONFIRM["en"] not in text


def test_the_saving_is_a_range_in_both_languages(planned: Planned):
    """100 to 130 us for each of two calls are 200 to 260 us; of a step of 4 ms that is 5 to 6.5 %."""
    for lang, (said, share) in {
        "en": (
            "2 prefetch calls for ge_graph, which would save 200.0 us to 260.0 us",
            "5.0 % to 6.5 % of it",
        ),
        "zh": ("ge_graph 模式下 2 个预取调用,按模型每步节省 200.0 us 至 260.0 us。", "占 5.0 % 至 6.5 %"),
    }.items():
        answer = planned(lang=lang)
        span = Saving(100.0, 120.0, 130.0)
        call = replace(answer.rows[0], row=replace(answer.rows[0].row, predicted_saving_step_range_us=span))
        rows, extras = (call, replace(call, name="other")), {**answer.extras, "step_us": 4000.0}
        text = plan_document(replace(answer, rows=rows, extras=extras)).replace("\\_", "_")
        assert said in text
        assert share in text


def test_both_languages_have_the_same_sentences():
    """A risk that one language lacks would be a KeyError for its readers."""
    english, chinese = plan_words()["en"], plan_words()["zh"]
    assert english.keys() == chinese.keys()
    for part in ("modes", "risks", "conclusions"):
        assert english[part].keys() == chinese[part].keys()
        for name, text in english[part].items():
            fields = set(re.findall(r"\{(\w+)\}", text))
            assert fields == set(re.findall(r"\{(\w+)\}", chinese[part][name])), name


@pytest.mark.parametrize("lang", LANGUAGES)
def test_markup_of_an_export_stays_text(lang: str, planned: Planned):
    """Links, HTML, table borders, fences and template marks in names come out escaped."""
    bad = "a|b [x](http://evil) <script>alert(1)</script> ```\n# h {{ 7*7 }} \u202e"
    answer = planned(lang=lang)
    row = replace(answer.rows[0].row, reason=bad, target_type=bad, notes=(bad,))
    calls = (
        replace(answer.rows[0], name=bad, target=bad, dependency=bad, role=bad, row=row),
        *answer.rows[1:],
    )
    text = plan_document(replace(answer, rows=calls, notes=(bad,)))
    prose = re.sub(r"^```\w+\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "<script>" not in prose
    assert "](http" not in prose
    assert "\u202e" not in text
    assert "49" not in re.findall(r"# h (\S+)", text)
    assert "\n# h" not in text


def test_every_format_of_a_plan(planned: Planned):
    """Table, JSON, CSV, HTML are the calls; Markdown is the document."""
    answer = planned()
    assert render(answer, "md") == plan_document(answer)
    for form in ("table", "json", "csv", "html"):
        assert "gate_up_proj@17" in render(answer, form, width=200).replace("<wbr>", "")
