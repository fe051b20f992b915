"""From candidates to a design: which calls, in which order, with which code names, and what else could be.

Nothing is decided here that `candidates` did not decide; a plan of some rows keeps the sizes that the whole
plan left them, which are safe for fewer calls as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import WrongUsage
from .answer import Answer, CandidateRow
from .answer_plan import PlanCall, PlanView, PlanWeight
from .candidates import Survey, step_us, survey
from .coverage import coverage
from .ids import only_id
from .plan_settings import settings
from .roles import rules
from .roles_match import RoleName, RoleRequest

if TYPE_CHECKING:
    from .modelcode.planned import PlannedCode
    from .session import Session

# Where a call is issued, and whose weight it fetches: (part of the dependency, of the target) -> scope;
# within layers the target may be in the next one.
SCOPES = {
    ("layer", "layer"): "same_layer",
    ("before", "layer"): "first_layer",  # issued before the layers, for the first one
    ("between", "layer"): "first_layer",
    ("layer", "after"): "last_layer",  # issued in the last layer, for what follows the layers
}
MODES = ("eager", "ge_graph", "npugraph_ex")
LANGUAGES = ("en", "zh")
VIEWS = {"strict": (False, False), "comm_allowed": (True, False), "unsafe": (True, True)}


@dataclass(frozen=True)
class CodeRequest:
    """Files of the model, and where a patch for them is written; the files themselves never are."""

    files: tuple[Path, ...] = ()
    patch_file: Path | None = None


def plan(
    session: Session,
    ids: Sequence[str] = (),
    mode: str = "ge_graph",
    lang: str = "en",
    vllm_ascend: str | None = None,
    coefficient: float | None = None,
    allow_comm_windows: bool = False,
    cap_mib: float | None = None,
    eta: float | None = None,
    cmo_gb_s: float | None = None,
    roles: RoleRequest | None = None,
    code: CodeRequest | None = None,
) -> Answer:
    """Design the calls of the given candidates, or of all, for one execution mode.

    ids: of candidates, a unique beginning is enough. mode: one of MODES. vllm_ascend: a version to write
    settings for (default: every version that has them). code: files of the model, whose lines the calls are
    tied to. Raises WrongUsage for an id that is no candidate, and as reading the files does.
    """
    if mode not in MODES:
        raise WrongUsage(f"mode {mode!r} is not known", f"use {', '.join(MODES)}")
    if lang not in LANGUAGES:
        raise WrongUsage(f"language {lang!r} is not known", f"use {', '.join(LANGUAGES)}")
    wishes = (cap_mib, eta, cmo_gb_s, roles)
    if mode == "eager":
        session = _eager(session)
    found = survey(session, coefficient, allow_comm_windows, False, *wishes)
    rows = _chosen(found, ids)
    calls = plan_calls(rows, found)
    tied = _tied(calls, found, roles, code, mode)
    return Answer(
        command="plan",
        run=session.run,
        device=session.device_info,
        coverage=coverage(session),
        rows=calls,
        notes=tuple(dict.fromkeys((*found.notes, *(tied.notes if tied else ())))),
        extras={
            **({"code": tied.sites, "prefetch_calls": tied.prefetches, "patch": tied.patch} if tied else {}),
            "views": _views(session, calls, coefficient, wishes) if calls else (),
            "settings": settings(calls, vllm_ascend),
            "walks": {call.name: call.row.walk for call in calls},
            "left_out": tuple(row for row in found.rejected if row.reason.startswith("left out")),
            "no_window": tuple(row for row in found.rows if row.status == "no_safe_window"),
            "stopped": found.stopped,
            "mode": mode,
            "lang": lang,
            "step_us": step_us(session),
        },
    )


def _tied(
    calls: Sequence[PlanCall], found: Survey, roles: RoleRequest | None, code: CodeRequest | None, mode: str
) -> PlannedCode | None:
    """The calls in the user's code; None when no file was given. The reader is loaded for it alone."""
    if code is None or not code.files:
        return None
    from .modelcode.planned import plan_code

    return plan_code(calls, found, code.files, roles.config if roles else None, mode, code.patch_file)


def _eager(session: Session) -> Session:
    """The same selection with the shortest window that an eagerly launched call is worth."""
    options = session.options
    return replace(session, options=replace(options, min_window_us=options.min_window_eager_us))


def _chosen(found: Survey, ids: Sequence[str]) -> list[CandidateRow]:
    """The candidates asked for, in the order in which a step issues them."""
    ready = {row.id: row for row in found.rows if row.status == "candidate"}
    if not ids:
        chosen = list(ready.values())
    elif not ready:
        raise WrongUsage(
            f"no candidate {ids[0]}: nothing is proposed for this run", "see `candidates` for why"
        )
    else:
        names = dict.fromkeys(only_id(each, list(ready), "candidates") for each in ids)
        chosen = [ready[name] for name in names]
    return sorted(chosen, key=lambda row: (row.issue_order or 0, row.id))


def plan_calls(rows: Sequence[CandidateRow], found: Survey) -> tuple[PlanCall, ...]:
    """One call per row, with a name that is unique in the plan and the code names of its weights."""
    calls = []
    for order, row in enumerate(rows):
        window, terms = row.window, row.max_size_terms
        assert window is not None
        assert terms is not None
        site = found.sites[row.id]
        assert site.best is not None
        behind = found.names.of(site.best.window.dependency.place)
        calls.append(
            PlanCall(
                name=f"{row.role or row.target_type}{_at(row.position)}",
                id=row.id,
                order=order,
                target=f"{row.target_type}{_at(row.position, ' ')}",
                role=row.role,
                dependency=f"{window.dependency}{_at(window.dependency_position, ' ')}",
                dependency_role=behind.name if behind else None,
                scope=_scope(found.places[site.best.window.dependency.place].part, site.group.part, row),
                weights=_weights(row, found, found.names.of(site.place)),
                max_size=row.max_size or 0,
                limited_by=terms.limited_by,
                predicted_saving_step_us=row.predicted_saving_step_us or 0.0,
                row=row,
            )
        )
    return _with_unique_names(calls)


def _scope(behind: str | None, target: str | None, row: CandidateRow) -> str:
    scope = SCOPES.get((behind or "", target or ""), "outside")
    return "next_layer" if scope == "same_layer" and row.layer_scope == "previous_layer" else scope


def _at(position: int | None, space: str = "") -> str:
    return "" if position is None else f"{space}@{position}"


def _weights(row: CandidateRow, found: Survey, role: RoleName | None) -> tuple[PlanWeight, ...]:
    """The weights that get bytes; a code name only where one weight of the layer can be meant."""
    own = role.expression if role and len(row.weights) == 1 else None
    places = Counter(
        each for name in found.names.by_place.values() for each in (name.weights or (name.name,))
    )
    return tuple(
        PlanWeight(
            role=weight.role,
            weight_bytes=weight.bytes,
            dtype=weight.dtype,
            shape=weight.shape,
            max_size=weight.max_size,
            expression=own or (code_of(weight.role) if places[weight.role or ""] == 1 else None),
        )
        for weight in row.weights
        if weight.max_size
    )


def code_of(role: str | None) -> str | None:
    """What models call the weight of a role, from the rules; None where the rules give no name."""
    return next((each.code for each in rules().roles if each.name == role and each.code), None)


def _with_unique_names(calls: list[PlanCall]) -> tuple[PlanCall, ...]:
    """Sites of one position that follow different kernels share a name; a letter tells them apart."""
    seen: Counter[str] = Counter()
    named = []
    for call in calls:
        seen[call.name] += 1
        again = seen[call.name]
        named.append(call if again == 1 else replace(call, name=f"{call.name}-{again}"))
    return tuple(named)


def _views(
    session: Session, calls: Sequence[PlanCall], coefficient: float | None, wishes: Any
) -> tuple[PlanView, ...]:
    """Each call under each view, in the order of the calls."""
    found = {view: survey(session, coefficient, *flags, *wishes) for view, flags in VIEWS.items()}
    return tuple(_view(call, view, each) for call in calls for view, each in found.items())


def _view(call: PlanCall, view: str, found: Survey) -> PlanView:
    row = next((row for row in (*found.rows, *found.rejected) if row.id == call.id), None)
    windows = [] if row is None else [each for each in (row.window, *row.alternatives) if each]
    if view == "unsafe":
        window = max(windows, key=lambda each: each.max_size or 0, default=None)
    else:
        window = row.window if row else None
    if window is None:
        return PlanView(call.name, view, None, (), None, None, None)
    saving = window.net_saving_us
    return PlanView(
        name=call.name,
        view=view,
        dependency=f"{window.dependency}{_at(window.dependency_position, ' ')}",
        kernels=tuple(each.type for each in window.kernels),
        duration_us=window.duration_us,
        max_size=window.max_size,
        predicted_saving_step_us=None if saving is None else saving * (window.occurrences_per_step or 0.0),
        hazards=window.hazards,
    )
