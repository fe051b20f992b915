"""Layers with a kernel more or less, a single leading layer, heads behind the stack, and streams beside."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from npu_roofline.analyzer.near_layers import longest_common
from npu_roofline.analyzer.options import AnalysisOptions
from npu_roofline.analyzer.placement import LAYER, ODD, PARTS, SIDE, Placement, StepSequence, place_steps
from npu_roofline.analyzer.repeats import KIND_MATMUL, KIND_OTHER, Region, regions_of

OPTIONS = AnalysisOptions()
MOE = "abcdefRghijk"  # attention a to f, then experts: 12 kernels, of which int(12 / 8) = 1 may be odd
DENSE = "abcdefRxyz"


def _codes(text: str) -> np.ndarray:
    return np.array([ord(letter) for letter in text], dtype=np.int64)


def _step(text: str, matmul: str = "") -> StepSequence:
    """One code per letter; letters of `matmul` multiply by weights, where any are given."""
    codes = _codes(text)
    kinds = np.where(np.isin(codes, _codes(matmul)), KIND_MATMUL, KIND_OTHER) if matmul else None
    return StepSequence(codes, codes, np.ones(len(text), dtype=bool), codes == ord("R"), kinds)


def _place(text: str, matmul: str = "") -> Placement:
    return place_steps([_step(text, matmul)], OPTIONS)[0]


def _layers(placed: Placement) -> int:
    return len(np.unique(placed.layer[placed.part == LAYER]))


def _odd(text: str, placed: Placement) -> list[tuple[str, int]]:
    """(letter, layer) of every odd kernel."""
    return [(text[at], int(placed.layer[at])) for at in np.flatnonzero(placed.part == ODD).tolist()]


def test_a_kernel_in_one_layer_only_is_odd_and_the_layer_is_one_of_the_stack():
    """Z behind the d of the third of five layers: five layers, Z odd in layer 2, e stays at position 4."""
    text = "uv" + MOE * 2 + "abcdZefRghijk" + MOE * 2 + "w"
    placed = _place(text)
    assert _layers(placed) == 5
    assert _odd(text, placed) == [("Z", 2)]
    at = text.index("Z")
    assert (placed.position[at], placed.position[at + 1], placed.layer[at + 1]) == (-1, 4, 2)
    assert placed.position[-2] == 11


def test_a_missing_kernel_leaves_its_position_empty():
    """The third layer has no e: its positions are 0 to 3 and 5 to 11."""
    placed = _place("uv" + MOE * 2 + MOE.replace("e", "") + MOE * 3)
    assert _layers(placed) == 6
    third = placed.position[placed.layer == 2]
    assert third.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]


def test_another_shape_of_the_same_operator_keeps_its_place():
    """In the third layer the kernel at position 4 has a signature of its own, and the type of the others."""
    step = _step("uv" + MOE * 6)
    codes = step.codes.copy()
    codes[2 + 2 * 12 + 4] = 999
    placed = place_steps([StepSequence(codes, step.types, step.main, step.collective)], OPTIONS)[0]
    assert (placed.part[30], placed.layer[30], placed.position[30]) == (LAYER, 2, 4)
    assert _layers(placed) == 6


def test_an_odd_kernel_in_the_first_layer_does_not_turn_the_layer():
    """Behind the first c stands Z: position 0 is still a, and there are four layers, not three."""
    text = "uv" + "abcZdefRghijk" + MOE * 3
    placed = _place(text)
    assert _layers(placed) == 4
    assert (placed.position[2], placed.layer[2], _odd(text, placed)) == (0, 0, [("Z", 0)])


def test_positions_mean_the_same_in_a_step_with_an_odd_kernel():
    """A clean step and one whose first layer has Z: a is position 0 in both."""
    clean, other = place_steps([_step(MOE * 4), _step("abZcdefRghijk" + MOE * 3)], OPTIONS)
    assert clean.position[:3].tolist() == [0, 1, 2]
    assert other.position[:4].tolist() == [0, 1, -1, 2]


def test_two_alike_in_a_row_are_enough_when_the_others_follow():
    """Six layers with an odd kernel in the second and the fifth: nowhere three alike in a row, six layers."""
    text = MOE + "abcdefRgZhijk" + MOE * 2 + "aYbcdefRghijk" + MOE
    placed = _place(text)
    assert _layers(placed) == 6
    assert _odd(text, placed) == [("Z", 1), ("Y", 4)]


def test_too_many_odd_kernels_end_the_stack():
    """Of 12 kernels one may be odd; a layer with three is none, and what follows are layers again."""
    text = MOE * 3 + "abXcdYefRgZhijk" + MOE * 3
    placed = _place(text)
    assert _layers(placed) == 6
    assert _odd(text, placed) == []
    assert PARTS[placed.part[36]] == "between"


def test_a_share_of_nothing_turns_near_repeats_off():
    """With layer_odd_share 0 a kernel between ends the stack, as exact repeats do: twice three layers."""
    text = MOE * 3 + "abcZdefRghijk" + MOE * 3
    placed = place_steps([_step(text)], replace(OPTIONS, layer_odd_share=0.0))[0]
    assert not (placed.part == ODD).any()
    assert _layers(placed) == 6


def test_a_head_between_two_passes_is_no_odd_kernel():
    """A matmul between two whole layers is lm_head: two passes; a copy at the same place is odd."""
    layer, matmul = "abcdefghijkl", "bhkH"
    assert PARTS[_place(layer * 3 + "H" + layer * 3, matmul).part[36]] == "between"
    assert PARTS[_place(layer * 3 + "C" + layer * 3, matmul).part[36]] == "odd"
    assert PARTS[_place(layer * 3 + "CDE" + layer * 3, matmul).part[36]] == "between"


def test_a_single_leading_dense_layer_has_positions_of_its_own():
    """One dense layer of 10 kernels before five of 12: layer 0 at positions 12 to 21, then 0 to 11."""
    placed = _place("uv" + DENSE + MOE * 5 + "w", matmul="bdfghixy")
    assert _layers(placed) == 6
    assert placed.position[2:12].tolist() == list(range(12, 22))
    assert (placed.layer[2:12] == 0).all()
    assert placed.position[12] == 0


def test_a_leading_layer_that_ends_as_the_others_does_not_turn_them():
    """Dense and sparse layers end with j and k: the repeats begin in the dense one, a is position 0 still."""
    dense = "abcdefRxyzjk"
    placed = _place("uv" + dense + MOE * 5 + "w", matmul="bdfghixy")
    assert _layers(placed) == 6
    assert placed.layer[2:14].tolist() == [0] * 12
    assert placed.position[2:15].tolist() == [*range(12, 24), 0]
    assert PARTS[placed.part[-1]] == "after"


def test_a_head_of_the_leading_kind_has_its_positions():
    """Behind the stack of five and lm_head the dense layer runs once more: layer 6, positions 12 to 21."""
    placed = _place("uv" + DENSE + MOE * 5 + "lmno" + DENSE + "q", matmul="bdfghixym")
    assert _layers(placed) == 7
    assert placed.layer[-11:].tolist() == [6] * 10 + [-1]
    assert placed.position[-11:-1].tolist() == list(range(12, 22))


def test_a_leading_layer_whose_first_norm_differs_begins_with_it():
    """N instead of a: the first layer has no residual to add, and is a layer from its norm on."""
    placed = _place("uv" + "N" + DENSE[1:] + MOE * 5, matmul="bdfghixy")
    assert placed.layer[:3].tolist() == [-1, -1, 0]


@pytest.mark.parametrize(
    "before",
    [
        "0123456789",  # nothing of the layer
        "abc0123456",  # three kernels of it
        "defRgh012",  # the middle of a layer: six of its kernels, not from its beginning
        "abcdefR",  # an attention part and nothing else
        "abcdefRuvwo",  # and nothing that multiplies by a weight
    ],
)
def test_what_stands_before_the_stack_is_not_always_a_layer(before: str):
    """Nothing is a leading layer that does not begin like one and have weights of its own."""
    placed = _place(before + MOE * 5, matmul="bdfghixy")
    assert (placed.part[: len(before)] == 0).all()
    assert _layers(placed) == 5


def test_heads_behind_the_stack_before_and_behind_lm_head():
    """One layer behind l, m and a second behind n, o, p, which lacks its e: layers 5 and 6, places kept."""
    text = "uv" + MOE * 5 + "lm" + MOE + "nop" + MOE.replace("e", "") + "q"
    placed = _place(text, matmul="bdfghikmo")
    assert _layers(placed) == 7
    last = placed.position[placed.layer == 6]
    assert last.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11]
    assert PARTS[placed.part[-1]] == "after"


def test_a_head_of_other_shapes_is_a_layer_of_the_same_types():
    """Types are the letters in lower case; the last layer has signatures of its own, in upper case."""
    text = "uv" + "abcdefghij" * 4 + "lmnop" + "ABCDEFGHIJ" + "q"
    step = StepSequence(
        _codes(text), _codes(text.lower()), np.ones(len(text), bool), np.zeros(len(text), bool)
    )
    placed = place_steps([step], OPTIONS)[0]
    assert placed.layer[-11:].tolist() == [4] * 10 + [-1]
    assert placed.position[-11:-1].tolist() == list(range(10))


@pytest.mark.parametrize("seed", range(60))
def test_random_sequences_have_no_layers(seed: int):
    """Property: 20 to 400 kernels drawn from 6 to 30 kinds are no stack, however they fall."""
    chance = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyz0123"[: chance.randint(6, 30)]
    text = "".join(chance.choices(letters, k=chance.randint(20, 400)))
    assert (_place(text, matmul=letters[:2]).part == -1).all()


@pytest.mark.parametrize("seed", range(60))
def test_what_stands_around_a_stack_adds_no_layer(seed: int):
    """Property: up to three layers' worth of the layer's kernels in random order on both sides add none."""
    chance = random.Random(seed)
    period, layers = chance.randint(8, 40), chance.randint(3, 20)
    before, after = (
        [chance.randrange(period) for _ in range(chance.randint(0, 3 * period))] for _ in range(2)
    )
    codes = np.array([*before, *(list(range(period)) * layers), *after], dtype=np.int64)
    main = np.ones(len(codes), bool)
    (placed,) = place_steps([StepSequence(codes, codes, main, ~main)], OPTIONS)
    assert _layers(placed) == layers


@pytest.mark.parametrize("seed", range(120))
def test_inserted_kernels_leave_the_stack_its_layers(seed: int):
    """Property: k random kernels in a stack of n layers: n layers, and exactly those k are named.

    k is at most n / 2 - 1, so that somewhere two layers in a row are alike; one per layer, three kernels from
    its ends: fewer than that between two odd ones could be chance.
    """
    chance = random.Random(seed)
    period, layers = chance.randint(8, 40), chance.randint(4, 30)
    layer = list(range(period))
    chosen = sorted(chance.sample(range(layers), chance.randint(1, layers // 2 - 1)))
    stack: list[int] = []
    inserted: list[tuple[int, int]] = []
    for number in range(layers):
        kernels = layer.copy()
        if number in chosen:
            at = chance.randint(3, period - 3)
            # of a kind that no layer has, or that it has elsewhere: beside its equal nobody could say which
            known = [each for each in layer if each not in (kernels[at - 1], kernels[at])]
            kernels.insert(at, chance.choice([1000 + number, chance.choice(known)]))
            inserted.append((2 + len(stack) + at, number))
        stack += kernels
    codes = np.array([901, 902, *stack, 903], dtype=np.int64)
    step = StepSequence(codes, codes, np.ones(len(codes), bool), np.zeros(len(codes), bool))
    placed = place_steps([step], OPTIONS)[0]
    assert _layers(placed) == layers
    odd = [(at, int(placed.layer[at])) for at in np.flatnonzero(placed.part == ODD).tolist()]
    assert odd == inserted
    inside = placed.part == LAYER
    assert placed.position[inside].tolist() == layer * layers


@pytest.mark.parametrize("seed", range(40))
def test_dropped_kernels_leave_the_stack_its_layers(seed: int):
    """Property: a stack of n layers, of which some lack one kernel inside: n layers, every position right."""
    chance = random.Random(seed)
    period, layers = chance.randint(8, 40), chance.randint(6, 30)
    whole = [(number, place) for number in range(layers) for place in range(period)]
    for number in chance.sample(range(layers), layers // 2 - 1):
        whole.remove((number, chance.randint(3, period - 4)))
    codes = np.array([901, *(place for _, place in whole), 902], dtype=np.int64)
    step = StepSequence(codes, codes, np.ones(len(codes), bool), np.zeros(len(codes), bool))
    placed = place_steps([step], OPTIONS)[0]
    assert list(zip(placed.layer[1:-1].tolist(), placed.position[1:-1].tolist(), strict=True)) == whole


def _interleaved(chance: random.Random, lanes: list[list[int]]) -> tuple[list[int], list[int]]:
    """(codes, stream) of several streams, each in its own order, mixed at random layer by layer."""
    left = [list(each) for each in lanes]
    codes, streams = [], []
    while any(left):
        stream = chance.choice([n for n, each in enumerate(left) if each])
        codes.append(left[stream].pop(0))
        streams.append(stream)
    return codes, streams


@pytest.mark.parametrize("seed", range(20))
def test_streams_that_interleave_differently_are_joined_by_time(seed: int):
    """Property: main stream of 8 layers of 9, another of 8 of 4: mixed in each layer, all get their layer.

    Positions beside count from 0 over the streams beside, here 0 to 3.
    """
    chance = random.Random(seed)
    codes, streams = [500], [0]
    for _ in range(8):
        mixed = _interleaved(chance, [list(range(9)), [100, 101, 102, 103]])
        codes += mixed[0]
        streams += mixed[1]
    array, stream = np.array(codes, dtype=np.int64), np.array(streams, dtype=np.int64)
    step = StepSequence(array, array, stream == 0, np.zeros(len(array), bool), None, stream)
    placed = place_steps([step, step], OPTIONS)[0]
    assert placed.layer[stream == 0].tolist() == [-1] + [layer for layer in range(8) for _ in range(9)]
    assert placed.layer[stream == 1].tolist() == [layer for layer in range(8) for _ in range(4)]
    assert placed.position[stream == 1].tolist() == [0, 1, 2, 3] * 8
    assert (placed.part[stream == 1] == SIDE).all()


def test_two_compute_streams_of_whole_layers_are_joined():
    """Two batches run 6 layers of 10 at once, each on its stream, mixed at random: each has its 6 layers.

    The second stream lags by up to a layer; before its layers it runs three kernels of its own.
    """
    chance = random.Random(11)
    first, second = [*range(10)] * 6, [301, 302, 303, *([*range(200, 210)] * 6)]
    codes, streams = [], []
    while first or second:
        ahead = len(second) - len(first)
        stream = int(bool(second) and (not first or ahead > 10 or (ahead > -3 and chance.random() < 0.5)))
        codes.append((first, second)[stream].pop(0))
        streams.append(stream)
    array, stream = np.array(codes, dtype=np.int64), np.array(streams, dtype=np.int64)
    step = StepSequence(array, array, stream == 0, np.zeros(len(array), bool), None, stream)
    placed = place_steps([step], OPTIONS)[0]
    layers = [layer for layer in range(6) for _ in range(10)]
    assert placed.layer[stream == 0].tolist() == layers
    assert placed.layer[stream == 1].tolist() == [-1, -1, -1, *layers]


def test_a_stream_that_runs_at_another_time_is_not_joined():
    """Eight repeats of its own behind the stack are none of its layers: the place stays open."""
    chance = random.Random(3)
    codes, streams = _interleaved(chance, [list(range(9)) * 8, [200 + n for n in range(20)]])
    codes, streams = codes + [100, 101, 102] * 8, streams + [1] * 24
    array, stream = np.array(codes, dtype=np.int64), np.array(streams, dtype=np.int64)
    step = StepSequence(array, array, stream == 0, np.zeros(len(array), bool), None, stream)
    placed = place_steps([step], OPTIONS)[0]
    assert (placed.layer[stream == 1] == -1).all()
    assert _layers(placed) == 8


def test_regions_of_a_pattern():
    """It stands twice in a row from 1 and once from 9; overlapping aa in aaa counts once."""
    assert regions_of(_codes("xabcabcyzabcq"), _codes("abc")) == (Region(1, 2), Region(9, 1))
    assert regions_of(_codes("xaaay"), _codes("aa")) == (Region(1, 1),)
    assert regions_of(_codes("xy"), _codes("abc")) == ()


def test_the_longest_common_run():
    """xx-cdef in abcdefg is cdef: it begins at 2 here and at 2 there; nothing in common has length 0."""
    assert longest_common(_codes("xxcdefzz"), _codes("abcdefg")) == (2, 2, 4)
    assert longest_common(_codes("xyz"), _codes("abc"))[2] == 0
    # of runs that begin at the first position or the second, abc from 5 is the longest
    assert longest_common(_codes("defghabcx"), _codes("abcdefgh"), 2) == (5, 0, 3)


def test_layers_count_up_in_time():
    """With odd kernels, a leading layer and heads, layer numbers never fall within a step."""
    text = "uv" + DENSE + MOE * 2 + "abcdZefRghijk" + MOE * 2 + "lmno" + MOE
    layers = [each for each in _place(text, matmul="bdfghixyln").layer.tolist() if each >= 0]
    assert all(left <= right for left, right in pairwise(layers))
    assert layers[-1] == 6
