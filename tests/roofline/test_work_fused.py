"""Work and labels of kernels that fuse several matmuls, weights found by shape."""

from __future__ import annotations

import pytest

from tests.roofline.labelling import label, named
from tests.roofline.operands import measured, work

MLA_WEIGHTS = 2_624 * 6_144 + 24_576 * 2_048 * 1 + 64 * 128 * 512 * 2


@pytest.mark.parametrize(
    ("inputs", "dtypes", "formats"),
    [
        (  # x, down, scale, gamma, up, scale, cos, sin, absorbed K, two caches, slots
            "4,6144;1,192,2624,32;2624;2048;1,64,24576,32;24576;4,64;4,64;64,128,512;9,128,1,512;9,128,1,64;4",
            "DT_BF16;INT8;FLOAT;DT_BF16;INT8;FLOAT;DT_BF16;DT_BF16;DT_BF16;DT_BF16;DT_BF16;INT32",
            "ND;FRACTAL_NZ;ND;ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND;ND",
        ),
        (  # gammas first, weights later: another order of the same operands
            "4,6144;2048;2624;1,192,2624,32;24576;1,64,24576,32;64,128,512;4,64;4,64;9,128,1,512;9,128,1,64;4",
            "DT_BF16;DT_BF16;FLOAT;INT8;FLOAT;INT8;DT_BF16;DT_BF16;DT_BF16;DT_BF16;DT_BF16;INT32",
            "ND;ND;ND;FRACTAL_NZ;ND;FRACTAL_NZ;ND;ND;ND;ND;ND;ND",
        ),
    ],
)
def test_mla_preprocess_finds_its_projections_by_shape(inputs: str, dtypes: str, formats: str) -> None:
    """Down 2624 x 6144, up 24576 x 2048 in int8, absorbed K 64 x 128 x 512 in bf16: 16,121,856 +
    50,331,648 + 8,388,608 bytes; each does 2 FLOPs for an element and token. The pools are no traffic.
    """
    found = work(
        "MlaPreprocess",
        inputs,
        "4,64,512;9,128,1,512;4,64,64;9,128,1,64",
        dtypes=dtypes,
        formats=formats,
        out_dtypes="DT_BF16;DT_BF16;DT_BF16;DT_BF16",
    )
    assert found.weight_bytes == MLA_WEIGHTS == 74_842_112
    assert found.flops == 2 * 4 * (2_624 * 6_144 + 24_576 * 2_048 + 64 * 128 * 512)
    rest = 4 * 6144 * 2 + (2_624 + 24_576) * 4 + 2_048 * 2 + 2 * 4 * 64 * 2 + 4 * 4
    assert found.bytes_lo == MLA_WEIGHTS + rest + (4 * 64 * 512 + 4 * 64 * 64) * 2
    assert found.bytes_hi == (found.bytes_lo or 0) + 4 * (512 + 64) * 2


def test_mla_preprocess_without_its_first_projection_says_what_is_missing() -> None:
    """No operand has the 6144 columns of the token: nothing is made up."""
    found = work("MlaPreprocess", "4,6144;2048,2624", "4,64,512")
    assert found.outcome == "unresolved"
    assert "hidden size 6144" in found.missing[0]


@pytest.mark.parametrize(
    ("kind", "inputs", "dtypes"),
    [
        (
            "DispatchFFNCombine",
            "64,7168;16,7168,4096;16,2048,7168;64,8;16,4096;16,7168;64,8",
            "DT_BF16;INT8;INT8;INT32;FLOAT;FLOAT;FLOAT",
        ),
        (
            "DispatchGmmCombineDecode",
            "64,7168;64,8;16,7168,4096;16,4096;16,2048,7168;16,7168;;64,8",
            "DT_BF16;INT32;INT8;FLOAT;INT8;FLOAT;FLOAT;FLOAT",
        ),
        (
            "DispatchFFNCombine",
            ";".join(
                ["64,7168", *["7168,4096"] * 16, *["2048,7168"] * 16, "64,8", *["4096"] * 16, *["7168"] * 16]
            ),
            ";".join(["DT_BF16", *["INT8"] * 32, "INT32", *["FLOAT"] * 32]),
        ),
    ],
)
def test_a_fused_moe_knows_its_weights_and_not_its_routing(kind: str, inputs: str, dtypes: str) -> None:
    """16 experts of 7168 x 4096 and 2048 x 7168 int8: 16 x (29,360,128 + 14,680,064) bytes of weights;
    certain are x and the output, 64 x 7168 x 2 bytes each.
    """
    found = work(kind, inputs, "64,7168", dtypes=dtypes)
    assert (found.family, found.outcome, found.experts) == ("moe_fused", "upper_bound", 16)
    assert found.weight_bytes == 16 * (29_360_128 + 14_680_064)
    assert found.bytes_lo == 2 * 64 * 7168 * 2
    assert (found.flops, found.flops_lo) == (None, None)
    assert "routing values are not exported" in found.missing[0]


def test_a_fused_moe_is_labelled_low_either_way() -> None:
    """All 16 experts are 705 MB, 441 us at 1.6 TB/s: in 300 us with a full load pipe HBM is likely (at most
    12.3 experts), with idle pipes the links are; both at low confidence.
    """
    found = work(
        "DispatchFFNCombine",
        "64,7168;16,7168,4096;16,2048,7168;64,8;16,4096;16,7168;64,8",
        "64,7168",
        dtypes="DT_BF16;INT8;INT8;INT32;FLOAT;FLOAT;FLOAT",
    )
    loading = label(found, measured(300.0, aic_mac=0.1, aic_mte2=0.7, aic_mte1=0.2, aic_fixpipe=0.1))
    assert (named(loading), loading.confidence) == ("memory/hbm", "low")
    assert "at most 12.3 of 16 experts" in loading.reason
    waiting = label(found, measured(300.0, aic_mac=0.1, aic_mte2=0.15, aic_mte1=0.2, aic_fixpipe=0.1))
    assert (named(waiting), waiting.confidence) == ("communication/link", "low")
    assert "all 16 experts would take" in waiting.reason
