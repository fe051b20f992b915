"""Finding the sequences of the rules in the kernels of a stream.

A stream's kernels become a text of one character per operator type and each sequence a regular expression,
so that a million kernels are searched without a loop over them in Python.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .rules import Item, Rule, RuleBook

# One character per type, from a plane of Unicode in which every code point is a plain character.
_FIRST_CHARACTER = 0x20000
# Stands for a kernel that no sequence may pass: taken already, or on an engine without roofline.
BARRIER = "\0"
_FILLERS_BETWEEN = 2


@dataclass(frozen=True)
class Match:
    """A rule found at some kernels: indexes into the text, in order, with the place each has in the
    sequence.
    """

    rule: Rule
    kernels: tuple[int, ...]  # everything from first to last, fillers included
    places: tuple[int, ...]  # position in the sequence, -1 for a filler
    sequence: int  # which of the rule's sequences

    @property
    def claimed(self) -> tuple[int, ...]:
        """The kernels that would go: all but the ones that stay as context."""
        return tuple(
            kernel
            for kernel, place in zip(self.kernels, self.places, strict=True)
            if place not in self.rule.context
        )


class Alphabet:
    """Which character stands for which normalised type."""

    def __init__(self, types: Mapping[str, int]) -> None:
        self._codes = dict(types)

    @classmethod
    def of(cls, names: list[str]) -> Alphabet:
        """The alphabet of the distinct names, in their order."""
        return cls({name: number for number, name in enumerate(dict.fromkeys(names))})

    def code(self, name: str) -> int:
        """The number of a type; KeyError for one that does not occur."""
        return self._codes[name]

    def characters(self, types: frozenset[str]) -> str:
        """The characters of those of the types that occur."""
        return "".join(chr(_FIRST_CHARACTER + self._codes[name]) for name in sorted(types & set(self._codes)))

    def text(self, codes: NDArray[np.int64], passable: NDArray[np.bool_]) -> str:
        """One character per kernel; BARRIER where a kernel may not be passed."""
        points = np.where(passable, codes + _FIRST_CHARACTER, 0).astype("<u4")
        return points.tobytes().decode("utf-32-le")


@dataclass(frozen=True)
class Pattern:
    """One sequence of a rule as a regular expression over the characters of an alphabet."""

    rule: Rule
    sequence: int
    expression: re.Pattern[str]
    items: tuple[int, ...]  # the sequence position of each capturing group
    repeats: bool


def patterns(book: RuleBook, alphabet: Alphabet) -> tuple[Pattern, ...]:
    """The sequences that can occur at all with these types, as regular expressions."""
    found = []
    for rule in book.rules:
        if rule.only_with and not alphabet.characters(rule.only_with):
            continue
        for number, items in enumerate(rule.sequences):
            expression = _expression(items, rule, alphabet)
            if expression is not None:
                repeats = any(item.repeats for item in items)
                found.append(Pattern(rule, number, re.compile(expression[0]), expression[1], repeats))
    return tuple(found)


def _expression(
    items: tuple[Item, ...], rule: Rule, alphabet: Alphabet
) -> tuple[str, tuple[int, ...]] | None:
    """The expression of a sequence and the position behind each group; None when a type is absent."""
    between = alphabet.characters(rule.fillers)
    gap = f"[{between}]{{0,{_FILLERS_BETWEEN}}}" if between else ""
    parts: list[str] = []
    places: list[int] = []
    started = False  # a filler stands between two kernels, never before the first
    for place, item in enumerate(items):
        characters = alphabet.characters(item.types)
        if not characters:
            if item.optional:
                continue
            return None
        one = f"[{characters}]"
        group = f"({one}(?:{gap}{one}){{{item.least - 1},}})" if item.repeats else f"({one})"
        places.append(place)
        if not started:
            parts.append(f"(?:{group}{gap})?" if item.optional else group)
            started = not item.optional
        else:
            parts.append(f"(?:{gap}{group})?" if item.optional else gap + group)
    return "".join(parts), tuple(places)


def matches_in(text: str, pattern: Pattern) -> Iterator[Match]:
    """Every place at which a sequence stands, from left to right, overlapping ones too."""
    start = 0
    while (found := pattern.expression.search(text, start)) is not None:
        yield _match(found, pattern)
        # A run of a repeated item is one match, not one for each kernel that it could begin at.
        start = found.end() if pattern.repeats else found.start() + 1


def _match(found: re.Match[str], pattern: Pattern) -> Match:
    places = [-1] * (found.end() - found.start())
    for group, place in enumerate(pattern.items, start=1):
        for kernel in range(*found.span(group)):
            places[kernel - found.start()] = place
    kernels = tuple(range(found.start(), found.end()))
    # The kernels of a repeated item include the fillers between them; a filler is no part of the pattern.
    return Match(pattern.rule, kernels, tuple(places), pattern.sequence)
