"""Places of two runs, paired."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.analyzer import placement
from npu_roofline.analyzer.compare.pairing import PARTS, Pair, Place, pair_places


def places(text: str, part: str | None = "layer", calls: float = 4.0, start: int = 0) -> list[Place]:
    """Each letter is a place; small and capital are one operator with two shapes, a digit is a version."""
    return [
        Place(start + at, 0, part, at, _type_of(letter), ord(letter), calls) for at, letter in enumerate(text)
    ]


def _type_of(letter: str) -> str:
    return f"MatMulV{letter}" if letter.isdigit() else f"Op{letter.lower()}"


def told(pairs: list[Pair]) -> list[tuple[str, str, str]]:
    """(before, after, how) as letters."""
    return [
        (
            "".join(chr(p.signature) for p in each.before),
            "".join(chr(p.signature) for p in each.after),
            each.how,
        )
        for each in pairs
    ]


def test_the_same_layer_pairs_place_by_place() -> None:
    """Equal sequences give only pairs of the same work at the same place."""
    assert told(pair_places(places("abc"), places("abc"))) == [
        ("a", "a", "same"),
        ("b", "b", "same"),
        ("c", "c", "same"),
    ]


def test_an_inserted_kernel_is_new_and_shifts_nothing() -> None:
    """In abc -> axbc the x is new; b and c keep their partners although their positions moved."""
    assert told(pair_places(places("abc"), places("axbc"))) == [
        ("a", "a", "same"),
        ("b", "b", "same"),
        ("", "x", "new"),
        ("c", "c", "same"),
    ]


def test_a_removed_kernel_is_gone() -> None:
    """In abc -> ac the b is gone, and only b."""
    assert ("b", "", "gone") in told(pair_places(places("abc"), places("ac")))


def test_other_shapes_at_the_same_place_are_one_pair() -> None:
    """A batch of another size changes signatures: aBc -> abC pairs by operator between equal neighbours."""
    assert told(pair_places(places("aBc"), places("abC"))) == [
        ("a", "a", "same"),
        ("B", "b", "shapes"),
        ("c", "C", "shapes"),
    ]


def test_a_renamed_type_is_one_pair() -> None:
    """MatMulV2 that became MatMulV3 between two CANN releases is renamed, not gone and new."""
    assert told(pair_places(places("a2b"), places("a3b")))[1] == ("2", "3", "renamed")


def test_another_operator_at_the_same_place_is_no_pair() -> None:
    """In aXb -> aYb nothing says that Y does what X did: one is gone, the other new."""
    found = told(pair_places(places("axb"), places("ayb")))
    assert ("x", "", "gone") in found
    assert ("", "y", "new") in found


def test_a_moved_kernel_is_found_by_its_signature() -> None:
    """In abcd -> bcda the a is the same work at another place."""
    assert ("a", "a", "moved") in told(pair_places(places("abcd"), places("bcda")))


def test_a_layer_found_in_one_run_only_pairs_with_the_single_places() -> None:
    """Without layers after, the two a of the step are the a of the layer before, called twice per step."""
    before = places("ab", calls=2.0)
    after = places("abab", part=None, calls=1.0)
    assert told(pair_places(before, after)) == [("a", "aa", "moved"), ("b", "bb", "moved")]


def test_a_layer_that_fell_out_of_the_repeats_is_added_to_its_pair() -> None:
    """4 layers before, 3 after and the kernels of one in front: each joins the pair that misses a call."""
    before = places("ab", calls=4.0)
    after = places("ab", calls=3.0) + places("ab", part="before", calls=1.0, start=2)
    assert told(pair_places(before, after)) == [("a", "aa", "moved"), ("b", "bb", "moved")]


def test_extra_calls_of_known_work_are_new_where_nobody_misses_them() -> None:
    """A fifth call of a is new: the pair of a already has all four calls of the run before."""
    after = places("ab") + places("a", part="before", calls=1.0, start=2)
    assert ("", "a", "new") in told(pair_places(places("ab"), after))


def test_other_engines_pair_only_among_themselves() -> None:
    """An AI_CPU row of the same signature is no partner of a device kernel."""
    cpu = [Place(9, 0, None, None, "Opa", ord("a"), 4.0, busy=False)]
    found = told(pair_places(places("a"), cpu))
    assert found == [("a", "", "gone"), ("", "a", "new")]


step = st.text(alphabet="abAB23", max_size=8)


@given(step, step, step, step)
def test_every_place_is_in_one_pair_and_swapping_swaps(one: str, two: str, three: str, four: str) -> None:
    """No place is lost or used twice, and the pairs do not depend on which side is called before."""
    before = places(one) + places(two, "before", 1.0, len(one))
    after = places(three) + places(four, None, 2.0, len(three))
    pairs = pair_places(before, after)
    assert sorted(p.number for pair in pairs for p in pair.before) == list(range(len(before)))
    assert sorted(p.number for pair in pairs for p in pair.after) == list(range(len(after)))
    swapped = {(pair.after, pair.before) for pair in pair_places(after, before)}
    assert swapped == {(pair.before, pair.after) for pair in pairs}


def test_every_part_of_a_step_is_paired() -> None:
    """A part that layers know and pairs do not would end the comparison: an odd kernel is new."""
    assert set(placement.PARTS) <= set(PARTS)
    odd = Place(3, 0, "odd", None, "Cast", 99, 0.2)
    pairs = pair_places(places("abc"), [*places("abc"), odd])
    assert [(pair.how, pair.after) for pair in pairs if pair.how != "same"] == [("new", (odd,))]
