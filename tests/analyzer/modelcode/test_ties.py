"""Kernel sequences of a capture and the lines of model code that produce them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from npu_roofline.analyzer.answer_fusion import FusionRow
from npu_roofline.analyzer.fusion import fuse_scan
from npu_roofline.analyzer.modelcode.ties import tie_to_code

from tests.analyzer.fusion.sequences import kernels, session_with
from tests.analyzer.modelcode.samples import CANN, PLAIN, write
from tests.analyzer.modelcode.test_model import line_of

ABSORB = """import torch_npu
from torch import nn


class Attention(nn.Module):
    def forward_decode(self, x, cache):
        q, q_rope, _, _, _ = torch_npu.npu_mla_prolog_v3(x, cache)
        q = q * self.scale
        out, _ = torch_npu.npu_fused_infer_attention_score(q, cache, cache)
        return out


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.norm = RMSNorm(config.hidden_size)

    def forward(self, x, residual):
        x, residual = self.norm(x, residual)
        logits = self.router(x.float())
        return logits
"""


def tied(folder: Path, capture: str, text: str) -> dict[str, FusionRow]:
    """Rows of a scan of the kernels, tied to the code, by their text."""
    scan = fuse_scan(session_with(kernels(capture)))
    return {row.sequence: row for row in tie_to_code(scan, [write(folder, "m.py", text)]).rows}


@pytest.mark.parametrize(
    ("capture", "sequence", "first", "last"),
    [
        (
            "MlaPrologV3 Muls FusedInferAttentionScore",
            "Muls [after MlaPrologV3]",
            "npu_mla_prolog_v3",
            "q * self.scale",
        ),
        (
            "InplaceAddRmsNorm Cast(4,8,64 bf16 -> 4,8,64 fp32)",
            "InplaceAddRmsNorm + Cast",
            "self.norm(x",
            "x.float()",
        ),
    ],
)
def test_a_sequence_is_tied_by_the_order_of_calls(
    tmp_path: Path, capture: str, sequence: str, first: str, last: str
) -> None:
    """The operations of one function that follow each other as the kernels do are the lines of the
    sequence.
    """
    row = tied(tmp_path, capture, ABSORB)[sequence]
    assert row.code == (f"m.py:{line_of(ABSORB, first)}-{line_of(ABSORB, last)}",)


def test_a_sequence_is_tied_by_its_rule_where_the_order_does_not_tell(tmp_path: Path) -> None:
    """Swish and Mul of the activation come from the candidate for npu_swiglu; its lines are those of the
    code.
    """
    capture = "Slice(4,8,128 bf16 -> 4,8,64 bf16) Slice(4,8,128 bf16 -> 4,8,64 bf16) Swish Mul"
    row = tied(tmp_path, capture, PLAIN)["Slice + Slice + Swish + Mul"]
    assert row.code == (f"m.py:{line_of(PLAIN, 'self.act_fn(self.gate_proj')}",)


def test_what_runs_before_the_layers_is_tied_to_the_embedding(tmp_path: Path) -> None:
    """A chain before the first layer leads to the line of the embedding, a chain in a layer does not."""
    rows = [
        replace(row, extra={"part": "before", "position": at})
        for at, row in enumerate(kernels("GatherV2 Exp"))
    ]
    answer = tie_to_code(fuse_scan(session_with(rows)), [write(tmp_path, "m.py", PLAIN)])
    (row,) = answer.rows
    assert row.code == (f"m.py:{line_of(PLAIN, 'nn.Embedding')}",)
    assert tied(tmp_path, "GatherV2 Exp", PLAIN)["GatherV2 + Exp"].code == ()


def test_candidates_without_kernels_are_named(tmp_path: Path) -> None:
    """What the code holds and the capture does not show is said, with the line: another phase, or fused
    already.
    """
    scan = fuse_scan(session_with(kernels("Add RmsNorm")))
    answer = tie_to_code(scan, [write(tmp_path, "m.py", CANN)])
    (note,) = [note for note in answer.notes if "no kernel of this selection shows" in note]
    assert f"npu_moe_gating_top_k at m.py:{line_of(CANN, 'x.sigmoid')}" in note
    assert any("0 of 1 sequences are tied" in note for note in answer.notes)


@pytest.mark.parametrize("chain", ["Tril LogicalNot", "Cos Mul"])
def test_masks_and_positions_before_the_layers_are_no_embedding(tmp_path: Path, chain: str) -> None:
    """A chain before the first layer that looks nothing up leads to no line."""
    rows = [replace(row, extra={"part": "before", "position": at}) for at, row in enumerate(kernels(chain))]
    (row,) = tie_to_code(fuse_scan(session_with(rows)), [write(tmp_path, "m.py", PLAIN)]).rows
    assert row.code == ()


def test_sums_alone_point_nowhere(tmp_path: Path) -> None:
    """Add and Add stand in many functions of the file, so they are tied to none of them."""
    assert tied(tmp_path, "Add Add", PLAIN)["Add + Add"].code == ()
