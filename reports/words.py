"""What a document says in each language: our own sentences by key, those of other data by their English.

Both stand in `words_en.toml` and `words_zh.toml`. Sentences that an analysis composes (reasons, notes) are
quoted in English in every language; the documents say so.
"""

from __future__ import annotations

import functools
import importlib.resources
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..errors import WrongUsage

Language = Literal["en", "zh"]
LANGUAGES: Final = ("en", "zh")


@dataclass(frozen=True)
class Words:
    """The texts of one language."""

    lang: str
    texts: Mapping[str, str]  # by dotted key
    said: Mapping[str, str]  # English text of another data file -> this language; empty for English

    def __call__(self, key: str, /, **values: Any) -> str:
        """The text of a key with its placeholders filled; KeyError for a key that is not there."""
        text = self.texts[key]
        return text.format(**values) if values else text

    def say(self, text: str) -> str:
        """An English text in this language; itself where it is data, or was composed by an analysis."""
        return self.said.get(text, text)


@functools.cache
def words(lang: str = "en") -> Words:
    """The texts of a language. Raises WrongUsage for one that is not there."""
    if lang not in LANGUAGES:
        raise WrongUsage(f"no document is written in {lang!r}", f"--lang takes {' or '.join(LANGUAGES)}")
    text = importlib.resources.files("npu_roofline.reports").joinpath(f"words_{lang}.toml").read_text("utf-8")
    found = tomllib.loads(text)
    return Words(lang, dict(_flat(found["texts"])), found.get("english", {}))


def _flat(table: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Nested tables as dotted keys."""
    found: list[tuple[str, str]] = []
    for name, value in table.items():
        found += (
            _flat(value, f"{before}{name}.") if isinstance(value, Mapping) else [(f"{before}{name}", value)]
        )
    return found
