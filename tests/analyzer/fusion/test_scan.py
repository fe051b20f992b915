"""`fuse scan` on captures written by hand: rows, times, savings, limits, and what is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from npu_roofline.analyzer.answer_fusion import FusionRow
from npu_roofline.analyzer.fusion import fuse_scan, scan_rows
from npu_roofline.analyzer.fusion.opindex import build_index
from npu_roofline.analyzer.fusion.opsource import operator_source
from npu_roofline.analyzer.session import Session

from tests.analyzer.fusion.sequences import kernels, session_with
from tests.analyzer.fusion.wheels import make_wheel
from tests.analyzer.tiny_run import Kernel

NORM = "RmsNorm(4096,9000 bf16; 9000 bf16 -> 4096,9000 bf16)"
ADD = "Add(4096,9000 bf16; 4096,9000 bf16 -> 4096,9000 bf16)"


def timed(rows: list[Kernel], *durations: float) -> list[Kernel]:
    """The kernels with these durations, us, one after the other."""
    found, start = [], rows[0].start
    for row, us in zip(rows, durations, strict=True):
        found.append(replace(row, start=start, duration=us))
        start += us + 1
    return found


def only_row(session: Session) -> FusionRow:
    """The only row of a scan."""
    (row,) = fuse_scan(session).rows
    return row


def test_the_saving_of_a_residual_add_and_its_norm() -> None:
    """One bf16 operand is 73.728 MB. Left to move: Add 2 in, 1 out; norm 1 out and gamma 18,000 B = 294.93
    MB.

    At 1800 GB/s that is 163.85 us. Today 200 + 150 us; the norm loses its reading, half of its bytes: 75 us.
    """
    row = only_row(session_with(timed(kernels(f"{ADD} {NORM}"), 200, 150), device="910B2"))
    assert (row.status, row.api, row.sequence) == ("fits", "npu_add_rms_norm", "Add + RmsNorm")
    assert row.floor_us == pytest.approx((4 * 73_728_000 + 18_000) / 1.8e12 * 1e6)
    assert row.expected_us == pytest.approx(200 + 150 * (73_728_000 + 18_000) / (2 * 73_728_000 + 18_000))
    assert row.saving_high_us == pytest.approx(350 - 163.85, abs=0.02)
    assert row.saving_low_us == pytest.approx(74.99, abs=0.01)


def test_one_type_that_is_not_named_is_counted_as_one() -> None:
    """A chain of seven types names six of them: '1 more type', not '1 more types'."""
    text = "MatMulV3 Cast Sub Pows LpNormV2 Tile ReduceSum GatherElements MatMulV3"
    (row,) = (row for row in fuse_scan(session_with(kernels(text))).rows if row.status == "no_operator")
    assert row.reason.endswith(" and 1 more type")


def test_repeats_are_one_row_with_medians_over_steps() -> None:
    """Two layers in each of three steps: one row, two per step; 2 x (2+3), 2 x (2+5) and 2 x (2+4) us give
    12 us.
    """
    rows = []
    for step, us in ((1, 3), (2, 5), (3, 4)):
        for layer in range(2):
            start = step * 1000.0 + layer * 100
            for row in timed(kernels("Add RmsNorm MatMulV3", start=start), 2, us, 20):
                where = {"part": "layer", "layer": layer, "position": len(rows) % 3}
                rows.append(replace(row, step=step, extra=where))
    answer = fuse_scan(session_with(rows))
    row = answer.rows[0]
    assert (row.count, row.kernels, row.layers, row.steps, row.part) == (2, 4, 2, 3, "layer")
    assert row.positions == (0,)
    assert row.step_us == pytest.approx(12.0)
    assert row.total_us == pytest.approx(36.0)
    assert len(answer.rows) == 1


def test_every_kernel_is_in_one_class_and_no_saving_exceeds_its_kernels() -> None:
    """The classes add up to the time of all kernels; candidates, fused and rest do not share any."""
    norm = "Add RmsNorm(4,8,64 bf16; 64 bf16 -> 4,8,64 bf16)"
    text = f"{norm} DynamicQuant(4,8,64 bf16 -> 4,8,64 int8) MatMulV3 SwiGlu Muls Muls"
    session = session_with(kernels(f"{text} Transpose BatchMatMulV2"))
    rows, fused, shares = scan_rows(session)
    assert sum(share.step_us for share in shares) == pytest.approx(9 * 2.0)
    assert sum(share.kernels for share in shares) == 9
    assert [row.type for row in fused] == ["SwiGlu"]
    assert {row.sequence: row.status for row in rows} == {
        "Add + RmsNorm + DynamicQuant": "fits",
        "Transpose + BatchMatMulV2": "fits",
        "Muls + Muls": "no_operator",
    }
    for row in rows:
        assert row.saving_high_us is None or (row.saving_low_us or 0) <= row.saving_high_us <= row.step_us


@pytest.mark.parametrize(
    ("text", "device", "failing"),
    [
        ("SwiGlu(4,9000 bf16 -> 4,4500 bf16) DynamicQuant(4,4500 bf16 -> 4,4500 int8)", "910B2",
         "last dimension of input 0 of SwiGlu is 9000, the call takes at most 8192 (docs 2.14.0)"),
        ("MoeDistributeCombineV2(384,64 bf16; 4,12 int32 -> 4,64 bf16) "
         "AddRmsNorm(4,64 bf16; 4,64 bf16 -> 4,64 bf16)",
         "910_9382", "last dimension of experts per token K is 12, the call takes at most 8"),
        ("BatchMatMulV2(9,8,8000 bf16; 9,8000,64 bf16 -> 9,8,64 bf16) Transpose(9,8,64 bf16 -> 8,9,64 bf16)",
         "910B2", "batch x K gives 72000, the call takes at most 65535"),
        ("GroupedMatmul(4,64 int8; 2,64,128 int8 -> 4,128 int32) "
         "DequantSwigluQuant(4,128 int32 -> 4,64 int8)",
         "910B2", "weight is stored as ND, the call takes FRACTAL_NZ"),
        ("InplaceAddRmsNorm(4,64 fp16; 4,64 fp16 -> 4,64 fp16) Cast(4,64 fp16 -> 4,64 fp32)", "310P3",
         "the device is 310P, the call runs on A2 or A3"),
    ],
)  # fmt: skip
def test_a_limit_that_is_not_met_is_named(text: str, device: str, failing: str) -> None:
    """The row is excluded, says which documented limit fails with the value found, and promises no saving."""
    row = only_row(session_with(kernels(text), device=device))
    assert row.status == "excluded"
    assert failing in (row.failing or "")
    assert row.reason.startswith("not possible here:")
    assert row.saving_low_us is None
    assert row.saving_high_us is None


def test_a_call_that_the_torch_npu_lacks_is_excluded(tmp_path: Path) -> None:
    """The torch_npu given has one of two calls, by its signature alone: that fits, the other is named."""
    index = build_index(operator_source(make_wheel(tmp_path / "a.whl")))
    session = session_with(kernels("Add RmsNorm MatMulV3 Add LayerNorm"))
    rows = {row.rule: row for row in fuse_scan(session, indexes=[index]).rows}
    assert rows["add_rms_norm"].status == "fits"
    assert rows["add_layer_norm"].status == "excluded"
    assert rows["add_layer_norm"].failing == (
        "npu_add_layer_norm is not in torch_npu 9.9.0: not documented, no function"
    )
    assert {row.rule: row.status for row in fuse_scan(session).rows}["add_layer_norm"] == "fits"


def test_training_is_told_that_the_call_has_no_backward() -> None:
    """A capture with a gradient kernel: the residual pair is found, counted, and excluded with the reason."""
    row = next(
        row for row in fuse_scan(session_with(kernels("Add RmsNorm MatMulV3 RmsNormGrad"))).rows if row.api
    )
    assert (row.status, row.count) == ("excluded", 1)
    assert "training capture: npu_add_rms_norm has no backward function" in (row.failing or "")


def test_without_shapes_the_types_alone_are_a_hint_to_check() -> None:
    """Level 0: the pair is found, what it saves at least is not known, and at most is the time of the
    kernels.
    """
    rows = [replace(row, shapes=None) for row in kernels("Add RmsNorm")]
    row = only_row(session_with(rows))
    assert row.status == "check"
    assert "shapes are not recorded" in row.to_check[0]
    assert (row.floor_us, row.saving_low_us, row.saving_high_us) == (None, None, 4.0)


def test_without_shapes_a_matmul_is_no_part_of_what_can_go() -> None:
    """Level 0, Transpose and BatchMatMul of 2 us each: at most the transpose's 2 us go, no product."""
    rows = [replace(row, shapes=None) for row in kernels("Transpose BatchMatMulV2")]
    answer = fuse_scan(session_with(rows))
    assert (answer.rows[0].step_us, answer.rows[0].saving_high_us) == (4.0, 2.0)
    assert "worth at most 2.0 us per step" in answer.extras["sentence"]


def test_a_row_of_another_engine_parts_a_sequence() -> None:
    """An AI_CPU row between Add and RmsNorm on the same stream: the results may pass through the host's
    work.
    """
    rows = kernels("Add Exp RmsNorm")
    rows[1] = replace(rows[1], type="Unique", core="AI_CPU")
    assert [row.sequence for row in fuse_scan(session_with(rows)).rows if row.rule] == []


def test_kernels_that_stay_are_context_and_are_not_claimed() -> None:
    """Muls after MlaProlog: only Muls would go; the prolog stays in the list of fused kernels."""
    answer = fuse_scan(session_with(kernels("MlaPrologV3 Muls FusedInferAttentionScore")))
    row = answer.rows[0]
    assert (row.sequence, row.kernels, row.step_us) == ("Muls [after MlaPrologV3]", 1, 2.0)
    assert row.saving_high_us == 2.0
    assert {each.type for each in answer.extras["fused"]} == {"MlaPrologV3", "FusedInferAttentionScore"}


def test_before_the_layers_a_stream_is_one_chain() -> None:
    """Lookup, matmul and norm before the first layer are one chain of 4 kernels; an attention would part
    it.
    """
    text = "GatherV2(999999,64 bf16; 4 int64 -> 4,64 bf16) MatMulV3 Cast RmsNorm"
    rows = [replace(row, extra={"part": "before", "position": at}) for at, row in enumerate(kernels(text))]
    row = only_row(session_with(rows))
    assert (row.status, row.kernels, row.step_us, row.part) == ("no_operator", 4, 8.0, "before")
    assert row.reason.endswith("1 lookup in tables, so this is the embedding")


def test_one_call_filter_and_top() -> None:
    """--status keeps rows of one status and --top the first of them; `matching` counts before --top."""
    session = session_with(kernels("Add RmsNorm MatMulV3 Exp MatMulV3 Sqrt"))
    answer = fuse_scan(session, top=1, status="no_operator")
    assert [row.sequence for row in answer.rows] == ["Exp"]
    assert answer.extras["matching"] == 2
