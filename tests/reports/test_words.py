"""Both languages say the same things, and nothing is left untranslated."""

from __future__ import annotations

import re
import string
import tomllib

import pytest
from npu_roofline.analyzer.compare.signals import rules
from npu_roofline.analyzer.tuning.readings import MEANING
from npu_roofline.errors import WrongUsage
from npu_roofline.reports.words import LANGUAGES, words

from tests.repository import ROOT

# The same in every language: names of columns and values that are code, and units.
ALIKE = {"report.configuration.cann", "report.configuration.torch_npu"}
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def placeholders(text: str) -> set[str]:
    """The names that a text is filled with."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_both_languages_have_the_same_keys() -> None:
    """No text exists in one language only, and each is filled with the same values."""
    english, chinese = words("en").texts, words("zh").texts
    assert set(english) == set(chinese)
    assert {key for key in english if placeholders(english[key]) != placeholders(chinese[key])} == set()


def test_no_text_is_left_untranslated() -> None:
    """Every Chinese text holds Chinese, unless it is only punctuation or the same in both on purpose."""
    for key, text in words("zh").texts.items():
        assert CHINESE.search(text) or key in ALIKE or not re.search(r"[A-Za-z]", text), key
    assert [text for text in words("zh").said.values() if not CHINESE.search(text)] == []


def test_what_a_verdict_says_is_translated() -> None:
    """Every signal, action, outcome, change, reading and criterion has a Chinese text."""
    source = (ROOT / "analyzer" / "compare" / "verdict.py").read_text(encoding="utf-8")
    criteria = re.findall(r'CriterionRow\(\s*"([^"]+)"', source)
    assert len(criteria) >= 8
    needed = {text for rule in rules() for text in (rule.signal, rule.action)}
    needed |= {
        *criteria,
        *MEANING,
        "accepted",
        "rejected",
        "inconclusive",
        "faster",
        "slower",
        "same",
        "new",
        "gone",
    }
    assert needed - set(words("zh").said) == set()


def test_texts_are_used() -> None:
    """No key is dead: each stands in a template or a module of the reports, whole or by its last part."""
    reports = ROOT / "reports"
    files = [*reports.glob("*.py"), *(reports / "templates").glob("*")]
    used = "".join(path.read_text(encoding="utf-8") for path in files)
    dead = [
        key
        for key in words("en").texts
        if key.split(".", 1)[-1] not in used and f'"{key.split(".")[-1]}"' not in used
    ]
    assert dead == []


def test_an_unknown_language_is_refused() -> None:
    """Only the languages that there are; the message names them."""
    with pytest.raises(WrongUsage, match="'fr'"):
        words("fr")
    assert set(LANGUAGES) == {
        path.stem.removeprefix("words_") for path in (ROOT / "reports").glob("words_*.toml")
    }


def test_the_files_are_toml() -> None:
    """A text that breaks the file would break every document."""
    for lang in LANGUAGES:
        assert tomllib.loads((ROOT / "reports" / f"words_{lang}.toml").read_text("utf-8"))
