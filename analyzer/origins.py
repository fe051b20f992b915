"""What launched a kernel: the commonest operator and source line of a kind of kernel, or of a place of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .sqlfiles import sql

if TYPE_CHECKING:
    from .session import Session

# A place in the step: signature, part and position; part and position are None for all places together.
Place = tuple[int, str | None, int | None]


@dataclass(frozen=True)
class Origin:
    """Where the kernels of one kind come from; of several origins the commonest, with how common it is."""

    torch_op: str  # outermost operator of the dispatcher: aten::linear
    launch_op: str | None  # the operator inside it that launched: aclnnAddmm
    module: str | None  # commonest module around it; None = not recorded
    source: str | None  # file(line): function; None = not recorded
    source_from: str | None  # call stack | python function | forward operator
    input_dims: str | None  # commonest shapes of torch_op's arguments, joined by ;
    kernels: int  # occurrences that have this operator and source line
    known: int  # occurrences that the trace says an operator of
    occurrences: int  # in the selected steps
    origins: int  # how many different ones there are

    @property
    def share(self) -> float:
        """Of the occurrences whose origin is known, the part that has this one; 0..1."""
        return self.kernels / self.known


def origin_of(
    session: Session, signature_id: int, part: str | None = None, position: int | None = None
) -> Origin | None:
    """The commonest origin of a kind of kernel in the selected steps, or of one place of it in the step.

    None when no trace was ingested, or it says nothing of these kernels.
    """
    return origins(session).get((signature_id, part, position))


def origins(session: Session) -> Mapping[Place, Origin]:
    """Origins of every kind of kernel (part and position None), and of every place of it."""
    if "origins" not in session.cache:
        rows = session.rows(sql("origins.sql")) if any_origins(session) else []
        session.cache["origins"] = {
            (row.pop("signature_id"), row.pop("part"), row.pop("position")): Origin(**row) for row in rows
        }
    return session.cache["origins"]


def any_origins(session: Session) -> bool:
    """Whether a trace says of any kernel of this rank what launched it."""
    return bool(
        session.value(
            "SELECT count(*) FROM (FROM kernel_origins WHERE run_id = ? AND rank_id = ? LIMIT 1)",
            [session.run.run_id, session.rank_id],
        )
    )


def origin_text(origin: Origin) -> str:
    """One sentence: "launched by aten::linear, model.py(123): forward (57 of 57 occurrences)"."""
    words = [f"launched by {origin.torch_op}"]
    if origin.source is not None:
        words.append(_short(origin.source))
    where = ", ".join(words)
    if origin.module is not None:
        where += f", in {origin.module}"
    if origin.source_from == "forward operator":
        where += "; the line is that of the forward operator"
    agree = f"{origin.kernels:,} of {origin.occurrences:,} occurrences agree"
    if origin.origins > 1:
        others = origin.origins - 1
        agree += f", the others have {others:,} other origin{'s' if others > 1 else ''}"
    if origin.known < origin.occurrences:
        agree += f"; of {origin.occurrences - origin.known:,} the trace does not say it"
    return f"{where}; {agree}"


def _short(source: str) -> str:
    """A source line with the last folder of its path only; the whole path stands in the JSON."""
    path, bracket, rest = source.partition("(")
    pieces = path.replace("\\", "/").rsplit("/", 2)
    return ("…/" if len(pieces) > 2 else "") + "/".join(pieces[-2:]) + bracket + rest
