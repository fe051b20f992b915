"""Why nothing is proposed, by the capture: what runs instead, what is missing, what was looked at."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.candidates import candidates

from .tiny_run import Kernel, session_of

SHAPES = ("2,8192", "BF16", "2,8192")


def test_without_kernels_that_read_weights_it_says_what_runs():
    """Of 100 us 60 are Tril's, 30 GatherV2's, 6 Cast's and 4 Less's: three are named and one more counted."""
    kernels = [("Tril", 60.0), ("GatherV2", 30.0), ("Cast", 6.0), ("Less", 4.0)]
    session = session_of(
        Kernel(start=100.0 * number, duration=us, type=kind, shapes=SHAPES)
        for number, (kind, us) in enumerate(kernels)
    )
    stopped = candidates(session).extras["stopped"]
    assert stopped == (
        "No kernel of this selection reads a weight: no matmul or fused product is among them. Its 100.0 us "
        "of AI-core time are Tril (60%), GatherV2 (30%), Cast (6%) and 1 more type."
    )


def test_an_excerpt_is_named_as_one():
    """The exporter counted 300 us of computing, the table holds 60: the matmuls may be in what is missing."""
    session = session_of(
        [Kernel(start=0.0, duration=60.0, type="Tril", shapes=SHAPES)], trace={1: (300.0, 0.0, 0.0)}
    )
    assert "300.0 us of computing, so most kernels of the step" in candidates(session).extras["stopped"]


def test_without_shapes_a_device_would_not_be_enough():
    """Neither device nor shapes: both are said, so that naming the device is not tried alone."""
    kernels = [Kernel(start=0.0, duration=60.0, type="MatMul", core="AI_CORE")]
    stopped = candidates(session_of(kernels, device=None)).extras["stopped"]
    assert "the device is not known" in stopped
    assert "this export holds no shapes" in stopped


def test_what_was_looked_at_is_said_with_the_reason_of_most_of_its_time():
    """Two products without shapes: none is a target, for the same reason."""
    session = session_of(
        Kernel(start=100.0 * number, duration=9.0, type=kind, core="AI_CORE")
        for number, kind in enumerate(("MatMul", "BatchMatMul"))
    )
    stopped = candidates(session).extras["stopped"]
    assert stopped.startswith("of 2 kinds of weight-carrying kernels none is a target; of all: no weight")


@pytest.mark.parametrize(
    ("profile", "words"),
    [
        ("d02_text_level1", "make this a training capture"),
        ("d06_qwen3_train_cann83", "make this a training capture"),
        ("d07_gpt3_2023_memoryl0", "GatherV2 (32%), ZerosLike (25%), Tril (18%)"),
        ("d08_advisor_tampered_shapes", "make this a training capture"),
        ("d10_msprof_cli_and_op_910b", "holds no shapes"),
        ("d11_level0_decode_pair", "holds no shapes"),
    ],
)
def test_every_real_capture_without_candidates_says_why(real_session, profile: str, words: str):
    """The reason is one of the capture, not that there is no target."""
    with real_session(profile) as session:
        found = candidates(session)
    assert found.rows == ()
    assert words in found.extras["stopped"]
