"""Planned calls tied to lines: the weight and its use, the dependency and where its output has a name."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..answer_plan import CodeSite, PlanCall, PlanWeight
from ..candidates import Survey
from ..fusion.types import normalised
from .align import Use, Way, role_of
from .carried import AlreadyThere, NotTold, Spot, decode_guard, spot_behind
from .codebase import CodeBase
from .linears import same_matrix
from .ops import Frame, Op, Prefetch
from .ties import _tokens as tokens_of
from .values import weight_rules

# Why a call that is not for a layer out of a layer has no line: scope of the call -> reason.
OUTSIDE = {
    "first_layer": "the dependency runs before the layers, in another function than the target",
    "last_layer": "the target runs behind the layers, in another function than the dependency",
}


@dataclass(frozen=True)
class Insertion:
    """A call that can be written: where, for which weight, under which conditions; bytes."""

    names: tuple[str, ...]  # of the plan's calls
    spot: Spot
    expression: str
    guards: tuple[str, ...]
    max_size: int
    order: int
    target: ast.stmt | None  # the statement of the spot's function in which the target runs
    parents: tuple[Frame, ...]  # frames outside the spot's
    modules: frozenset[str]  # paths of the modules for which the line is planned
    runs_for: frozenset[str]  # paths of all modules for which it would run


def tie(
    call: PlanCall, weight: PlanWeight, ways: Sequence[Way], base: CodeBase, found: Survey
) -> tuple[CodeSite, Insertion | None]:
    """One weight of a call as a site, and what is to be written where everything is told."""
    results = [_in_way(call, weight, way, base, found) for way in ways]
    if not results:
        reason = "no decoder layer is defined in these files"
        return _unresolved(call, weight, NotTold(base.files[0].name, reason)), None
    distinct = {
        (site.target, site.dependency, site.weight, site.reason): (site, made) for site, made in results
    }
    told = [each for each in distinct.values() if each[0].status != "unresolved"]
    if len(distinct) == 1:
        return results[0]
    lines = ", ".join(dict.fromkeys(site.dependency or site.target or "?" for site, _ in told))
    reason = f"branches that config.json does not decide leave several ways: {lines or 'none fits'}"
    return _unresolved(call, weight, NotTold((told or list(distinct.values()))[0][0].place, reason)), None


def _unresolved(
    call: PlanCall, weight: PlanWeight, why: NotTold, use: Use | None = None, place: str | None = None
) -> CodeSite:
    return CodeSite(
        name=call.name,
        role=weight.role,
        status="prefetched" if isinstance(why, AlreadyThere) else "unresolved",
        place=why.place,
        weight=f"self.{use.weight.path}" if use else None,
        made_at=use.weight.place if use else None,
        target=place,
        dependency=None,
        tensor=None,
        guard=None,
        max_size=weight.max_size,
        reason=why.reason,
    )


def _in_way(
    call: PlanCall, weight: PlanWeight, way: Way, base: CodeBase, found: Survey
) -> tuple[CodeSite, Insertion | None]:
    use: Use | None = None
    try:
        use = _target(call, weight, way, found)
        _not_yet(use, way)
        at = _dependency(call, way, found)
        made = _insertion(call, weight, use, at, way, base)
    except NotTold as why:
        return _unresolved(call, weight, why, use, way.ops[use.at].place if use else None), None
    evidence = "order and sizes" if same_matrix(use.weight, _dims(weight)) else "order; sizes are not told"
    site = CodeSite(
        name=call.name,
        role=weight.role,
        status="ready",
        place=made.spot.place,
        weight=made.expression,
        made_at=use.weight.place,
        target=way.ops[use.at].place,
        dependency=way.ops[at].place,
        tensor=made.spot.tensor,
        guard=" and ".join(made.guards) or "the branch around it",
        max_size=weight.max_size,
        reason=f"tied by {evidence}",
    )
    return site, made


def _dims(weight: PlanWeight) -> tuple[int, ...]:
    parts = weight.shape.split(",")
    return tuple(int(part) for part in parts) if all(part.isdigit() for part in parts) else ()


def _target(call: PlanCall, weight: PlanWeight, way: Way, found: Survey) -> Use:
    """The weight in the code and the operation that reads it."""
    layer = way.trace.layer.made_of
    assert layer is not None
    here = f"{layer.file.name}:{layer.node.lineno}"
    if call.scope not in ("same_layer", "next_layer"):
        raise NotTold(here, OUTSIDE.get(call.scope, "neither target nor dependency runs in the layers"))
    shape = _dims(weight)
    role = weight.role or call.role
    use = way.by_kernel.get((found.sites[call.row.id].place, role or ""))
    if use is not None:
        if same_matrix(use.weight, shape) is False:
            raise NotTold(
                use.weight.place,
                f"{use.weight.attribute} is {use.weight.k} x {use.weight.n} by the code, the kernel's "
                f"weight {weight.shape}",
            )
        return use
    named = {each.weight.path: each for each in way.uses if role and each.role == role}
    if named:
        many = ", ".join(each.weight.place for each in named.values())
        raise NotTold(
            many,
            f"{len(named)} weights are a {role} and the order of the code does not give that of the kernels",
        )
    return _by_size(way, shape, here, role)


def _by_size(way: Way, shape: tuple[int, ...], here: str, role: str | None) -> Use:
    """The one weight of these sizes, whatever it is called."""
    fitting = {
        weight.path: Use(at, weight, role_of(weight) or "")
        for at, op in enumerate(way.ops)
        for weight in op.uses
        if same_matrix(weight, shape)
    }
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    sizes = " x ".join(map(str, shape)) or "its"
    if fitting:
        lines = ", ".join(f"{use.weight.attribute} at {use.weight.place}" for use in fitting.values())
        raise NotTold(here, f"several weights are {sizes}: {lines}")
    raise NotTold(here, f"no weight here is called {role or 'so'}, and none is known to be {sizes}")


def _not_yet(use: Use, way: Way) -> None:
    """Raise NotTold when the code prefetches the weight already, or may do so."""
    for each in way.trace.prefetches:
        if each.path == use.weight.path:
            raise AlreadyThere(
                each.place, f"the code prefetches it already ({each.weight}): twice costs more than it wins"
            )
        if each.path is None and use.weight.attribute in each.weight.split("."):
            raise NotTold(each.place, f"the code prefetches {each.weight}, which may be this weight")


def _dependency(call: PlanCall, way: Way, found: Survey) -> int:
    """The index of the operation behind the window's dependency."""
    best = found.sites[call.row.id].best
    assert best is not None
    place = best.window.dependency.place
    group = found.places[place]
    name = found.names.of(place)
    for role in (name.weights or (name.name,)) if name else ():
        if (place, role) in way.by_kernel:
            at = way.by_kernel[place, role].at
            _is_bare(call, way.ops[at])
            return at
    layer = way.trace.layer.made_of
    assert layer is not None
    here = f"{layer.file.name}:{layer.node.lineno}"
    if group.part != "layer" or group.position is None or not way.whole:
        raise NotTold(here, f"the dependency {call.dependency} has no call of its own that the order tells")
    return _between(call, way, found, group.position, here)


def _is_bare(call: PlanCall, op: Op) -> None:
    """Raise NotTold where the layer returns only what its all-reduce gives, and the window has it inside."""
    kernels = call.row.window.kernels if call.row.window else ()
    if any(weight.reduces for weight in op.uses) and kernels and kernels[0].communication:
        raise NotTold(
            op.place,
            f"{op.name} returns what its all-reduce gives, so the copy would start behind the collective of "
            "the window; plan it without --allow-comm-windows",
        )


def _between(call: PlanCall, way: Way, found: Survey, position: int, here: str) -> int:
    """The call of a kernel without weights, between the calls of the weights before and behind it."""
    tied = sorted(
        {
            (k.position, way.by_kernel[k.place, k.role].at)
            for k in way.kernels
            if (k.place, k.role) in way.by_kernel
        }
    )
    before = max((each for each in tied if each[0] < position), default=tied[-1])
    behind = min((each for each in tied if each[0] > position), default=tied[0])
    best = found.sites[call.row.id].best
    assert best is not None
    kind = found.places[best.window.dependency.place].row.type or ""
    tokens = tokens_of(kind)
    ops = [at for at, op in enumerate(way.ops) if op.token in tokens and _inside(at, before[1], behind[1])]
    alike = sorted(
        {
            group.position
            for group in found.places
            if group.part == "layer"
            and group.position is not None
            and normalised(group.row.type or "") == normalised(kind)
            and _inside(group.position, before[0], behind[0])
        }
    )
    if not ops and "all_reduce" in tokens and before[0] == position - 1:
        op = way.ops[before[1]]
        if any(weight.reduces for weight in op.uses):
            return before[1]  # the layer reduces by itself, and returns what the collective gives
    if len(ops) != len(alike):
        lines = ", ".join(way.ops[at].place for at in ops) or "none"
        between = f"{way.ops[before[1]].place} and {way.ops[behind[1]].place}"
        raise NotTold(
            way.ops[before[1]].place if ops else here,
            f"the capture has {len(alike)} {kind} between {between}, the code {len(ops)} of it ({lines})",
        )
    return ops[alike.index(position)]


def _inside(at: int, before: int, behind: int) -> bool:
    """Whether a place stands between two others, around the end of the layer where they are turned round."""
    return before < at < behind if before < behind else at > before or at < behind


def _insertion(call: PlanCall, weight: PlanWeight, use: Use, at: int, way: Way, base: CodeBase) -> Insertion:
    op, target = way.ops[at], way.ops[use.at]
    if call.scope == "next_layer":
        return _for_next_layer(call, weight, use, at, way, base)
    if use.at <= at:
        raise NotTold(op.place, f"it is called behind its target {target.place}")
    level = 0
    while (
        level + 1 < min(len(op.frames), len(target.frames))
        and op.frames[level + 1] is target.frames[level + 1]
    ):
        level += 1
    inner = target.frames[level + 1] if level + 1 < len(target.frames) else None
    statement = inner.statement if inner else target.statement
    dependency = op.frames[level + 1].statement if level + 1 < len(op.frames) else op.statement
    if statement is dependency:
        raise NotTold(
            op.place, f"dependency and target {target.place} stand in one statement: part it in two"
        )
    spot = spot_behind(way, at, level)
    in_decode = op.in_decode if level + 1 == len(op.frames) else op.frames[level + 1].phase == "decode"
    guard = decode_guard(base, spot, in_decode)
    return Insertion(
        (call.name,),
        spot,
        _expression(op, target, level, use, spot),
        (guard,) if guard else (),
        weight.max_size,
        call.order,
        statement,
        op.frames[:level],
        frozenset({spot.frame.module.path}),
        _modules_of(way, spot),
    )


def _modules_of(way: Way, spot: Spot) -> frozenset[str]:
    """Every module of the layer whose function the spot stands in."""
    return frozenset(
        frame.module.path for op in way.ops for frame in op.frames if frame.function is spot.frame.function
    )


def _expression(op: Op, target: Op, level: int, use: Use, spot: Spot) -> str:
    """How the spot's function reaches the weight."""
    module = op.frames[level].module.path
    rest = use.weight.path.removeprefix(f"{module}.") if module else use.weight.path
    inside = {id(node) for node in ast.walk(spot.frame.function)}
    loops = [each for each in op.loops if id(each[0]) in inside]
    aimed = [each for each in target.loops if id(each[0]) in inside]
    if not loops and not aimed:
        return f"self.{rest}"
    if loops != aimed:
        line = (loops or aimed)[0][0].lineno
        raise NotTold(
            f"{spot.frame.owner.file.name}:{line}",
            "one turn of this loop holds the dependency, another the target",
        )
    if level + 1 < len(target.frames):
        inner = target.frames[level + 1]
        return inner.written + use.weight.path.removeprefix(inner.module.path)
    return f"{target.written}.weight" if target.written else f"self.{rest}"


def _for_next_layer(
    call: PlanCall, weight: PlanWeight, use: Use, at: int, way: Way, base: CodeBase
) -> Insertion:
    """A call for the layer behind: only where the layer's function is given that layer."""
    op = way.ops[at]
    for level in reversed(range(len(op.frames))):
        frame = op.frames[level]
        arguments = {each.arg for each in (*frame.function.args.args, *frame.function.args.kwonlyargs)}
        known = [name for name in weight_rules()["views"]["next_layer"] if name in arguments]
        if frame.module.path == "" and known:
            break
    else:
        function = op.frames[0].function
        raise NotTold(
            f"{op.frames[0].owner.file.name}:{function.lineno}",
            f"{function.name} is not given the layer behind it: pass it as next_layer",
        )
    if op.loops:
        raise NotTold(op.place, "it stands in a loop: which turn is the last one is not told")
    spot = spot_behind(way, at, level)
    in_decode = op.in_decode if level + 1 == len(op.frames) else op.frames[level + 1].phase == "decode"
    guard = decode_guard(base, spot, in_decode)
    return Insertion(
        (call.name,),
        spot,
        f"{known[0]}.{use.weight.path}",
        (*((guard,) if guard else ()), f"{known[0]} is not None"),
        weight.max_size,
        call.order,
        None,
        op.frames[:level],
        frozenset({""}),
        frozenset({""}),
    )


def duplicates(prefetches: Iterable[Prefetch]) -> dict[Prefetch, list[Prefetch]]:
    """Prefetch calls of one weight that one step can make both, by the first of them."""
    found: dict[Prefetch, list[Prefetch]] = {}
    known = list(prefetches)
    for number, one in enumerate(known):
        others = [
            each
            for each in known[number + 1 :]
            if one.path is not None and each.path == one.path and not _exclusive(one, each)
        ]
        if others:
            found[one] = others
    return found


def _exclusive(one: Prefetch, other: Prefetch) -> bool:
    arms = dict(one.arms)
    return any(arms.get(branch, arm) != arm for branch, arm in other.arms)
