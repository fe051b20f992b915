"""Generated code: it compiles, is clean, and asks of a (fake) NPU exactly what its mode needs."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from npu_roofline.analyzer.plan import MODES
from npu_roofline.reports.plan_code import ab_script, forward_lines, prefetch_module

from tests.plan.conftest import Planned
from tests.plan.fake_npu import FakeNpu, Tensor


def _loaded(planned: Planned, mode: str):
    answer = planned(mode=mode)
    npu = FakeNpu()
    return answer, npu, npu.load(prefetch_module(answer))


def _issue_all(answer, prefetch, is_prefill: bool = False) -> None:
    for call in answer.rows:
        weights = [Tensor(f"{call.name}.{number}") for number in range(len(call.weights))]
        prefetch.issue(call.name, weights, Tensor(f"out of {call.dependency}"), is_prefill)
    if hasattr(prefetch, "rejoin"):
        prefetch.rejoin()


@pytest.mark.parametrize("mode", MODES)
def test_everything_generated_compiles_and_is_clean(mode: str, planned: Planned, tmp_path: Path):
    """Module, forward sketch and script parse, and ruff's own default rules find nothing."""
    answer = planned(mode=mode)
    for name, source in {
        "prefetch_plan.py": prefetch_module(answer),
        "forward.py": forward_lines(answer),
        "prefetch_ab.py": ab_script(answer),
    }.items():
        ast.parse(source)
        compile(source, name, "exec")
        (tmp_path / name).write_text(source, encoding="utf-8")
    found = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--isolated", str(tmp_path)], capture_output=True, text=True
    )
    assert found.returncode == 0, found.stdout


@pytest.mark.parametrize("mode", MODES)
def test_the_switch_is_off_by_default(mode: str, planned: Planned):
    """Without enable_prefetch nothing is issued and not even a stream is made; prefill never is."""
    answer, npu, names = _loaded(planned, mode)
    for config in ({}, {"enable_prefetch": False}, SimpleNamespace(custom_params={})):
        _issue_all(answer, names["WeightPrefetch"].from_config(config))
    assert npu.calls == []
    assert npu.streams == 0
    on = names["WeightPrefetch"].from_config({"custom_params": {"enable_prefetch": True}})
    _issue_all(answer, on, is_prefill=True)
    assert [call for call in npu.calls if call[0] == "prefetch"] == []


@pytest.mark.parametrize("mode", MODES)
def test_every_call_asks_for_the_planned_bytes(mode: str, planned: Planned):
    """One npu_prefetch per weight, with the plan's max_size, in the plan's order."""
    answer, npu, names = _loaded(planned, mode)
    _issue_all(answer, names["WeightPrefetch"](True))
    asked = [call[4] for call in npu.calls if call[0] == "prefetch"]
    assert asked == [weight.max_size for call in answer.rows for weight in call.weights]
    assert asked


def test_eager_copies_on_a_side_stream_behind_the_dependency(planned: Planned):
    """Each call: the side stream waits for the main one, then copies; at the end main waits for it."""
    answer, npu, names = _loaded(planned, "eager")
    _issue_all(answer, names["WeightPrefetch"](True))
    kinds = [(call[0], call[1]) for call in npu.calls]
    assert kinds == [
        *[("wait_stream", "side1"), ("prefetch", "side1")] * len(answer.rows),
        ("wait_stream", "main"),
    ]


def test_ge_graph_needs_a_tensor_and_no_stream_of_its_own(planned: Planned):
    """The call stands in the graph with its dependency; None is refused, and so is single-stream."""
    answer, npu, names = _loaded(planned, "ge_graph")
    prefetch = names["WeightPrefetch"](True)
    _issue_all(answer, prefetch)
    assert {call[1] for call in npu.calls} == {"main"}
    assert all(call[3] for call in npu.calls)
    assert npu.streams == 0
    with pytest.raises(TypeError, match="must be a tensor"):
        prefetch.issue(answer.rows[0].name, [Tensor("w")], None)
    with pytest.raises(ValueError, match="enable_single_stream"):
        names["WeightPrefetch"].from_config({"enable_prefetch": True, "enable_single_stream": True})


def test_npugraph_ex_joins_its_stream_again(planned: Planned):
    """Record on main, wait on the side, copy there; before forward ends main waits for the side's event."""
    answer, npu, names = _loaded(planned, "npugraph_ex")
    prefetch = names["WeightPrefetch"](True)
    _issue_all(answer, prefetch)
    one = [("record", "main"), ("wait_event", "side1"), ("prefetch", "side1")]
    assert [(call[0], call[1]) for call in npu.calls] == [
        *one * len(answer.rows),
        ("record", "side1"),
        ("wait_event", "main"),
    ]
    assert npu.calls[-1] == ("wait_event", "main", "side1")
    npu.calls.clear()
    prefetch.rejoin()
    assert npu.calls == []


def test_one_call_at_a_time(planned: Planned):
    """`prefetch_only` makes one call and skips the others; a name that is no call is an error."""
    answer, npu, names = _loaded(planned, "ge_graph")
    name = answer.rows[3].name
    _issue_all(answer, names["WeightPrefetch"].from_config({"enable_prefetch": 1, "prefetch_only": [name]}))
    assert {call[2].split(".0")[0] for call in npu.calls} == {name}
    with pytest.raises(ValueError, match="no prefetch call is named nobody"):
        names["WeightPrefetch"](True, ["nobody"])


def test_the_functions_find_the_weights_of_the_layer(planned: Planned):
    """The generated function of w13 takes the layer and fetches its w13_weight behind the given output."""
    answer, npu, names = _loaded(planned, "ge_graph")
    layer = SimpleNamespace(mlp=SimpleNamespace(experts=SimpleNamespace(w13_weight=Tensor("w13"))))
    names["prefetch_experts_w13_12"](names["WeightPrefetch"](True), layer, Tensor("out"))
    (call,) = npu.calls
    w13 = next(each for each in answer.rows if each.role == "experts.w13")
    assert call == ("prefetch", "main", "w13", "out", w13.max_size)


HOSTILE = 'x"""\n\'\'\'); import os; os.system("touch /tmp/owned") #```\u202e{{ 7 * 7 }}{% raw %}\\'


@pytest.mark.parametrize("mode", MODES)
def test_names_of_an_export_cannot_become_code(mode: str, planned: Planned):
    """A kernel name with quotes, newlines and template marks stays a literal or a comment."""
    answer = planned(mode=mode)
    calls = tuple(
        replace(call, name=HOSTILE, target=HOSTILE, dependency=HOSTILE, role=HOSTILE, dependency_role=HOSTILE)
        for call in answer.rows[:2]
    )
    hostile = replace(answer, rows=calls, run=replace(answer.run, name=HOSTILE))
    for source in (prefetch_module(hostile), forward_lines(hostile), ab_script(hostile)):
        tree = ast.parse(source)
        imported = {
            name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names
        }
        assert "__import__" not in source
        systems = [
            node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "system"
        ]
        assert systems == []
        assert imported <= {
            "torch", "torch_npu", "argparse", "importlib", "os", "shlex", "subprocess", "sys", "numpy",
            "prefetch_plan",
        }  # fmt: skip
