"""The table of operators: every row is usable, every type of a real capture is in it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from npu_roofline.roofline.registry import registry
from npu_roofline.roofline.work import MODELS, Signature, work_of

FAMILIES = {
    "matmul",
    "grouped_matmul",
    "mla_prolog",
    "attention",
    "convolution",
    "norm",
    "activation",
    "quant",
    "elementwise",
    "reduction",
    "move",
    "moe_routing",
    "moe_comm",
    "moe_fused",
    "communication",
    "optimizer",
    "generic",
}
# Types of real captures that say nothing about what the kernel did.
OPAQUE = {"AutomaticBufferFusionOp", "Data", "sanitized_kernel", "N/A"}


def rows() -> list:
    """Every row of the table."""
    table = registry()
    return [*table.by_type.values(), *(row for _, row in table.by_pattern)]


def test_every_row_has_a_family_and_a_model() -> None:
    """Families are the declared ones, models are functions that exist, sources are given."""
    for row in rows():
        assert row.family in FAMILIES
        assert row.model in MODELS
        assert row.source


def test_every_type_survives_operands_that_do_not_fit() -> None:
    """No model raises on missing, empty or absurd operands: the work is unresolved or counted, never a
    traceback.
    """
    from npu_roofline.ingest.shapes import parse_operands

    odd = [
        None,
        parse_operands("", "FLOAT", "ND"),
        parse_operands(";;", "FLOAT", "ND"),
        parse_operands("0,0;3", "INT8;INT8", "FRACTAL_NZ"),
    ]
    for kind in registry().by_type:
        for inputs in odd:
            for outputs in odd:
                found = work_of(Signature(kind, "AI_CORE", "aicore", None, inputs, outputs))
                assert found.outcome in ("resolved", "upper_bound", "unresolved")


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        ("MatMulV3", "matmul"),
        ("MatMulV9", "matmul"),  # a version that is not listed
        ("TransposeD", "move"),
        ("AivKernel", "communication"),
        ("hcom_allReduce_", "communication"),
        ("MoeDistributeDispatchV7", "moe_comm"),
        ("NeverSeen", "generic"),
        ("", "generic"),
    ],
)
def test_types_fall_back_by_version_and_pattern(kind: str, family: str) -> None:
    """A version ending falls back to the plain name; collectives match by pattern; the rest is generic."""
    assert registry().row_of(kind).family == family


@pytest.mark.parametrize(
    ("kind", "flag"),
    [
        ("SwiGluGrad", "gradient"),
        ("SomeNewGradV2", "gradient"),
        ("Conv2DBackpropInput", "gradient"),
        ("ApplyAdamWV2", "optimizer"),
        ("FusedAdamNew", "optimizer"),
    ],
)
def test_training_is_recognised_by_name(kind: str, flag: str) -> None:
    """Gradient and optimizer kernels carry the flag that says training, listed or not."""
    assert flag in registry().row_of(kind).flags


@pytest.mark.parametrize(
    "kind", ["MatMul", "RmsNorm", "MoeGatingTopK", "DequantSwigluQuant", "ForeachAddList"]
)
def test_inference_types_carry_no_training_flag(kind: str) -> None:
    """Types that inference uses too are no evidence of training."""
    assert not registry().row_of(kind).flags & {"gradient", "optimizer"}


def test_every_type_of_the_real_captures_is_in_the_table(shared_profiles: Path) -> None:
    """Each Type that occurs in any real kernel table has a row, but for names that say nothing."""
    types: set[str] = set()
    for path in (*shared_profiles.rglob("kernel_details.csv"), *shared_profiles.rglob("op_summary*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            types |= {row.get("Type") or row.get("OP Type") or "" for row in csv.DictReader(file)}
    assert len(types) > 80
    assert {kind for kind in types if not registry().row_of(kind).known} <= OPAQUE
