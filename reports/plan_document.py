"""A plan as a Markdown design document, in English or Chinese: the seven items, the code, the settings."""

from __future__ import annotations

import functools
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2

from ..analyzer.answer import Answer, WindowKernelRow
from ..analyzer.answer_plan import CodePatch, FrameworkSetting, PlanCall
from ..units import NOT_KNOWN, format_bytes, format_duration, format_share
from .escape import markdown, visible
from .headline import between, device_line, headline, plan_saving
from .plan_code import ab_script, forward_lines, prefetch_module

_LONGEST = 2000  # characters of one reason


class Ready(str):
    """Text that is Markdown already: our own, or escaped."""


def plan_document(answer: Answer) -> str:
    """The design document of a plan, in the language that the answer asks for; ends in a line end."""
    extras = answer.extras
    words = plan_words()[extras["lang"]]
    calls: Sequence[PlanCall] = answer.rows
    has = bool(calls)
    context = {
        "run": answer.run.name if answer.run else NOT_KNOWN,
        "headline": _headline(answer, words),
        "coverage": answer.coverage.sentence if answer.coverage else "",
        "device": device_line(answer.device) if answer.device else "",
        "calls": calls,
        "views": extras["views"],
        "stopped": extras["stopped"],
        "mode_code": Ready(extras["mode"]),
        "mode_rules": Ready(words["modes"][extras["mode"]]),
        "conclusions": _conclusions(answer, words["conclusions"], words["to"]) if has else (),
        "assumptions": calls[0].row.assumptions if has else (),
        "risks": _risks(answer, words["risks"]) if has else (),
        "left_out": extras["left_out"],
        "no_window": extras["no_window"],
        "best": max(calls, key=lambda call: call.predicted_saving_step_us).name if has else "",
        "module": _code(prefetch_module(answer)) if has else "",
        "forward": _code(forward_lines(answer)) if has else "",
        "script": _code(ab_script(answer)) if has else "",
        "settings": [_setting(each) for each in extras["settings"]],
        **_code_context(extras),
        "notes": answer.notes,
    }
    environment = _environment(extras["lang"])
    return environment.get_template(f"plan.{extras['lang']}.md.j2").render(context).rstrip("\n") + "\n"


def _headline(answer: Answer, words: Mapping[str, Any]) -> str:
    """What is planned and what it would save; why nothing is planned is quoted as it was composed."""
    said = headline(answer)
    if not answer.rows:
        return said
    saving = between(plan_saving(answer.rows), format_duration, words["to"])
    return words["headline"].format(
        said=said, count=len(answer.rows), mode=answer.extras["mode"], saving=saving
    )


def _code_context(extras: Mapping[str, Any]) -> dict[str, Any]:
    """What the section on the user's code shows; `code` is None where no file was given."""
    patch: CodePatch | None = extras.get("patch")
    return {
        "code": extras.get("code"),
        "prefetch_calls": extras.get("prefetch_calls", ()),
        "patch": patch,
        "how_code": _code(visible(patch.how).replace("`", "'")) if patch else "",
    }


@functools.cache
def plan_words() -> Mapping[str, Any]:
    """The sentences of plan_words.toml by language."""
    return tomllib.loads(Path(__file__).with_name("plan_words.toml").read_text(encoding="utf-8"))


def _environment(lang: str) -> jinja2.Environment:
    words = plan_words()[lang]
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("npu_roofline.reports"),
        autoescape=False,  # Markdown, not HTML: `finalize` escapes everything that is not Ready
        finalize=lambda value: value if isinstance(value, Ready) else markdown(str(value), _LONGEST),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["us"] = lambda value: Ready(NOT_KNOWN if value is None else f"{value:,.1f}")
    made.filters["mib"] = lambda value: Ready(format_bytes(value, 2))
    made.filters["number"] = lambda value: Ready(
        NOT_KNOWN if value is None else f"{value:,g}" if isinstance(value, float) else f"{value:,}"
    )
    made.filters["kernels"] = lambda found: " + ".join(_kernel(each) for each in found) or "-"
    made.filters["words"] = lambda name: words.get(name, name)
    return made


def _kernel(each: WindowKernelRow) -> str:
    return f"{each.type} {each.duration_us:.1f} us"


def _code(text: str) -> Ready:
    """Source for a fence: nothing in it can close the fence, since names in it are ASCII literals."""
    return Ready(text.rstrip("\n").replace("```", "` ` `"))


def _setting(each: FrameworkSetting) -> dict[str, Any]:
    return {
        "framework": each.framework,
        "version": each.version,
        "note": each.note,
        "text": each.text,
        "form_code": Ready(each.form),
        "text_code": _code(visible_lines(each.text)),
    }


def visible_lines(text: str) -> str:
    """Text of several lines with control characters made visible."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _conclusions(answer: Answer, words: Mapping[str, str], to: str) -> list[str]:
    calls: Sequence[PlanCall] = answer.rows
    savings = plan_saving(calls)
    step = answer.extras["step_us"]
    said = []
    if step:
        saving = between(savings, format_duration, to)
        share = between(savings, lambda us: format_share(us / step, 1), to)
        said.append(words["step"].format(step=format_duration(step), saving=saving, share=share))
    bounds: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for call in calls:
        name = f"{call.row.bound}/{call.row.limiter}"
        bounds[name] += 1
        times[name] += call.row.target_us * call.row.occurrences_per_step
    said += [
        words["bound"].format(count=count, bound=name, time=format_duration(times[name]))
        for name, count in bounds.most_common()
    ]
    confidences = Counter(call.row.confidence for call in calls)
    said.append(
        words["conf"].format(text=", ".join(f"{count} {name}" for name, count in confidences.most_common()))
    )
    said.append(
        words["windows"].format(count=len(answer.extras["no_window"]), left=len(answer.extras["left_out"]))
    )
    return said


def _risks(answer: Answer, words: Mapping[str, str]) -> list[str]:
    """The risks that this plan has; those that hold for every plan come first."""
    calls: Sequence[PlanCall] = answer.rows
    said = [words[name] for name in ("untested", "model", "decode", "twice", "window")]
    step = answer.extras["step_us"]
    if step:
        total = sum(call.predicted_saving_step_us for call in calls)
        said.append(words["share"].format(share=format_share(total / step, 1)))
    if any(
        each.communication for call in calls for each in (call.row.window.kernels if call.row.window else ())
    ):
        said.append(words["communication"])
    if any((weight.experts or 0) > 1 for call in calls for weight in call.row.weights):
        said.append(words["experts"])
    if any(call.row.confidence == "low" for call in calls):
        said.append(words["low"])
    if any(call.scope == "next_layer" for call in calls):
        said.append(words["cross"])
    if any(weight.expression for call in calls for weight in call.weights):
        said.append(words["names"])
    return said
