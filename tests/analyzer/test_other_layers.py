"""Layers that do not repeat often: one more behind the model, and a few of another kind before it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.placement import PARTS, StepSequence, place_steps

OPTIONS = AnalysisOptions()
MOE = "abcdefRghijk"  # attention a to f, then experts
DENSE = "abcdefRxyz"  # the same attention, then a dense feed-forward


def _step(text: str) -> StepSequence:
    codes = np.array([ord(letter) for letter in text], dtype=np.int64)
    return StepSequence(codes, codes, np.ones(len(text), dtype=bool), codes == ord("R"))


def _runs(text: str) -> list[tuple[str, int, int, int]]:
    """(part, layer, first position, kernels) of each layer, and of what stands between."""
    (placed,) = place_steps([_step(text)], OPTIONS)
    found: list[tuple[str, int, int, int]] = []
    rows = zip(placed.part.tolist(), placed.layer.tolist(), placed.position.tolist(), strict=True)
    for part, layer, position in rows:
        if found and found[-1][:2] == (PARTS[part], layer):
            found[-1] = (*found[-1][:3], found[-1][3] + 1)
        else:
            found.append((PARTS[part], layer, position, 1))
    return found


def test_leading_dense_layers_are_layers_with_positions_of_their_own():
    """Three dense layers of 10 kernels, then five of 12: positions 12 to 21, and 0 to 11."""
    runs = _runs("uv" + DENSE * 3 + MOE * 5 + "w")
    assert runs == [
        ("before", -1, 0, 2),
        *(("layer", layer, 12, 10) for layer in range(3)),
        *(("layer", layer, 0, 12) for layer in range(3, 8)),
        ("after", -1, 0, 1),
    ]


def test_a_head_that_runs_the_layer_again_is_a_layer():
    """After the model and 5 kernels of its own an MTP head runs one more layer: the same positions."""
    runs = _runs("uv" + MOE * 5 + "lmnop" + MOE + "q")
    assert runs[-3:] == [("between", -1, 0, 5), ("layer", 5, 0, 12), ("after", -1, 0, 1)]


def test_a_loop_of_the_preparation_is_no_layer():
    """Three equal stretches of kernels that no layer has stay in front of the layers."""
    runs = _runs("12345678" * 3 + MOE * 4)
    assert runs[0] == ("before", -1, 0, 24)
    assert [layer for part, layer, _, _ in runs if part == "layer"] == [0, 1, 2, 3]


def test_short_patterns_are_not_looked_for_elsewhere():
    """Three kernels that recur once behind a loop of them are chance, not a layer."""
    assert _runs("uv" + "abc" * 5 + "w" + "abc")[-1] == ("after", -1, 0, 4)


def test_kinds_have_the_same_positions_in_every_step():
    """The second step has its dense layers first in the list of gaps too, though a pass comes before."""
    steps = [_step("u" + DENSE * 2 + MOE * 4), _step("vw" + DENSE * 2 + MOE * 4 + "x")]
    first, second = place_steps(steps, OPTIONS)
    assert first.position[1:11].tolist() == second.position[2:12].tolist() == list(range(12, 22))


@given(
    before=st.text("stuv", max_size=6),
    dense=st.integers(0, 4),
    layers=st.integers(3, 8),
    after=st.text("lmnop", max_size=6),
    head=st.booleans(),
)
def test_every_kernel_keeps_a_place(before, dense, layers, after, head):
    """Property: parts cover the step, layers count up, and a position within a layer occurs once.

    A kernel that is in a layer and odd there has no position.
    """
    text = before + DENSE * dense + MOE * layers + after + (MOE if head and after else "")
    (placed,) = place_steps([_step(text)], OPTIONS)
    assert (placed.part >= 0).all()
    inside = placed.layer >= 0
    numbers = placed.layer[inside]
    assert (np.diff(numbers) >= 0).all()
    for layer in np.unique(numbers):
        positions = placed.position[(placed.layer == layer) & (placed.position >= 0)]
        assert (np.diff(positions) == 1).all()
