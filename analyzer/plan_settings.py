"""A plan as settings of the frameworks that prefetch weights themselves; rules in prefetch_settings.toml."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import WrongUsage
from .answer_plan import FrameworkSetting, PlanCall
from .prefetch import MIB


@cache
def setting_rules() -> Mapping[str, Any]:
    """All of prefetch_settings.toml."""
    return tomllib.loads(Path(__file__).with_name("prefetch_settings.toml").read_text(encoding="utf-8"))


def settings(calls: Sequence[PlanCall], vllm_ascend: str | None = None) -> tuple[FrameworkSetting, ...]:
    """What to set in each framework for these calls; frameworks and versions without a setting say so.

    vllm_ascend: one version, such as '0.18.0'; None = every version that is known. Raises WrongUsage for a
    version that the rules do not know.
    """
    return (
        _cann_recipes(),
        *_vllm_ascend(calls, vllm_ascend),
        *_sglang(calls),
        _omni_npu(calls),
    )


def _shares(calls: Iterable[PlanCall]) -> dict[str, float]:
    """Share of its weight that the plan fetches, by role: the smallest of its places, which all get it."""
    found: dict[str, float] = {}
    for call in calls:
        whole = sum(weight.weight_bytes for weight in call.weights)
        if call.role and whole:
            share = call.max_size / whole
            found[call.role] = min(share, found.get(call.role, 1.0))
    return found


def _sizes(calls: Iterable[PlanCall]) -> dict[str, int]:
    """Bytes that the plan fetches, by role: the smallest of its places."""
    found: dict[str, int] = {}
    for call in calls:
        if call.role:
            found[call.role] = min(call.max_size, found.get(call.role, call.max_size))
    return found


def _cann_recipes() -> FrameworkSetting:
    text = "model_config:\n  custom_params:\n    enable_prefetch: true\n    enable_multi_streams: 1\n"
    note = (
        "Graph mode only; refuse it without multi-streams and with enable_single_stream. The sizes stand in "
        "the model's code, so this switch turns on the calls of this plan once they are written there."
    )
    return FrameworkSetting("cann-recipes-infer", "", "yaml", text, note, True)


def _vllm_ascend(calls: Sequence[PlanCall], version: str | None) -> list[FrameworkSetting]:
    found = setting_rules()
    known = [
        *(_vllm_version(calls, entry, each) for entry in found["vllm_ascend"] for each in entry["versions"]),
        *(
            FrameworkSetting("vllm-ascend", each, "none", "", entry["reason"], False)
            for entry in found["vllm_ascend_without"]
            for each in entry["versions"]
        ),
    ]
    if version is None:
        return _merged(known)
    wanted = version.removeprefix("v")
    chosen = [each for each in known if wanted == each.version or wanted.startswith(f"{each.version}.")]
    if not chosen:
        versions = ", ".join(each.version for each in known)
        raise WrongUsage(f"vllm-ascend {version} is not known here", f"versions that are: {versions}")
    return chosen


def _merged(known: Sequence[FrameworkSetting]) -> list[FrameworkSetting]:
    """Versions with the same text are one row."""
    groups: dict[tuple[str, str], list[FrameworkSetting]] = {}
    for each in known:
        groups.setdefault((each.text, each.note), []).append(each)
    return [
        FrameworkSetting(
            "vllm-ascend",
            ", ".join(each.version for each in group),
            first.form,
            first.text,
            first.note,
            first.supported,
        )
        for group in groups.values()
        for first in group[:1]
    ]


def _vllm_version(calls: Sequence[PlanCall], entry: Mapping[str, Any], version: str) -> FrameworkSetting:
    ratios = {name: _module(module, _shares(calls)) for name, module in entry["modules"].items()}
    on = any(value > 0 for module in ratios.values() for value in module.values())
    config = {"weight_prefetch_config": {"enabled": on, "prefetch_ratio": ratios}}
    lines = [f"--additional-config '{json.dumps(config)}'"]
    found = setting_rules()
    env = entry.get("mlp_env")
    sizes = _sizes(calls)
    if env and any(role in sizes for role in env):
        lines.append(f"export {env['enable']}=1")
        cap = found["mlp_cap_mib"] * MIB
        for role in ("gate_up_proj", "down_proj"):
            # a size of 0 would be read as "none": the least that is a call stands for no call
            lines.append(f"export {env[role]}={min(cap, sizes.get(role, 1))}")
    note = (
        "Every key of a module is written: inside a module that is on, 0 or a missing key would fetch the "
        f"whole weight. {found['silent_ratio']} silences a weight beside an active one. Experts are "
        f"prefetched from {found['moe_min_tokens']} tokens on, dense layers below {found['mlp_max_tokens']} "
        f"and at most {found['mlp_cap_mib']} MiB. MLA has no ratio: it prefetches whenever enabled. The "
        "framework chooses its own dependencies, which need not be those of this plan."
    )
    return FrameworkSetting("vllm-ascend", version, "shell", "\n".join(lines) + "\n", note, True)


def _module(module: Mapping[str, str], shares: Mapping[str, float]) -> dict[str, float]:
    """Ratios of one module: all 0 when nothing of it is planned, else every key above 0 and at most 1."""
    if not any(role in shares for role in module.values()):
        return dict.fromkeys(module, 0.0)
    silent = setting_rules()["silent_ratio"]
    return {key: max(silent, math.floor(shares.get(role, 0.0) * 1e4) / 1e4) for key, role in module.items()}


def _sglang(calls: Sequence[PlanCall]) -> list[FrameworkSetting]:
    fork, sizes = setting_rules()["sglang_fork"], _sizes(calls)
    upstream = FrameworkSetting(
        "sglang",
        "upstream",
        "none",
        "",
        "no setting: gate_up and down are always prefetched whole on NPU",
        False,
    )
    operators = [name for name in ("gmm1", "gmm2") if fork[name] in sizes]
    if not operators:
        return [upstream]
    budget = max(1, sum(sizes[fork[name]] for name in operators) // MIB)
    text = (
        f"export {fork['switch']}=1\nexport {fork['operators']}={','.join(operators)}\n"
        f"export {fork['budget']}={budget}\n"
    )
    note = "Experts only, in chunks, while a graph is captured; the budget is the sum of the planned sizes."
    return [upstream, FrameworkSetting("sglang", fork["name"], "shell", text, note, True)]


def _omni_npu(calls: Sequence[PlanCall]) -> FrameworkSetting:
    sizes = _sizes(calls)
    values = {key: sizes.get(role, 0) // MIB for key, role in setting_rules()["omni_npu"].items()}
    config = {"enable_prefetch": any(values.values()), **values}
    text = json.dumps({"operator_opt_config": config}, indent=2) + "\n"
    note = (
        "Whole MB (taken as MiB), rounded down; 0 turns a weight off. One size serves all places of a role."
    )
    return FrameworkSetting("omni-npu", "", "json", text, note, True)
