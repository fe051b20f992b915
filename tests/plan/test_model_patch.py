"""The patch for a model: git takes it, it only adds lines, and with the switch off the same is called."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.plan.conftest import Planned
from tests.plan.model_cases import CASES, RECIPE, VLLM, Case, applied, sites_of

ASKED = re.compile(r"npu_prefetch\((.+), \w+, (\d+)\)")
ON = pytest.mark.parametrize(
    ("name", "mode"),
    [("recipe", "ge_graph"), ("recipe", "npugraph_ex"), ("vllm", "ge_graph"), ("vllm", "npugraph_ex")],
)


def _patched(case: Case, planned: Planned, folder: Path, mode: str) -> str:
    """The model after `git apply`; the user's own file is as it was."""
    before = case.file.read_bytes()
    copy = case.copied(folder)
    answer = case.plan(planned, copy, mode=mode)
    after = applied(copy, answer.extras["patch"].text, folder)
    assert case.file.read_bytes() == before
    return after


@ON
def test_git_takes_the_patch_and_it_only_adds_lines(name: str, mode: str, planned: Planned, tmp_path: Path):
    """Every line of the user's file is there in its order, and there are as many calls as were tied."""
    case = CASES[name]
    after = _patched(case, planned, tmp_path, mode).split("\n")
    rest = iter(after)
    assert all(line in rest for line in case.file.read_text("utf-8").split("\n"))
    assert sum("npu_prefetch(" in line for line in after) == {"recipe": 7, "vllm": 2}[name] - (
        name == "recipe" and mode == "npugraph_ex"  # that of the next layer cannot be joined
    )


@ON
def test_with_the_switch_off_the_same_is_called(name: str, mode: str, planned: Planned, tmp_path: Path):
    """On the stand-in the patched model calls what the unpatched one did: off, and without such a key."""
    case = CASES[name]
    after, before = _patched(case, planned, tmp_path, mode), case.file.read_text("utf-8")
    usual = case.calls(before, None)
    assert usual
    assert case.calls(after, None) == usual
    assert case.calls(after, False) == usual


@ON
def test_with_the_switch_on_the_planned_bytes_are_asked_for(
    name: str, mode: str, planned: Planned, tmp_path: Path
):
    """Without the prefetch calls the step is as before; each call asks for a size that the patch names."""
    case = CASES[name]
    after = _patched(case, planned, tmp_path, mode)
    calls = case.calls(after, True)
    model = [call for call in calls if len(call) == 1]
    assert model == case.calls(after, False)
    asked = {call[4] for call in calls if call[0] == "prefetch"}
    assert asked == {int(size) for _, size in ASKED.findall(after)}
    stream = {call[1] for call in calls if call[0] == "prefetch"}
    assert stream == ({"main"} if mode == "ge_graph" else {"side1"})


def test_nothing_is_asked_for_in_prefill(planned: Planned, tmp_path: Path):
    """The recipe says is_prefill, vLLM's code only how many tokens there are: 500 and more get no call."""
    after = _patched(RECIPE, planned, tmp_path, "ge_graph")
    assert [call for call in RECIPE.calls(after, True, prefill=True) if call[0] == "prefetch"] == []
    (tmp_path / "v").mkdir()
    after = _patched(VLLM, planned, tmp_path / "v", "ge_graph")
    assert [call for call in VLLM.calls(after, True, tokens=500) if call[0] == "prefetch"] == []
    assert [call for call in VLLM.calls(after, True, tokens=499) if call[0] == "prefetch"]


def test_the_side_stream_waits_and_is_joined(planned: Planned, tmp_path: Path):
    """Each call: an event of main, the copy on the one side stream behind it, then main waits for it."""
    calls = VLLM.calls(_patched(VLLM, planned, tmp_path, "npugraph_ex"), True)
    streams = [call for call in calls if len(call) > 1]
    issue, join = ["record", "wait_event", "prefetch"], ["record", "wait_event"]
    # gate_up of the layer is joined behind the MLP, inside of which down is issued and joined: two layers.
    assert [call[0] for call in streams] == [*issue, *issue, *join, *join] * 2
    assert [call[1] for call in streams[:5]] == ["main", "side1", "side1", "main", "side1"]
    assert [call[1] for call in streams[6:10]] == ["side1", "main", "side1", "main"]
    assert calls.index(streams[6]) > calls.index(("RowParallelLinear",))
    assert ("MergedColumnParallelLinear",) in calls[calls.index(streams[2]) : calls.index(streams[6])]


@pytest.mark.parametrize("mode", ["ge_graph", "npugraph_ex"])
def test_the_result_is_clean(mode: str, planned: Planned, tmp_path: Path):
    """It parses, and ruff's default rules find nothing in it; torch_npu is imported once."""
    for case in CASES.values():
        folder = tmp_path / case.run
        folder.mkdir()
        after = _patched(case, planned, folder, mode)
        ast.parse(after)
        assert after.count("import torch_npu\n") == 1
        file = folder / "after.py"
        file.write_text(re.sub("# ruff: noqa.*", "", after), encoding="utf-8")
        found = subprocess.run(
            [sys.executable, "-m", "ruff", "check", "--isolated", str(file)], capture_output=True, text=True
        )
        assert found.returncode == 0, found.stdout


@pytest.mark.parametrize(
    ("ends", "indent"), [("\r\n", "    "), ("\n", "\t"), ("\r\n", "\t")], ids=["crlf", "tabs", "both"]
)
def test_line_ends_and_tabs_stay(ends: str, indent: str, planned: Planned, tmp_path: Path):
    """A file with CRLF and tabs gets its calls with CRLF and tabs, and git takes the patch."""
    text = VLLM.file.read_text("utf-8").replace("    ", indent)
    file = tmp_path / VLLM.file.name
    file.write_bytes(text.replace("\n", ends).encode())
    patch = VLLM.plan(planned, file).extras["patch"].text
    after = applied(file, patch, tmp_path)
    assert after.count("\n") == after.count(ends)
    assert f"{ends}{indent * 3}torch_npu.npu_prefetch(self.down_proj.weight, gate_up, " in after


def test_a_file_without_a_last_line_end(planned: Planned, tmp_path: Path):
    """A call in the last lines of a file that ends without a line feed: the patch says so, as git does."""
    text = VLLM.file.read_text("utf-8")
    layer = text[: text.index("\n\n\nclass OutlineModel")]
    file = tmp_path / "modeling.py"
    file.write_text(layer, encoding="utf-8")
    patch = VLLM.plan(planned, file).extras["patch"].text
    assert "\\ No newline at end of file" in patch
    after = applied(file, patch, tmp_path)
    assert not after.endswith("\n")
    assert "self.mlp.gate_up_proj.weight, hidden_states" in after


def test_two_files_are_one_patch(planned: Planned, tmp_path: Path):
    """The MLP in a file of its own: both are read, both are in the patch, each call in its file."""
    text = RECIPE.file.read_text("utf-8")
    start, end = text.index("class SketchMLP"), text.index("class SketchRouter")
    head = text[: text.index("class SketchRMSNorm")]
    (tmp_path / "mlp.py").write_text(head + text[start:end], encoding="utf-8")
    (tmp_path / "model.py").write_text(text[:start] + text[end:], encoding="utf-8")
    answer = RECIPE.plan(planned, tmp_path / "model.py", tmp_path / "mlp.py")
    assert set(answer.extras["patch"].files) == {"model.py", "mlp.py"}
    assert sites_of(answer)["down_proj@19"].place.startswith("mlp.py:")
    alone = sites_of(RECIPE.plan(planned, tmp_path / "model.py"))["down_proj@19"]
    assert alone.status == "unresolved"
