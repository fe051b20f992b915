"""A plan tied to model code: sites, prefetch calls that are there, and the patch with its summary."""

from __future__ import annotations

import ast
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import UnsupportedExport
from ..answer_plan import CodePatch, CodePrefetch, CodeSite, PlanCall
from ..candidates import Survey
from ..model_config import ModelConfig
from .align import kernels_of, ways
from .carried import NotTold
from .codebase import CodeBase, read_code
from .edits import edits_of, merged, writable
from .ops import Prefetch, Trace
from .patch import CannotPatch, diff, name_in_patch, patched
from .sites import Insertion, duplicates, tie
from .trace import trace_layer
from .tree import layers_of
from .values import weight_rules


@dataclass(frozen=True)
class PlannedCode:
    """What a plan says of the user's code; `patch` is None where nothing can be written."""

    sites: tuple[CodeSite, ...]
    prefetches: tuple[CodePrefetch, ...]
    notes: tuple[str, ...]
    patch: CodePatch | None


def plan_code(
    calls: Sequence[PlanCall],
    found: Survey,
    files: Sequence[Path],
    config: ModelConfig | None,
    mode: str,
    patch_file: Path | None = None,
) -> PlannedCode:
    """Tie the weights of the calls to lines of the files, and write what a patch would insert.

    The files are read, never imported, run or written. Raises InputMissing for a file that is not there,
    UnsupportedExport when none of them is Python.
    """
    try:
        return _planned(calls, found, files, config, mode, patch_file)
    except RecursionError:
        raise UnsupportedExport(
            "an expression of the model code is nested too deeply to be read",
            "give only the files that define the layers",
        ) from None


def _planned(
    calls: Sequence[PlanCall],
    found: Survey,
    files: Sequence[Path],
    config: ModelConfig | None,
    mode: str,
    patch_file: Path | None,
) -> PlannedCode:
    base = read_code(files)
    if not base.files:
        raise UnsupportedExport(base.notes[0], "give the file in which the model's layers are defined")
    numbers, ranks = dict(config.numbers) if config else {}, dict(found.names.sizes)
    notes = [*base.notes, *_twice(base)]
    traces = [trace_layer(base, each, ranks, numbers) for each in layers_of(base, numbers, ranks)]
    found_ways = ways(traces, kernels_of(found))
    if config is None:
        notes.append(
            "without --model-config no size in the code is known: weights are tied by name and order alone"
        )
    tied = [tie(call, weight, found_ways, base, found) for call in calls for weight in call.weights]
    sites, made = _in_mode(tied, mode, base)
    patch, sites = _patch(made, sites, mode, base, patch_file)
    notes += [note for trace in traces for note in trace.notes]
    return PlannedCode(tuple(sites), tuple(_prefetches(base, traces)), tuple(dict.fromkeys(notes)), patch)


def _twice(base: CodeBase) -> Iterator[str]:
    for name, places in base.twice.items():
        yield f"class {name} is defined at {' and '.join(places)}: it is not entered"


def _in_mode(
    tied: Sequence[tuple[CodeSite, Insertion | None]], mode: str, base: CodeBase
) -> tuple[list[CodeSite], list[Insertion]]:
    """The sites as the mode leaves them; one that is told and cannot be written keeps its lines."""
    verdicts = {id(made): why for made, why in writable([each for _, each in tied if each], mode, base)}
    sites, insertions = [], []
    for site, made in tied:
        why: NotTold | None = verdicts.get(id(made))
        if why is not None:
            site = replace(site, status="tied", place=why.place, reason=why.reason)
        elif made is not None:
            insertions.append(made)
        sites.append(site)
    return sites, insertions


def _patch(
    made: Sequence[Insertion], sites: Sequence[CodeSite], mode: str, base: CodeBase, patch_file: Path | None
) -> tuple[CodePatch | None, list[CodeSite]]:
    """The diff of every file that can be given its edits; sites of another file are not in the patch."""
    together = merged(made)
    edits = edits_of(together, mode, base)
    texts, names, roots, refused = [], [], [], {}
    for file in {edit.file.path: edit.file for edit in edits}.values():
        try:
            before, after = patched(file, [edit for edit in edits if edit.file is file])
        except CannotPatch as why:
            refused[file.name] = str(why)
            continue
        name, root = name_in_patch(file.path)
        texts.append(diff(before, after, name))
        names.append(name)
        roots.append(root)
    written = [_said(site, together, refused) for site in sites]
    if refused and texts:  # a switch in one file and the call in another go together or not at all
        texts = []
        written = [
            replace(site, status="tied", reason=next(iter(refused.values())))
            if site.status == "ready"
            else site
            for site in written
        ]
    if not texts:
        return None, written
    text = "".join(texts)
    summary = CodePatch(
        file=str(patch_file) if patch_file else None,
        apply_in=str(roots[0]),
        files=tuple(names),
        calls=len(together),
        lines_added=sum(line.startswith("+") and not line.startswith("+++") for line in text.split("\n")),
        how=f"git apply {shlex.quote(str(patch_file.resolve())) if patch_file else 'FILE'}",
        text=text,
    )
    return summary, written


def _said(site: CodeSite, together: Sequence[Insertion], refused: dict[str, str]) -> CodeSite:
    """A site with what its line serves besides, or why its file cannot be given it."""
    if site.status != "ready":
        return site
    file = site.place.rpartition(":")[0]
    if file in refused:
        return replace(site, status="tied", reason=refused[file])
    line = next(
        each
        for each in together
        if site.name in each.names and (each.expression, each.spot.place) == (site.weight, site.place)
    )
    said = [site.reason]
    if others := [name for name in dict.fromkeys(line.names) if name != site.name]:
        said.append(f"the line serves {', '.join(others)} too, so it asks for the smallest size")
    if beside := sorted(line.runs_for - line.modules):
        where = ", ".join(f"self.{path}" for path in beside)
        said.append(f"the line also runs for {where}, for which this plan has no call")
    return replace(site, max_size=line.max_size, reason="; ".join(said))


def _prefetches(base: CodeBase, traces: Sequence[Trace]) -> Iterator[CodePrefetch]:
    """Every prefetch call of the files; those that the traces meet tell which weight is meant."""
    met: list[Prefetch] = [each for trace in traces for each in trace.prefetches]
    twice = duplicates(met)
    seen = {id(each.node) for each in met}
    rows: dict[tuple[str, str, str], list[str]] = {}
    for each in met:
        key = (each.place, each.weight, each.frames[-1].function.name)
        rows.setdefault(key, []).extend(other.place for other in twice.get(each, ()))
    for file in base.files:
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Call) and id(node) not in seen and _is_prefetch(node):
                rows.setdefault((f"{file.name}:{node.lineno}", _weight(node), "not reached in decode"), [])
    for (place, weight, function), others in rows.items():
        yield CodePrefetch(place, weight, function, tuple(dict.fromkeys(others)))


def _is_prefetch(node: ast.Call) -> bool:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in weight_rules()["prefetch"]["calls"]


def _weight(node: ast.Call) -> str:
    texts = [ast.unparse(each) for each in node.args]
    return next((text for text in texts if "weight" in text), texts[0] if texts else "")
