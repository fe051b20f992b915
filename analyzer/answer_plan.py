"""The rows of `plan`: the calls to write, the views of each window, the settings of frameworks."""

from __future__ import annotations

from dataclasses import dataclass

from .answer_prefetch import CandidateRow


@dataclass(frozen=True)
class PlanWeight:
    """One weight that a call fetches; bytes."""

    role: str | None
    weight_bytes: int
    dtype: str
    shape: str
    max_size: int
    expression: str | None  # how the code names it, e.g. 'layer.mlp.down_proj.weight'; None = not known


@dataclass(frozen=True)
class PlanCall:
    """One prefetch call of the plan, in the order in which a step issues them."""

    name: str  # its key in the generated code: role or type, '@' and the position
    id: str  # of the candidate row
    order: int
    target: str  # type and position
    role: str | None
    dependency: str  # type and position of the kernel whose output starts it
    dependency_role: str | None
    scope: str  # same_layer | next_layer | first_layer | last_layer | outside: see plan.SCOPES
    weights: tuple[PlanWeight, ...]
    max_size: int
    limited_by: str
    predicted_saving_step_us: float
    row: CandidateRow  # everything that decided it


@dataclass(frozen=True)
class PlanView:
    """What one call would look like when more is accepted: 'strict', 'comm_allowed' or 'unsafe'."""

    name: str
    view: str
    dependency: str | None  # None: no window in this view
    kernels: tuple[str, ...]
    duration_us: float | None
    max_size: int | None
    predicted_saving_step_us: float | None
    hazards: tuple[str, ...] = ()


@dataclass(frozen=True)
class CalibrationRow:
    """One assumption of the model as a before/after pair shows it."""

    name: str  # cmo_gb_s | eta | beta
    value: float
    bound: str  # measured | at least
    option: str  # how to give it
    default: float | None  # what is assumed without it; None = no limit
    how: str


@dataclass(frozen=True)
class FrameworkSetting:
    """What to set in one framework and version; `text` is empty where there is nothing to set."""

    framework: str
    version: str
    form: str  # json | yaml | shell | none
    text: str
    note: str
    supported: bool


@dataclass(frozen=True)
class CodeSite:
    """One weight of a call in the model's code; places are 'file:line'. `status` says how far it is told."""

    name: str  # of the call
    role: str | None
    status: str  # ready (for the patch) | tied (told, not to be written) | prefetched (already) | unresolved
    place: str  # behind which line the call stands; unresolved: where the code stops telling
    weight: str | None  # how the function there names it: self.mlp.gate_up_proj.weight
    made_at: str | None  # where the weight is made
    target: str | None  # where it is used
    dependency: str | None  # where the dependency is called
    tensor: str | None  # the name of its output
    guard: str | None  # what says that it is decode
    max_size: int  # bytes that the line asks for; of a line that serves several calls the smallest
    reason: str


@dataclass(frozen=True)
class CodePrefetch:
    """A prefetch call that the code makes already; `twice`: lines that fetch the same weight again."""

    place: str
    weight: str
    function: str
    twice: tuple[str, ...] = ()


@dataclass(frozen=True)
class CodePatch:
    """What a patch writes; the document names it and shows its summary, never its text."""

    file: str | None  # None: --patch was not given, nothing was written
    apply_in: str  # folder for `git apply`
    files: tuple[str, ...]
    calls: int
    lines_added: int
    how: str
    text: str  # the unified diff
