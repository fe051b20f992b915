"""The phase of a step: from gradient kernels, from the attention operator, from the rows of the matmuls."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.phases import attention_phase, phases, run_phase, training_note

from tests.analyzer.tiny_run import Kernel, session_of


def _matmul(start: float, duration: float, m: int, step: int = 1) -> Kernel:
    return Kernel(
        start,
        duration,
        "MatMulV3",
        "AI_CORE",
        step=step,
        shapes=(f"{m},3072;3072,1024", "DT_BF16", f"{m},1024"),
    )


@pytest.mark.parametrize(
    ("m", "phase"), [(4, "decode"), (512, "decode"), (700, "unknown"), (2048, "prefill")]
)
def test_the_rows_of_the_matmuls_tell_the_phase(m: int, phase: str) -> None:
    """Up to 512 rows are decode, from 1024 prefill, and what lies between is not guessed."""
    found = phases(session_of([_matmul(0, 20, m)]))[1]
    assert (found.phase, f"on {m} rows" in found.evidence) == (phase, True)


def test_rows_are_weighted_with_time() -> None:
    """Three short matmuls over one row (15 us) beside one over 4096 rows (100 us): prefill."""
    kernels = [_matmul(start, 5, 1) for start in (0, 10, 20)] + [_matmul(40, 100, 4096)]
    assert phases(session_of(kernels))[1].phase == "prefill"


@pytest.mark.parametrize(
    ("operator_type", "phase"),
    [
        ("IncreFlashAttention", "decode"),
        ("PagedAttentionMaskNdKernel", "decode"),
        ("PromptFlashAttentionV3", "prefill"),
        ("FlashAttentionScore", "prefill"),
        ("FlashAttentionScoreGrad", None),
        ("FusedInferAttentionScore", None),
        ("MatMul", None),
    ],
)
def test_only_attention_of_one_phase_tells_it(operator_type: str, phase: str | None) -> None:
    """An operator that serves both phases tells nothing, and neither does a gradient."""
    assert attention_phase(operator_type) == phase


def test_attention_tells_the_phase_without_shapes() -> None:
    """At level 0 the operator name is all there is, and it is enough."""
    found = phases(session_of([Kernel(0, 20, "IncreFlashAttention", None)]))[1]
    assert found.phase == "decode"
    assert "the export tells no M" in found.evidence


def test_contradicting_evidence_is_unknown() -> None:
    """Decode attention beside matmuls over 4096 rows is not decided, and both facts are said."""
    found = phases(session_of([_matmul(0, 50, 4096), Kernel(60, 20, "IncreFlashAttention", "AI_CORE")]))[1]
    assert found.phase == "unknown"
    assert "IncreFlashAttention says decode, but matmuls work on 4096 rows" in found.evidence


def test_prefill_and_decode_in_one_step_are_unknown() -> None:
    """Chunked prefill runs both attentions in one step: neither name is right for it."""
    kernels = [
        Kernel(0, 20, "IncreFlashAttention", "AI_CORE"),
        Kernel(30, 20, "PromptFlashAttention", "AI_CORE"),
    ]
    assert phases(session_of(kernels))[1].phase == "unknown"


def test_one_gradient_kernel_makes_the_capture_training() -> None:
    """A gradient in step 2 makes step 1 training too: its weights change before they are used again."""
    session = session_of([_matmul(0, 20, 4), Kernel(40, 5, "SoftmaxGrad", step=2)])
    assert {step: found.phase for step, found in phases(session).items()} == {1: "train", 2: "train"}
    assert training_note(session) == [
        "gradient or optimizer kernels (SoftmaxGrad) make this a training capture: "
        "no weight of it is a prefetch target"
    ]


def test_steps_of_different_phases_are_a_mixed_run() -> None:
    """One prefill step and two decode steps are counted, not averaged."""
    session = session_of(
        [_matmul(0, 20, 4096, step=1), _matmul(40, 20, 4, step=2), _matmul(80, 20, 4, step=3)]
    )
    found = run_phase(session)
    assert (found.phase, found.evidence) == ("mixed", "the steps differ: 2 decode, 1 prefill")
