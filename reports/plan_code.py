"""The code of a plan: the module to import, the lines in forward, the A/B script.

Names that come from an export reach the code only as Python literals or, in comments and docstrings, with
everything taken out that could end one.
"""

from __future__ import annotations

import functools
import json
import keyword
import re
from dataclasses import dataclass, replace
from typing import Any

import jinja2

from .. import __version__
from ..analyzer.answer import Answer
from ..analyzer.answer_plan import PlanCall
from ..units import format_bytes
from .escape import visible


@dataclass(frozen=True)
class CodeCall:
    """One call as the templates write it."""

    name: str
    function: str  # name of the generated function
    sizes: tuple[int, ...]
    weights: tuple[str, ...]
    behind: str
    target: str
    fetched: str
    scope: str
    expressions: tuple[str, ...]  # of all weights; empty where one of them is not known

    @property
    def beyond(self) -> bool:
        """Whether forward must know if a layer follows."""
        return self.scope in ("next_layer", "last_layer")

    @property
    def needs_weights(self) -> bool:
        """Whether the caller must name the weights: the plan does not know what the code calls them."""
        return not self.expressions

    @property
    def holder(self) -> str:
        """The object that the weights belong to."""
        return "layer" if self.expressions[0].startswith("layer.") else "model"

    @property
    def argument(self) -> str:
        """What forward passes for the weights."""
        if self.needs_weights:
            return "weights"
        if self.holder == "model":
            return "self"
        return {"next_layer": "next_layer", "first_layer": "self.layers[0]"}.get(self.scope, "layer")


def code_calls(answer: Answer) -> list[CodeCall]:
    """The calls of a plan, with function names that no two of them share."""
    found: list[CodeCall] = []
    for call in map(_code_call, answer.rows):
        again = sum(each.function.startswith(call.function) for each in found)
        found.append(replace(call, function=f"{call.function}_{again + 1}") if again else call)
    return found


def prefetch_module(answer: Answer) -> str:
    """The module `prefetch_plan.py` for the plan's mode; it imports only torch and torch_npu."""
    return _render(
        "plan_module.py.j2",
        calls=code_calls(answer),
        mode=answer.extras["mode"],
        run=_comment(answer.run.name if answer.run else "unknown"),
    )


def forward_lines(answer: Answer) -> str:
    """How the model's forward uses the module: a sketch with `...` where the model's own lines stand."""
    return _render("plan_forward.py.j2", calls=code_calls(answer), mode=answer.extras["mode"])


def ab_script(answer: Answer) -> str:
    """The self-contained script that measures the plan: switch off and on, interleaved, then compared."""
    return _render(
        "plan_ab.py.j2",
        calls=code_calls(answer),
        first=answer.rows[0].name if answer.rows else "",
        targets={call.name: call.id for call in answer.rows},
        mode=answer.extras["mode"],
        run=_comment(answer.run.name if answer.run else "unknown"),
    )


def _code_call(call: PlanCall) -> CodeCall:
    expressions = tuple(each.expression for each in call.weights if each.expression)
    known = len(expressions) == len(call.weights)
    behind = f"{call.dependency_role} ({call.dependency})" if call.dependency_role else call.dependency
    return CodeCall(
        name=call.name,
        function=_identifier(f"prefetch_{call.name}"),
        sizes=tuple(each.max_size for each in call.weights),
        weights=tuple(f"{each.role or 'weight'} {each.shape} {each.dtype}" for each in call.weights),
        behind=behind,
        target=f"{call.role} ({call.target})" if call.role else call.target,
        fetched=f"{format_bytes(call.max_size)} of {call.role or call.target}",
        scope=call.scope,
        expressions=expressions if known else (),
    )


def _identifier(text: str) -> str:
    """A Python name out of any text; what cannot stand in one becomes an underscore."""
    name = re.sub(r"[^0-9a-z]+", "_", text.lower()).strip("_")[:80]
    return f"{name}_" if keyword.iskeyword(name) else name


def _literal(value: Any) -> str:
    """A value of text, whole numbers and tuples of them as Python source, ASCII only."""
    if isinstance(value, tuple):
        inner = ", ".join(_literal(each) for each in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, int):
        return f"{value:_}"
    return json.dumps(visible(str(value)), ensure_ascii=True)


def _comment(text: str) -> str:
    """Text that can end neither a comment nor a docstring."""
    plain = visible(str(text)).encode("ascii", "backslashreplace").decode()
    return plain.replace("\\", "/").replace('"', "'")[:120]


@functools.cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("npu_roofline.reports"),
        autoescape=False,  # Python, not HTML: every value passes `literal` or `comment`
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["literal"] = _literal
    made.filters["comment"] = _comment
    return made


def _render(template: str, **context: Any) -> str:
    text = _environment().get_template(template).render(version=__version__, **context)
    return re.sub(r"\n{4,}", "\n\n\n", text).rstrip("\n") + "\n"
