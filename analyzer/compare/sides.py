"""What stands on one side of a comparison: a run, repeats of it, or one step split over captures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ...errors import InputMissing, WrongUsage

if TYPE_CHECKING:
    from ..session import Session


class OpenRun(Protocol):
    """Opens a run by name, with some of its steps where they are given (as --steps takes them)."""

    def __call__(self, run: str, steps: str | None = None) -> AbstractContextManager[Session]: ...


@dataclass(frozen=True)
class StepRef:
    """One step of a side; `number` counts over all its repeats, `step_ids` holds one id per capture."""

    number: int
    run: str
    step_ids: tuple[int, ...]

    @property
    def text(self) -> str:
        """The step as messages name it: 'step 4 of longcat'."""
        return f"step {'+'.join(map(str, self.step_ids))} of {self.run}"


@dataclass(frozen=True)
class Side:
    """Repeats of the same measurement, each of one capture or of several that run one after the other.

    Written `a1,a2` for repeats and `a+b` for captures whose kernels make up one step together.
    """

    repeats: tuple[tuple[Session, ...], ...]
    written: str = ""  # as the user wrote it, steps included: a@3-4 against a@5-7 are two sides of one run

    @classmethod
    def of(cls, given: Session | Side) -> Side:
        """A single run as a side."""
        return given if isinstance(given, Side) else cls(((given,),))

    @property
    def name(self) -> str:
        """The side as the user wrote it, else its runs."""
        return self.written or ",".join(
            "+".join(each.run.name for each in captures) for captures in self.repeats
        )

    @property
    def first(self) -> Session:
        """The session that answers for the device and the options."""
        return self.repeats[0][0]

    @property
    def sessions(self) -> tuple[Session, ...]:
        """All runs of the side."""
        return tuple(each for captures in self.repeats for each in captures)

    def steps(self) -> tuple[StepRef, ...]:
        """All steps of the side in order.

        Raises WrongUsage where captures that make up one step do not hold the same number of steps, or where
        repeats are not joined from the same number of captures.
        """
        if len({len(captures) for captures in self.repeats}) > 1:
            raise WrongUsage(
                f"the repeats in {self.name!r} are joined from different numbers of captures",
                "write every repeat alike, e.g. a1+b1,a2+b2",
            )
        found: list[StepRef] = []
        for captures in self.repeats:
            counts = {each.run.name: len(each.step_ids) for each in captures}
            if len(set(counts.values())) > 1:
                told = ", ".join(f"{name} has {count}" for name, count in counts.items())
                raise WrongUsage(
                    f"captures joined with + make up one step each, but {told} steps",
                    "choose as many steps of each with --steps",
                )
            name = "+".join(counts)
            for ids in zip(*(each.step_ids for each in captures), strict=True):
                found.append(StepRef(len(found), name, ids))
        return tuple(found)


def parse_side(text: str) -> tuple[tuple[str, ...], ...]:
    """'a1,a2' -> (('a1',), ('a2',)); 'a+b' -> (('a', 'b'),). Raises WrongUsage for an empty name."""
    repeats = tuple(tuple(name.strip() for name in part.split("+")) for part in text.split(","))
    if any(not name.split("@")[0] for captures in repeats for name in captures):
        raise WrongUsage(
            f"{text!r} names no run at one place",
            "write a run, a1,a2 for repeats, a+b for one step in two captures, a@4-7 for some steps",
        )
    return repeats


@contextmanager
def open_side(text: str, open_run: OpenRun) -> Iterator[Side]:
    """Open every run that the text names: `a`, `a1,a2`, `a+b`, each with `@steps` where only some are meant.

    A run whose own name holds one of these signs is found first. Raises InputMissing for a run that is not
    there, WrongUsage for an empty name.
    """
    with ExitStack() as stack:
        whole = _opened(stack, open_run, text)
        if whole is not None:
            yield Side(((whole,),))
            return
        names = parse_side(text)
        opened = tuple(tuple(_open(stack, open_run, name) for name in captures) for captures in names)
        yield Side(opened, text)


def _opened(stack: ExitStack, open_run: OpenRun, name: str) -> Session | None:
    """The run of exactly this name; None where it is not there but the name may mean something else."""
    try:
        return stack.enter_context(open_run(name))
    except InputMissing:
        if not set(name) & set(",+@"):
            raise
        return None


def _open(stack: ExitStack, open_run: OpenRun, name: str) -> Session:
    """One run of a side; what stands behind the last @ are its steps."""
    found = _opened(stack, open_run, name)
    if found is not None:
        return found
    run, _, steps = name.rpartition("@")
    return stack.enter_context(open_run(run, steps))
