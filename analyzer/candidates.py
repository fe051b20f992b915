"""Which weights to prefetch into L2, behind which kernels, and how many bytes are safe."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..errors import WrongUsage
from .answer import Answer, CandidateRow, RoleRow
from .benefit import MemoryRates
from .candidate_notes import summary_notes, with_shared_windows
from .candidate_rows import RowWriter, ordered
from .coverage import coverage
from .feasible import feasible
from .kernel_reads import FOR_CANDIDATES
from .labels import LabelledGroup, labelled_groups
from .options import AnalysisOptions
from .phases import phases, training_note
from .prefetch import cap_in_bytes, check_coefficient
from .refusals import Refusals, also_without_shapes, none_is_a_target, nothing_weighted
from .role_names import trace_names
from .role_rows import role_rows
from .roles_match import RoleNames, RoleRequest, name_roles
from .sequence import SIDE, kernel_sequence
from .sites import Rules, Site, SiteFinder
from .structure import layer_structure
from .targets import Judgement, is_weighted, judge_target

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class Survey:
    """Everything `candidates` and `explain` show: rows of all statuses, the sites behind them, the notes."""

    rows: tuple[CandidateRow, ...]  # candidates by falling saving, then targets without a safe window
    rejected: tuple[CandidateRow, ...]
    sites: dict[str, Site]  # by row id
    notes: tuple[str, ...]
    # Every weight-carrying kernel with its role, where a config or the user names any.
    roles: tuple[RoleRow, ...] = ()
    names: RoleNames = field(default_factory=lambda: RoleNames({}, {}))  # the same by place
    places: tuple[LabelledGroup, ...] = ()  # of the sequence that the sites index
    stopped: str | None = (
        None  # why no target was even looked at: training, prefill, device, or no kernel that reads a weight
    )


def candidates(
    session: Session,
    top: int | None = 10,
    coefficient: float | None = None,
    allow_comm_windows: bool = False,
    include_unsafe: bool = False,
    cap_mib: float | None = None,
    eta: float | None = None,
    cmo_gb_s: float | None = None,
    roles: RoleRequest | None = None,
) -> Answer:
    """Propose prefetch targets with their window and max_size, the largest net saving per step first.

    The rows are one plan: all of its calls can be made together.

    top: candidates shown; targets without a safe window follow them. coefficient, eta: shares, default from
    the options. cap_mib: MiB per target. cmo_gb_s: measured copy bandwidth, 1e9 B/s. roles: what is known of
    the model, for the names of the weights. Rejected targets are in extras['rejected'], with a config every
    weight that was found in extras['roles']. Raises WrongUsage for a value outside its range.
    """
    found = survey(session, coefficient, allow_comm_windows, include_unsafe, cap_mib, eta, cmo_gb_s, roles)
    proposed = [row for row in found.rows if row.status == "candidate"]
    others = [row for row in found.rows if row.status != "candidate"]
    shown = proposed if top is None else proposed[:top]
    notes = list(found.notes)
    if len(shown) < len(proposed):
        notes.append(f"{len(proposed) - len(shown)} more candidates have a smaller saving (--top).")
    return Answer(
        command="candidates",
        run=session.run,
        device=session.device_info,
        coverage=coverage(session),
        rows=(*shown, *others),
        notes=tuple(dict.fromkeys(notes)),
        extras={"rejected": found.rejected, "matching": len(proposed), "stopped": _stopped(found)}
        | ({"roles": found.roles} if roles and (roles.config or roles.user) else {}),
    )


def _stopped(found: Survey) -> str | None:
    """Why nothing is proposed, where no row says it: nothing was looked at, or nothing of it is a target."""
    if found.stopped is None and found.rejected and not found.rows:
        return none_is_a_target(found.rejected)
    return found.stopped


def survey(
    session: Session,
    coefficient: float | None = None,
    allow_comm_windows: bool = False,
    include_unsafe: bool = False,
    cap_mib: float | None = None,
    eta: float | None = None,
    cmo_gb_s: float | None = None,
    roles: RoleRequest | None = None,
) -> Survey:
    """Judge every weight-carrying kernel of the selection and size the windows of the eligible ones."""
    options = _with_eta(session.options, eta)
    share = check_coefficient(options.coefficient if coefficient is None else coefficient)
    cap = cap_in_bytes(cap_mib)
    if cmo_gb_s is not None and not cmo_gb_s > 0:
        raise WrongUsage(f"--cmo-gb-s {cmo_gb_s:g} is no bandwidth", "give the measured GB/s, above 0")
    notes = [*session.notes, *session.device.notes]
    session.begin(*FOR_CANDIDATES)
    rates, refusal = memory_rates(session)
    steps = decode_steps(session)
    refusal = also_without_shapes(session, refusal)
    stop = [*training_note(session), *refusal, *([] if steps else _no_decode(session))]
    if rates is None or stop:
        return Survey((), (), {}, (*notes, *stop), stopped=stop[0])
    rules = Rules(rates, options, share, cap, cmo_gb_s, allow_comm_windows, include_unsafe)
    notes += _selection_notes(session, steps)
    return _survey(session, rules, steps, notes, roles or RoleRequest())


def _survey(
    session: Session, rules: Rules, steps: tuple[int, ...], notes: list[str], request: RoleRequest
) -> Survey:
    structure = layer_structure(session)
    sequence = kernel_sequence(session, steps)
    finder = SiteFinder(sequence, rules, structure.period)
    found: list[Site] = []
    traced = trace_names(session, (group for group in sequence.places if is_weighted(group)))
    roles = name_roles(sequence, request, traced)
    refused = Refusals(sequence.steps, {group.signature_id: group for group in labelled_groups(session)})
    for place, group in enumerate(sequence.places):
        if not is_weighted(group):
            continue
        judgement = judge_target(group, rules.options)
        if judgement.eligible and group.part == SIDE:
            judgement = Judgement(
                False, "it runs beside the main stream in varying order: nothing always precedes it"
            )
        if judgement.eligible:
            found += finder.sites(place, judgement)
        else:
            refused.add(group, judgement, roles.of(place))
    stopped = None if found or refused.groups else nothing_weighted(session, sequence.places)
    writer = RowWriter(session, sequence, rules, roles)
    written, sites, unprofitable = writer.rows(feasible(found, finder))
    rows = with_shared_windows(ordered(written), sites)
    left_out = sum(site.left_out is not None for site in sites.values())
    return Survey(
        rows=tuple(rows),
        rejected=(*unprofitable, *refused.rows()),
        sites=sites,
        roles=role_rows(sequence, roles) if request.config or request.user else (),
        names=roles,
        places=sequence.places,
        stopped=stopped,
        notes=(
            *notes,
            *([stopped] if stopped else []),
            *structure.notes,
            *roles.notes,
            *summary_notes(rows, left_out, rules, step_us(session)),
        ),
    )


def _with_eta(options: AnalysisOptions, eta: float | None) -> AnalysisOptions:
    """Lay the user's eta in; the range is widened to hold it."""
    if eta is None:
        return options
    if not 0.0 < eta <= 1.0:
        raise WrongUsage(f"--eta {eta:g} is not a share of the spare bandwidth", "use 0.5 to 0.9")
    return replace(options, eta=eta, eta_low=min(options.eta_low, eta), eta_high=max(options.eta_high, eta))


def memory_rates(session: Session) -> tuple[MemoryRates | None, list[str]]:
    """The device's figures that the model needs, or None and why nothing can be proposed on it."""
    device = session.device.device
    if device is None:
        return None, ["Nothing is proposed: the device is not known. Name it with --device."]
    if device.prefetch_supported is False:
        return None, [
            f"Nothing is proposed: prefetch into L2 does not work on {device.soc} ({device.prefetch.source})."
        ]
    figures = {
        "HBM bandwidth (--hbm-gb-s)": device.hbm_bytes_s,
        "L2 read bandwidth": device.l2_read_bytes_s,
        "L2 size": device.l2_bytes,
    }
    missing = [name for name, value in figures.items() if value is None]
    hbm, l2_read, l2 = figures.values()
    if hbm is None or l2_read is None or l2 is None:
        return None, [f"Nothing is proposed: no source gives the {' and '.join(missing)} of {device.soc}."]
    return MemoryRates(hbm, max(hbm, device.hbm_max_bytes_s or hbm), l2_read, l2), []


def decode_steps(session: Session) -> tuple[int, ...]:
    """Steps that may be decode: prefill and training are left out."""
    return tuple(
        step for step, each in sorted(phases(session).items()) if each.phase not in ("prefill", "train")
    )


def _no_decode(session: Session) -> list[str]:
    found = sorted(
        {(each.phase, each.evidence) for each in phases(session).values() if each.phase == "prefill"}
    )
    return [
        f"Nothing is proposed: prefetch pays in decode, and this is {phase}: {evidence}."
        for phase, evidence in found
    ]


def _selection_notes(session: Session, steps: tuple[int, ...]) -> list[str]:
    notes = []
    found = phases(session)
    left_out = found.keys() - set(steps)
    if left_out:
        notes.append(f"{len(left_out)} prefill steps are left out; only decode is a target.")
    unknown = sorted({found[step].evidence for step in steps if found[step].phase == "unknown"})
    notes += [f"The phase is not known ({each}); use the proposals for decode only." for each in unknown]
    device = session.device.device
    if device is not None and device.prefetch_supported is None:
        notes.append(f"On {device.soc} prefetch is untested through torch_npu; try it on one weight first.")
    return notes


def step_us(session: Session) -> float | None:
    """Median wall time of the selected steps, us; None without steps."""
    return session.value(
        "SELECT quantile_cont(wall_us, 0.5) FROM steps WHERE run_id = ? AND rank_id = ? "
        "AND list_contains(?::INTEGER[], step_id)",
        [session.run.run_id, session.rank_id, list(session.step_ids)],
    )
