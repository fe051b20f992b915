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
