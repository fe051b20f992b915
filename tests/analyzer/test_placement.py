"""Layers of steps: rotation kept between steps, side streams, and what is left unplaced."""

from __future__ import annotations

import numpy as np
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.placement import PARTS, UNPLACED, Placement, StepSequence, place_steps

OPTIONS = AnalysisOptions()


def _step(text: str, side: str = "") -> StepSequence:
    """One code per letter; its lower case is its type; letters of `side` run on other streams, R is a
    collective.
    """
    return StepSequence(
        codes=np.array([ord(letter) for letter in text], dtype=np.int64),
        types=np.array([ord(letter.lower()) for letter in text], dtype=np.int64),
        main=np.array([letter not in side for letter in text]),
        collective=np.array([letter == "R" for letter in text]),
    )


def _shown(placement: Placement) -> list[str]:
    """'layer 1.3' style text of every kernel."""
    rows = zip(placement.part.tolist(), placement.layer.tolist(), placement.position.tolist(), strict=True)
    return [
        "-"
        if part == UNPLACED
        else f"{PARTS[part]} {layer}.{position}"
        if layer >= 0
        else f"{PARTS[part]} {position}"
        for part, layer, position in rows
    ]


def test_prologue_layers_and_epilogue_are_placed():
    """Parts before and after count from 0 in their part, layers from 0, positions from 0 in each layer."""
    (placed,) = place_steps([_step("xy" + "abc" * 3 + "z")], OPTIONS)
    assert _shown(placed) == [
        *("before 0", "before 1"),
        *("layer 0.0", "layer 0.1", "layer 0.2"),
        *("layer 1.0", "layer 1.1", "layer 1.2"),
        *("layer 2.0", "layer 2.1", "layer 2.2"),
        "after 0",
    ]


def test_two_passes_count_their_layers_on():
    """Between two forward passes of one step the part is 'between', and layer numbers go on."""
    (placed,) = place_steps([_step("xy" + "abcd" * 3 + "uv" + "abcd" * 3)], OPTIONS)
    shown = _shown(placed)
    assert shown[14:16] == ["between 0", "between 1"]
    assert shown[16] == "layer 3.0"


def test_positions_mean_the_same_in_a_step_with_another_prologue():
    """In the second step a period could start one kernel earlier, with the d before it; it does not."""
    common, other = place_steps([_step("xy" + "abcd" * 4), _step("xyd" + "abcd" * 4)], OPTIONS)
    assert _shown(common)[2] == "layer 0.0"  # the first a
    assert _shown(other)[2:4] == ["before 2", "layer 0.0"]


def test_positions_mean_the_same_when_shapes_grow_from_step_to_step():
    """Signatures of the second step are new (upper case), so only the types tell where the layer begins."""
    first, second = place_steps([_step("xy" + "abcd" * 4), _step("Xyd" + "AbCd" * 4)], OPTIONS)
    assert _shown(first)[2] == "layer 0.0"
    assert _shown(second)[2:4] == ["before 2", "layer 0.0"]


def test_side_streams_in_varying_order_leave_the_main_stream_its_layers():
    """S and T slip between other kernels in every layer; the main stream alone repeats."""
    steps = [_step("aSbcdTabSTcdaTbcSd", side="ST"), _step("aSTbcdabScTdSaTbcd", side="ST")]
    for step, placed in zip(steps, place_steps(steps, OPTIONS), strict=True):
        main = [text for text, is_main in zip(_shown(placed), step.main, strict=True) if is_main]
        assert main == [f"layer {layer}.{position}" for layer in range(3) for position in range(4)]
        assert all(placed.part[~step.main] == PARTS.index("side"))


def test_collectives_stay_in_the_layer_when_other_streams_vary():
    """R runs on a stream of its own at the same place of each layer; only S, which varies, is left beside."""
    (placed,) = place_steps([_step("aSbRcabRScaSbRcSabRc", side="SR")], OPTIONS)
    shown = _shown(placed)
    assert shown[:5] == ["layer 0.0", "side -1", "layer 0.1", "layer 0.2", "layer 0.3"]
    assert [text for text in shown if text != "side -1"][-1] == "layer 3.3"


def test_side_streams_in_a_fixed_order_are_part_of_the_layer():
    """A collective on its own stream, at the same place every time, is a kernel of the layer like others."""
    (placed,) = place_steps([_step("abSc" * 3, side="S")], OPTIONS)
    assert _shown(placed)[2] == "layer 0.2"


def test_two_layers_count_only_when_they_are_most_of_the_step():
    """Two repeats over 8 of 10 kernels are layers; over 8 of 20 they are not."""
    (most,) = place_steps([_step("x" + "abcd" * 2 + "z")], OPTIONS)
    assert _shown(most)[1] == "layer 0.0"
    (little,) = place_steps([_step("0123456" + "abcd" * 2 + "98765")], OPTIONS)
    assert set(_shown(little)) == {"-"}


def test_equal_steps_share_one_placement():
    """A thousand equal steps are worked out once: they get the very same arrays."""
    placements = place_steps([_step("abc" * 4)] * 1000, OPTIONS)
    assert len(placements) == 1000
    assert all(each is placements[0] for each in placements)


def test_layers_that_differ_in_shapes_repeat_by_type():
    """Six layers of 8 kernels whose second has another shape in each: no signatures repeat, the types do."""
    types = np.array([number % 8 for number in range(48)], dtype=np.int64)
    codes = np.where(types == 1, 1000 + np.arange(48), types)
    step = StepSequence(codes, types, np.ones(48, dtype=bool), np.zeros(48, dtype=bool))
    first, second = place_steps([step, step], OPTIONS)
    assert first.layer.tolist() == [number // 8 for number in range(48)]
    assert second.position.tolist() == [number % 8 for number in range(48)]
