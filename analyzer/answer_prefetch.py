"""The rows of `candidates`, `explain` and `size`: targets, windows, max_size terms and savings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class WeightRow:
    """One weight operand of a target; a fused kernel has several, each needs a call of its own."""

    slot: int  # input slot of the kernel
    bytes: int  # storage bytes, NZ padding included
    dtype: str
    format: str
    shape: str  # logical shape, e.g. '3072,12288'
    experts: int | None = None
    max_size: int | None = None  # bytes of this weight's call; the calls of a target sum to its max_size
    role: str | None = None


@dataclass(frozen=True)
class WindowKernelRow:
    """One kernel inside a window."""

    type: str
    name: str
    duration_us: float  # median over occurrences
    bound: str
    limiter: str
    hbm_utilisation: float | None  # bytes_hi / duration / nominal HBM bandwidth; None = not known
    layer_scope: str  # same_layer | previous_layer
    verdict: str  # usable | hazard
    reason: str
    communication: bool = False
    position: int | None = None


@dataclass(frozen=True)
class WindowRow:
    """What runs between the end of the dependency and the start of the target."""

    dependency: str  # type of the kernel whose output starts the prefetch
    kernels: tuple[WindowKernelRow, ...]  # in start order
    duration_us: float  # end of dependency to start of target, gaps included, p10 over occurrences
    spare_bytes: int  # spare bandwidth x duration, before eta
    safe: bool
    hazards: tuple[str, ...]
    dependency_name: str = ""
    dependency_shapes: str | None = None
    dependency_position: int | None = None
    layer_scope: str = "same_layer"  # same_layer | previous_layer
    window_bytes: int | None = None  # the window term of max_size: eta and latency taken off
    working_set_bytes: int | None = None  # unique bytes from window start to target start
    net_saving_us: float | None = None  # mid, per occurrence
    max_size: int | None = None  # what max_size would be with this window
    median_us: float | None = None  # duration, median over occurrences
    occurrences_per_step: float | None = None  # targets that have this window
    taken_window_bytes: int = 0  # copied before it for other calls of the plan; already off window_bytes
    taken_l2_bytes: int = 0  # in L2 for other calls of the plan meanwhile; already off the L2 term


@dataclass(frozen=True)
class MaxSizeTerms:
    """Each term of the minimum that is max_size, bytes; None = the term does not apply."""

    formula_bytes: int | None  # weight x coefficient
    window_bytes: int | None
    l2_bytes: int | None
    cap_bytes: int | None
    limited_by: str  # coefficient | window | l2 | cap


@dataclass(frozen=True)
class Saving:
    """A predicted saving, us, as a range from the stated benefit model."""

    low: float
    mid: float
    high: float


@dataclass(frozen=True)
class WalkStep:
    """One predecessor that the walk back from a target met."""

    index: int  # 1 = directly before the target
    type: str
    name: str
    duration_us: float
    verdict: str
    reason: str
    layer_scope: str = "same_layer"


@dataclass(frozen=True)
class CandidateRow:
    """One prefetch target, merged over its occurrences by layer position, with its best window."""

    id: str  # 'c-' + 8 hex digits + '-' + position
    target_type: str
    target_shapes: str | None
    target_us: float  # median
    bound: str
    confidence: str
    role: str | None  # None = not known
    layer_scope: str  # of the window: same_layer | previous_layer
    occurrences_per_step: float
    weight_bytes: int | None  # None = no weight is known (only among the rejected)
    weights: tuple[WeightRow, ...]
    window: WindowRow | None  # None = no window at all
    alternatives: tuple[WindowRow, ...]
    max_size: int | None  # bytes, over all calls of the target; None without a window
    max_size_terms: MaxSizeTerms | None
    predicted_saving_us: Saving | None  # per occurrence
    predicted_saving_step_us: float | None  # mid x occurrences per step
    status: str  # candidate | no_safe_window | rejected
    reason: str
    predicted_saving_step_range_us: Saving | None = None  # the range per step
    limiter: str = ""
    position: int | None = None
    layers: tuple[int, ...] = ()
    p10_us: float | None = None
    p90_us: float | None = None
    walk: tuple[WalkStep, ...] = ()
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    role_source: str = ""  # range, call stack, shape, neighbours, slots or roles.toml; empty without a role
    issue_order: int | None = None  # place of its call among those of the plan, as a step issues them
    description: str = ""  # the target and what runs before it, for people


@dataclass(frozen=True)
class RoleRow:
    """One weight of the model as it was found: kernels of one signature with one role."""

    role: str | None  # None = nothing in the rules fits
    type: str
    input_shapes: str | None
    positions: tuple[str, ...]  # in the layer, or 'before 3' and 'after 0' outside
    occurrences_per_step: float
    step_us: float  # median over steps of the summed duration of its kernels, as in hotspots
    source: str = ""
    alternatives: tuple[str, ...] = ()  # other roles that fit as well
    weights: tuple[str, ...] = ()  # of a fused kernel, in slot order


@dataclass(frozen=True)
class SizeRow:
    """One size of the manual mode."""

    name: str  # the weight or the MoE formula
    shape: str
    dtype: str
    weight_bytes: int
    coefficient: float
    formula_bytes: int
    l2_bytes: int | None
    cap_bytes: int | None
    max_size: int
    limited_by: str
    formula: str  # the arithmetic, written out
    note: str = ""


@dataclass(frozen=True)
class ExplainStep:
    """One step of a decision: what was asked, the numbers, the verdict."""

    what: str
    numbers: Mapping[str, float | int | str | None] = field(default_factory=dict)  # units in the keys
    verdict: str = ""
