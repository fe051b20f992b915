"""Which steps a question looks at: the text of --steps against the steps that the rank has."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InputMissing, WrongUsage

_SHOWN = 12  # step ids named in a message before it says how many more there are


def parse_steps(text: str, existing: Sequence[int]) -> tuple[int, ...]:
    """Turn '4', '4,6' or '3-7' (also mixed) into ascending step ids that exist.

    A single number must exist; a range takes the steps that exist in it. Raises WrongUsage for other text,
    InputMissing (naming the steps there are) when nothing fits.
    """
    have = set(existing)
    chosen: set[int] = set()
    for part in text.split(","):
        first, last = _bounds(part.strip(), text)
        inside = {step for step in have if first <= step <= last}
        if not inside:
            raise InputMissing(
                f"no step {part.strip()} in this rank", f"its steps are {name_steps(existing)}"
            )
        chosen |= inside
    return tuple(sorted(chosen))


def name_steps(steps: Sequence[int]) -> str:
    """Step ids for a sentence; runs of consecutive ids as a range: '3-7, 9'."""
    ranges: list[tuple[int, int]] = []
    for step in sorted(set(steps)):
        if ranges and step == ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], step)
        else:
            ranges.append((step, step))
    texts = [str(first) if first == last else f"{first}-{last}" for first, last in ranges]
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return (", ".join(texts[:_SHOWN]) + more) or "none"


def _bounds(part: str, text: str) -> tuple[int, int]:
    first, dash, last = part.partition("-")
    if not (first.isascii() and first.isdigit() and (not dash or (last.isascii() and last.isdigit()))):
        raise WrongUsage(f"--steps {text!r} is not a list of steps", "write 4, or 4,6, or 3-7")
    low, high = int(first), int(last) if dash else int(first)
    if high < low:
        raise WrongUsage(f"--steps {text!r}: the range {part} runs backwards", f"write {high}-{low}")
    return low, high
