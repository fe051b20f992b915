"""The ledger of fusion candidates as a file: what was analysed, what was tried, what was asked for."""

from __future__ import annotations

import os
import tempfile
from dataclasses import field
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ...errors import InputMissing, UnsupportedExport

_STRICT = ConfigDict(extra="forbid")
_HINT = "`npu-roofline fuse ledger start` makes one"

State = Literal["open", "in_progress", "kept", "rolled_back", "blocked", "skipped", "not_adaptable"]
DONE: tuple[State, ...] = ("kept", "rolled_back", "blocked", "skipped", "not_adaptable")


@dataclass(frozen=True, config=_STRICT)
class Attempt:
    """One try at one candidate, with the evidence that decided it; texts are '' where nothing was given."""

    outcome: State
    before: str = ""  # runs compared
    after: str = ""
    step_before_us: float | None = None  # medians of the step's wall
    step_after_us: float | None = None
    step_change: str = ""  # faster | slower | same | inconclusive
    verdict: str = ""  # of `compare`: accepted | rejected | inconclusive
    accuracy: str = ""
    error: str = ""
    reason: str = ""
    next: str = ""


@dataclass(frozen=True, config=_STRICT)
class Entry:
    """One candidate: where it is, what it takes, how it is checked, and what became of it."""

    id: str
    kind: Literal["kernels", "code"]
    api: str
    rule: str
    place: str  # kernel sequence, or class and lines
    state: State = "open"
    prepare: tuple[str, ...] = ()
    check: tuple[str, ...] = ()  # limits to confirm
    constraint: str | None = None  # the limit that refuses it
    saving_low_us: float | None = None  # per step
    saving_high_us: float | None = None
    first_check: str = ""  # the smallest change that tells whether it works
    documented: bool | None = None  # the call was found in the torch_npu given; None = none was given
    attempts: tuple[Attempt, ...] = ()


@dataclass(frozen=True, config=_STRICT)
class Request:
    """An operator that does not exist: where it is needed, what it computes, why none fits, how it should
    look.
    """

    location: str
    semantics: str
    why_not: str
    expected: str
    entry: str = ""


@dataclass(frozen=True, config=_STRICT)
class Analysis:
    """What the candidates were worked out from, and what of it was left open."""

    run: str | None = None
    files: tuple[str, ...] = ()
    config: str | None = None
    torch_npu: tuple[str, ...] = ()
    chains_found: tuple[str, ...] = ()  # 'attention: RoPE of TinyAttention'
    chains_missing: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()  # 'attention architecture: MLA'
    trees_open: tuple[str, ...] = ()
    without_operator: tuple[str, ...] = ()  # sequences for which none is known, with their time


@dataclass(frozen=True, config=_STRICT)
class Ledger:
    """Everything in the file; `confirmed` holds what a person settled, with the reason given."""

    schema: Literal["npu-roofline.fuse-ledger/1"] = "npu-roofline.fuse-ledger/1"
    analysis: Analysis = Analysis()
    entries: tuple[Entry, ...] = ()
    requests: tuple[Request, ...] = ()
    confirmed: dict[str, str] = field(default_factory=dict)

    def entry(self, entry_id: str) -> Entry:
        """The entry of an id, or of a beginning that only one has. Raises InputMissing otherwise."""
        found = [each for each in self.entries if each.id.startswith(entry_id)]
        exact = [each for each in found if each.id == entry_id]
        if len(exact or found) == 1:
            return (exact or found)[0]
        there = ", ".join(each.id for each in (found or self.entries)) or "none"
        raise InputMissing(f"the ledger holds no candidate {entry_id!r}", f"candidates: {there}")


def read_ledger(file: Path) -> Ledger:
    """The ledger of a file. Raises InputMissing without one, UnsupportedExport for another kind of file."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputMissing(f"no ledger at {file}", _HINT) from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputMissing(f"cannot read {file}: {error}", _HINT) from error
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise UnsupportedExport(
            f"{file} is no ledger of this tool: {where}: {first['msg']}", _HINT
        ) from error


def write_ledger(ledger: Ledger, file: Path) -> None:
    """Write the ledger beside its place and move it there: an interrupted write leaves the old one."""
    text = _ADAPTER.dump_json(ledger, indent=2).decode()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=file.parent, prefix=f".{file.name}.", encoding="utf-8", delete=False
        ) as part:
            part.write(text + "\n")
        os.replace(part.name, file)
    except OSError as error:
        raise InputMissing(
            f"cannot write {file}: {error.strerror}", "choose another place: --ledger"
        ) from error


_ADAPTER = TypeAdapter(Ledger)
