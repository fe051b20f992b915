"""Operator types under several names, and the groups that their time is added up in."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.compare.operator_types import group_names, group_of, operator_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("MatMulV2", "MatMulV3"),
        ("MatMul", "MatMulV2"),
        ("ConcatV2", "ConcatV2D"),
        ("ConcatD", "ConcatV2"),
        ("SplitV", "SplitVD"),
        ("StridedSlice", "StridedSliceV2"),
        ("QuantBatchMatmulV2", "QuantBatchMatmulV3"),
        ("MoeDistributeDispatch", "MoeDistributeDispatchV2"),
        ("HcomAllReduce", "hcom_allReduce_"),
    ],
)
def test_versions_of_one_operator_are_one(one: str, other: str) -> None:
    """A renamed implementation is the same operator."""
    assert operator_of(one) == operator_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("MatMulV2", "BatchMatMulV2"),
        ("Conv2D", "Conv3D"),
        ("MaxPool3D", "MaxPool"),
        ("GroupedMatmul", "MatMul"),
        ("Add", "AddV"),
    ],
)
def test_different_operators_stay_apart(one: str, other: str) -> None:
    """A dimension is no version: Conv2D is not Conv3D, and a name is only cut at a version mark."""
    assert operator_of(one) != operator_of(other)


@pytest.mark.parametrize(
    ("type_name", "group"),
    [
        ("MatMulV3", "matmul"),
        ("QuantBatchMatmulV3", "matmul"),
        ("BatchMatMul", "batch matmul"),
        ("TransposeBatchMatMul", "batch matmul"),
        ("GroupedMatmul", "grouped matmul"),
        ("MlaPrologV3", "MLA prologue"),
        ("IncreFlashAttention", "attention"),
        ("ScaledMaskedSoftmax", "softmax"),
        ("SwishMul", "activation"),
        ("DequantSwigluQuant", "activation"),
        ("InplaceAddRmsNorm", "norm"),
        ("DynamicQuant", "quantise"),
        ("ConcatV2", "layout"),
        ("StridedSliceV2", "layout"),
        ("Scatter", "cache and scatter"),
        ("MoeDistributeCombineV2", "MoE communication"),
        ("MoeGatingTopK", "MoE routing"),
        ("HcomAllReduce", "collective"),
        ("NobodyKnowsThis", "other vector"),
    ],
)
def test_types_are_added_up_where_a_reader_looks(type_name: str, group: str) -> None:
    """Each type stands in the group that its name promises; an unknown one in the last."""
    assert group_of(type_name) == group
    assert group in group_names()


def test_a_fused_kernel_is_told_by_its_name() -> None:
    """The compiler's one type for what it fuses says nothing; the kernel's name does."""
    assert group_of("AutomaticBufferFusionOp", "Swish_1Mul_4") == "activation"
    assert group_of("AutomaticBufferFusionOp", "Sub_1ClipByValueV2_1") == "other vector"
    assert group_of("Add", "Swish_1Mul_4") == "other vector"
