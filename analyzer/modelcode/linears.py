"""Constructors of layers with weights -> their matrices, from the rows of weights.toml."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any

from .codebase import CodeClass, Leaf, Weight
from .events import dotted
from .values import UNKNOWN, Scope, weight_rules

_Slot = Sequence[int | str]  # position of an argument, then its keywords


@cache
def _layers() -> dict[str, dict[str, Any]]:
    return {name: row for row in weight_rules()["layer"] for name in row["names"]}


@cache
def _experts() -> dict[str, dict[str, Any]]:
    return {name: row for row in weight_rules()["experts"] for name in row["names"]}


def leaf(name: str, call: ast.Call, path: str, where: CodeClass, scope: Scope) -> Leaf | None:
    """The weights that a library's layer holds, by the last part of its constructor; None for no such layer.

    path: of the attribute, from the decoder layer.
    """
    if name in _layers():
        row = _layers()[name]
        ranks = _ranks(call, scope, "attn_tp")
        k = _whole(_argument(call, row["k"], scope))
        n = _qkv(call, row, scope) if "heads" in row else _whole(_argument(call, row["n"], scope))
        if row["split"] == "k":
            k = _divided(k, ranks)
        elif row["split"] == "n" and "heads" not in row:
            n = _divided(n, ranks)
        return Leaf((_weight(path, "weight", call, where, k, n),))
    if name in _experts():
        return Leaf(tuple(_expert_weights(_experts()[name], call, path, where, scope)))
    if name == "Parameter" and call.args:
        return _parameter(call.args[0], path, call, where, scope)
    return None


def is_layer(name: str) -> bool:
    """Whether a constructor of this name makes weights."""
    return name in _layers() or name in _experts() or name == "Parameter"


def _weight(
    path: str, parameter: str, call: ast.Call, where: CodeClass, k: int | None, n: int | None, **more: Any
) -> Weight:
    name = dotted(call.func)
    rules = weight_rules()["phase"]
    framework = where.file.imports.get(name, "").split(".")[0] in rules["token_frameworks"]
    sums = name in rules["reducing"] and rules["do_not_reduce"] not in ast.unparse(call).replace(" ", "")
    own = path.split(".")[-1].split("[")[0]
    return Weight(
        f"{path}.{parameter}" if parameter else path,
        own if parameter in ("weight", "") else parameter,
        name,
        where.file,
        call.lineno,
        k,
        n,
        reduces=framework and sums,
        **more,
    )


def _argument(call: ast.Call, slot: _Slot, scope: Scope) -> Any:
    at = slot[0]
    if isinstance(at, int) and at < len(call.args):
        return scope.value(call.args[at])
    given = {each.arg: each.value for each in call.keywords}
    return next((scope.value(given[name]) for name in slot if name in given), UNKNOWN)


def _whole(value: Any) -> int | None:
    """A size: a whole number, or the sum of a list of them."""
    if isinstance(value, list):
        parts = [_whole(each) for each in value]
        return None if None in parts or not parts else sum(each for each in parts if each)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _ranks(call: ast.Call, scope: Scope, size: str) -> int | None:
    """Over how many ranks a layer is split: its own tp_size, or the parallel size that the plan has."""
    given = [each.value for each in call.keywords if each.arg == "tp_size"]
    if given:
        return _whole(scope.value(given[0]))
    return scope.ranks.get(size)


def _divided(value: int | None, by: int | None) -> int | None:
    return None if value is None or by is None or value % by else value // by


def _qkv(call: ast.Call, row: dict[str, Any], scope: Scope) -> int | None:
    """Heads of this rank x head size; KV heads are as many as heads unless said, one each when fewer."""
    size, heads, kv_heads = (_whole(_argument(call, slot, scope)) for slot in row["heads"])
    ranks = _ranks(call, scope, "attn_tp")
    if size is None or heads is None or ranks is None:
        return None
    said = len(call.args) > row["heads"][2][0] or any(
        each.arg == row["heads"][2][1] for each in call.keywords
    )
    if kv_heads is None and said:
        return None
    kv = max(1, (kv_heads or heads) // ranks)
    return (heads // ranks + 2 * kv) * size


def _expert_weights(row: dict[str, Any], call: ast.Call, path: str, where: CodeClass, scope: Scope):
    count, hidden, inner = (
        _whole(_argument(call, row[name], scope)) for name in ("count", "hidden", "inner")
    )
    count = _divided(count, scope.ranks.get("ep"))
    inner = _divided(inner, _ranks(call, scope, "moe_tp"))
    twice = None if inner is None else 2 * inner
    for name, k, n in zip(row["parameters"], (hidden, inner), (twice, hidden), strict=True):
        yield _weight(path, name, call, where, k, n, batch=count)


def _parameter(node: ast.expr, path: str, call: ast.Call, where: CodeClass, scope: Scope) -> Leaf | None:
    """nn.Parameter(torch.empty(a, b)): a matrix; of one dimension it is no weight worth a prefetch."""
    if not isinstance(node, ast.Call):
        return None
    dims = node.args[0].elts if node.args and isinstance(node.args[0], ast.Tuple | ast.List) else node.args
    if len(dims) not in (2, 3) or dotted(node.func).split(".")[-1] not in ("empty", "zeros", "randn", "ones"):
        return None
    values = [_whole(scope.value(each)) for each in dims]
    batch = values[0] if len(values) == 3 else None
    return Leaf((_weight(path, "", call, where, values[-2], values[-1], batch=batch),))


def same_matrix(weight: Weight, shape: Sequence[int]) -> bool | None:
    """Whether the code's sizes are those of a captured weight, stored either way; None where one is not
    told.

    shape: as captured, 2 dimensions, or 3 with the experts in front.
    """
    sizes = [weight.k, weight.n, *([weight.batch] if len(shape) == 3 else [])]
    if None in sizes or len(shape) not in (2, 3):
        return None
    own = (*([weight.batch] if len(shape) == 3 else []), *sorted((weight.k or 0, weight.n or 0)))
    return own == (*shape[:-2], *sorted(shape[-2:])) and prod(shape) > 0
