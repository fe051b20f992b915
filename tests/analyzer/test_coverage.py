"""Coverage: what the labels rest on adds up, and its sentence says every class that holds time."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.coverage import check_sum, coverage
from npu_roofline.errors import InternalError

from tests.analyzer.tiny_run import Kernel, session_of

MATMUL = ("4,4096;4096,8192", "DT_BF16", "4,8192")
KERNELS = [
    Kernel(0, 50, "MatMulV3", "AI_CORE", shapes=MATMUL),
    Kernel(60, 20, "NobodyKnowsThisOperator", shapes=("4,4096", "DT_BF16", "4,4096")),
    Kernel(90, 10, "Add"),  # shapes not recorded
    Kernel(110, 7, "hcom_allReduce_", "COMMUNICATION", stream=None),
    Kernel(110, 7, "AivKernel", "COMMUNICATION", stream=9, duplicate=True),
    Kernel(130, 5, "Cumsum", "AI_CPU"),
]


def test_every_kernel_is_in_one_class() -> None:
    """50 us modelled + 20 generic + 10 unresolved = 80 us of AI core; 7 us communication, 5 us other
    engines.
    """
    found = coverage(session_of(KERNELS))
    assert (found.aicore_us, found.modelled_us, found.generic_us) == (80.0, 50.0, 20.0)
    assert (found.upper_bound_us, found.unresolved_us) == (0.0, 10.0)
    assert (found.communication_rows, found.communication_us) == (1, 7.0)
    assert (found.other_engine_rows, found.other_engine_us, found.duplicate_rows) == (1, 5.0, 1)
    assert found.labelled_us + found.unknown_us == pytest.approx(found.aicore_us)


def test_the_sentence_says_every_class() -> None:
    """The first line of every report tells shares, rejects, duplicates and the engines that are left out."""
    sentence = coverage(session_of(KERNELS)).sentence
    for part in (
        "3 AI-core kernels take 80.0 us in 1 step",
        "62.5 % modelled",
        "25.0 % generic",
        "12.5 % unresolved",
        "1 communication kernel 7.0 us",
        "AI_CPU and other engines apart: 1 row, 5.0 us",
        "6 of 6 rows kept, 0 rejected",
        "1 listed twice and counted once",
    ):
        assert part in sentence


def test_only_the_selected_steps_are_covered() -> None:
    """Two steps of 10 and 30 us: with --steps 2 the coverage is of 30 us."""
    kernels = [Kernel(0, 10, step=1), Kernel(100, 30, step=2)]
    assert coverage(session_of(kernels, steps=(2,))).aicore_us == 30.0


def test_a_sum_that_does_not_add_up_is_an_internal_error() -> None:
    """Rounding passes, a lost microsecond does not: its numbers must not be believed."""
    check_sum("a test", 0.1 + 0.2, 0.3)
    with pytest.raises(InternalError):
        check_sum("a test", 99.0, 100.0)


def test_lost_time_is_noticed() -> None:
    """Statistics that miss a group fail the conservation check instead of printing a smaller total."""
    session = session_of(KERNELS)
    session.con.execute("DELETE FROM group_statistics WHERE total_us = 20")
    with pytest.raises(InternalError):
        coverage(session)
