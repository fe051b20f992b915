"""The rows of `fuse` and `ops`, units beside every field."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FusionRow:
    """One kernel sequence that a fused call would replace, or that is left without one, merged over layers.

    No kernel is in two rows. Times per step are medians over the steps that have the sequence.
    """

    id: str  # 'f-' and 8 hex digits of rule and signatures
    status: str  # fits | check | excluded | no_operator | inform
    api: str  # torch_npu call; '' = no operator known
    rule: str  # rule id of analyzer/fusion/rules.toml; '' = no rule
    level: str  # kernels | code | manual | inform: what deciding takes
    sequence: str  # the kernels that would go, and in brackets those that stay, for people
    types: tuple[str, ...]  # kernel types that would go, in stream order
    context: tuple[str, ...]  # kernel types beside them that stay
    input_shapes: str | None  # of the first kernel that would go
    part: str  # before | layer | between | after | side; '' = no layers found
    streams: tuple[int, ...]
    layers: int  # distinct layers that have it; 0 outside the layers
    positions: tuple[int, ...]  # in the layer (or part) of its first kernel
    steps: int  # selected steps that have it
    count: float  # occurrences per step, median
    kernels: float  # kernels per step that would go, median
    step_us: float  # summed duration of those kernels in a step
    total_us: float  # over the selected steps
    sequence_us: float  # one occurrence: sum of the medians of its kernels
    floor_us: float | None  # fused kernel, one occurrence; None = shapes or device not known
    expected_us: float | None  # fused kernel at the rates that its parts reach now
    saving_low_us: float | None  # per step
    saving_high_us: float | None  # per step, never above step_us
    failing: str | None  # the documented limit that is not met
    to_check: tuple[str, ...]  # limits that the export does not decide
    fallbacks: tuple[str, ...]  # smaller calls that would fit inside, should this one not work
    also: tuple[str, ...]  # other calls of the same kind
    prepare: str  # what has to be done first
    priority: int | None  # 1 = most used in the vendor's own models
    source: str
    reason: str = ""  # what fails, what is left to check, what to do first: one text
    code: tuple[str, ...] = ()  # file:line of model code that produces it, where code was given


@dataclass(frozen=True)
class FusedRow:
    """Kernels that are the work of a fused call already."""

    type: str
    api: str
    rule: str
    count: float  # per step, median
    step_us: float
    total_us: float
    note: str = ""


@dataclass(frozen=True)
class FusionShare:
    """One class of the kernels of the selection; every counted kernel is in exactly one."""

    kind: str
    kernels: float  # per step, mean
    step_us: float  # per step, mean: the classes add up
    share: float | None  # of the device time, 0..1


@dataclass(frozen=True)
class RuleRow:
    """One rule of the table, as `fuse rules` lists it."""

    number: int
    rule: str
    api: str
    level: str
    sequence: tuple[str, ...]
    limits: tuple[str, ...]
    priority: int
    source: str


@dataclass(frozen=True)
class OperatorRow:
    """One operator of torch_npu: whether it exists, and whether it is documented, in each source asked."""

    name: str
    status: str  # in the first source that has it: documented | documented_no_schema | schema_only
    availability: tuple[str, ...]  # per source in the order given: the same words, or absent
    description: str  # first sentence of the docstring; '' = no docstring, which is not 'unavailable'
    signature: str  # '' = not in a function list
    rules: tuple[str, ...]  # rules of `fuse` that propose it
    score: int | None = None  # of a search


@dataclass(frozen=True)
class OperatorSection:
    """One line of what is known about an operator, with where it was read."""

    section: str  # given at its first line
    text: str
    source: str


@dataclass(frozen=True)
class OperatorSourceRow:
    """One torch_npu that was read."""

    source: str
    version: str | None
    documented: int  # names with a docstring
    schema_only: int  # npu_ functions without one, gradients left out
    operators: int


@dataclass(frozen=True)
class CodeCandidate:
    """Code of one class that a fused call would replace: what is needed first, or which limit refuses it."""

    id: str  # 'm-' and 8 hex digits of file, class and rule
    verdict: str  # ready | needs_preparation | not_adaptable
    api: str
    rule: str
    module: str  # class
    functions: tuple[str, ...]
    code: tuple[str, ...]  # 'file:first-last' of each place
    phase: str  # prefill | decode | both
    prepare: tuple[str, ...]  # to do, or to check, before
    constraint: str | None  # the documented limit that is not met
    check: tuple[str, ...]  # limits that only a run decides
    evidence: str  # the tokens that were found
    instead: tuple[str, ...] = ()  # 'call (id)' of candidates for the same code: one of them is taken


@dataclass(frozen=True)
class UsedRow:
    """A fused operator that the code calls already."""

    operator: str
    calls: int
    code: tuple[str, ...]
    phase: str
    rule: str


@dataclass(frozen=True)
class ModuleRow:
    """A module of the network, or a sub-chain of one."""

    module: str
    kind: str  # embedding | block | attention | mlp | moe | router | norm | rope | model | head
    chain: str  # part and its calls; '' for the module itself
    code: str
    phase: str


@dataclass(frozen=True)
class FactRow:
    """Something the code or the configuration says, with the lines that say it."""

    fact: str
    value: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class TreeStep:
    """One question of a decision tree, its answer and the evidence."""

    tree: str  # attention | moe
    question: str
    answer: str
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class LedgerRow:
    """One candidate of the ledger and where it stands."""

    id: str
    state: str  # open | in_progress | kept | rolled_back | blocked | skipped | not_adaptable
    api: str
    place: str
    saving_low_us: float | None  # per step
    saving_high_us: float | None
    prepare: tuple[str, ...]
    conclusion: str  # the limit that refuses it, or the reason of the last try
    tries: int


@dataclass(frozen=True)
class TryRow:
    """One try at a candidate."""

    id: str
    number: int
    outcome: str
    before: str
    after: str
    step_before_us: float | None
    step_after_us: float | None
    step_change: str
    accuracy: str
    error: str
    reason: str
    next: str


@dataclass(frozen=True)
class RequestRow:
    """A request for an operator that does not exist."""

    location: str
    semantics: str
    why_not: str
    expected: str
    entry: str


@dataclass(frozen=True)
class ReviewRow:
    """One item of the checklist."""

    stage: str  # analysis | implementation
    item: str
    status: str  # complete | missing
    missing: tuple[str, ...]
