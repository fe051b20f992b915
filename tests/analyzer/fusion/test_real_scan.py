"""`fuse scan` on real captures, against numbers counted from the CSV by hand."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.answer_fusion import FusionRow
from npu_roofline.analyzer.fusion import fuse_scan, scan_rows

from tests.analyzer.conftest import OpenReal

LONGCAT, D02, D06 = "longcat_910c_decode", "d02_text_level1/rank0_ascend_pt", "d06_qwen3_train_cann83"


def by_sequence(rows: tuple[FusionRow, ...]) -> dict[str, FusionRow]:
    """Rows by their text; each text is there once."""
    assert len({row.sequence for row in rows}) == len(rows)
    return {row.sequence: row for row in rows}


# Sequence: status, occurrences per step, time per step (median of the sums of the five steps), rule.
LONGCAT_ROWS = {
    # 382.37, 384.43, 384.11, 385.57, 384.27 us before the first MlaPrologV3 on stream 166
    "183 kernels of 19 types": ("no_operator", 1, 384.27, ""),
    "Muls [after MlaPrologV3]": ("check", 28, 96.84, "scale_into_mla_prolog"),
    "Add [before InplaceAddRmsNorm]": ("no_operator", 14, 44.90, "add_before_add_rms_norm"),
    "InplaceAddRmsNorm + Cast": ("fits", 14, 79.76, "add_rms_norm_cast"),
    "GroupedMatmul + DequantSwigluQuant": ("fits", 14, 603.73, "grouped_matmul_swiglu_quant"),
    "DynamicQuant [after MoeDistributeDispatchV2]": ("check", 14, 206.28, "dispatch_with_quantisation"),
    "MatMul + HcomAllReduce": ("excluded", 28, None, "mm_all_reduce"),
}


def test_longcat_shows_what_is_left_unfused(real_session: OpenReal) -> None:
    """The embedding chain, Muls, Add and norm + Cast stand with their time per step and their rule."""
    with real_session(LONGCAT) as session:
        rows = by_sequence(fuse_scan(session).rows)
    for sequence, (status, count, us, rule) in LONGCAT_ROWS.items():
        row = rows[sequence]
        assert (row.status, row.count, row.rule) == (status, count, rule), sequence
        if us is not None:
            assert row.step_us == pytest.approx(us, abs=0.01), sequence
    assert rows["183 kernels of 19 types"].streams == (166,)
    assert rows["183 kernels of 19 types"].kernels == 183
    assert rows["Muls [after MlaPrologV3]"].positions == (1, 22)
    assert "only in prefill" in (rows["MatMul + HcomAllReduce"].failing or "")


def test_longcat_shows_what_is_fused_already(real_session: OpenReal) -> None:
    """Counts per step; 42 DequantSwigluQuant and InplaceAddRmsNorm are 28 here and 14 in a sequence."""
    with real_session(LONGCAT) as session:
        _, fused, _ = scan_rows(session)
    found = {row.type: (row.count, row.note) for row in fused}
    more = "14 more per step in the sequences above"
    assert found["MlaPrologV3"] == (28, "")
    assert found["DequantSwigluQuant"] == (28, more)
    assert found["InplaceAddRmsNorm"] == (28, more)
    assert found["AddRmsNormDynamicQuant"] == (14, "")
    assert found["MoeDistributeDispatchV2"] == (14, "")
    assert found["MoeDistributeCombineV2"] == (14, "")
    assert found["FusedInferAttentionScore"] == (28, "")


@pytest.mark.parametrize("profile", [LONGCAT, D02, D06])
def test_nothing_is_counted_twice(real_session: OpenReal, profile: str) -> None:
    """The classes are the time and number of all counted kernels, and all potentials stay below them."""
    with real_session(profile) as session:
        rows, _, shares = scan_rows(session)
        kernels, us = session.con.execute(
            "SELECT count(*), sum(duration_us) FROM selected_kernels "
            "WHERE kernel_class IN ('aicore', 'communication')"
        ).fetchall()[0]
        steps = len(session.step_ids)
    assert sum(share.kernels for share in shares) * steps == pytest.approx(kernels)
    assert sum(share.step_us for share in shares) * steps == pytest.approx(us)
    assert sum(row.saving_high_us or 0 for row in rows) < us / steps
    for row in rows:
        assert (row.saving_low_us or 0) <= (row.saving_high_us or 0) <= row.step_us


def test_d06_residual_pairs(real_session: OpenReal) -> None:
    """54 times Add is followed by RmsNorm in the CSV; SwiGLU (28) and RoPE (56) are fused already."""
    with real_session(D06) as session:
        rows, fused, _ = scan_rows(session)
    (pair,) = [row for row in rows if row.rule]
    assert (pair.sequence, pair.count, pair.status) == ("Add + RmsNorm", 54, "excluded")
    assert "no backward" in (pair.failing or "")
    found = {row.type: row.count for row in fused}
    assert (found["SwiGlu"], found["RotaryPositionEmbedding"], found["FlashAttentionScore"]) == (28, 56, 28)


def test_d02_invents_nothing(real_session: OpenReal) -> None:
    """A convolution network in training: no rule of the table is found, and nothing is called fused."""
    with real_session(D02) as session:
        rows, fused, _ = scan_rows(session)
    assert [row.sequence for row in rows if row.rule] == []
    assert fused == ()
