"""Labels, work and floors on every real capture beside the checkout."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest
from npu_roofline.roofline.consistency import device_hints
from npu_roofline.roofline.options import RooflineOptions
from npu_roofline.roofline.resolve import ResolvedDevice

from tests.roofline.real_groups import Group, kernel_tables, labelled

MATMULS = ("matmul", "grouped_matmul", "mla_prolog")


@functools.cache
def capture(path: Path) -> tuple[ResolvedDevice, list[Group]]:
    """One capture, labelled once per test run."""
    return labelled(path)


def groups_of(profiles: Path, name: str) -> list[Group]:
    """The groups of a capture by the start of its folder's name."""
    path = next(
        each for each in kernel_tables(profiles) if each.relative_to(profiles).parts[0].startswith(name)
    )
    return capture(path)[1]


def group(profiles: Path, name: str, kind: str, shapes: str, core: str | None = None) -> Group:
    """The one group of a type whose shapes begin so."""
    found = [
        each
        for each in groups_of(profiles, name)
        if each.signature.type == kind
        and each.shapes.startswith(shapes)
        and core in (None, each.signature.core)
    ]
    assert len(found) == 1, [each.shapes for each in found]
    return found[0]


def shares(groups: list[Group]) -> dict[str, float]:
    """Share of the time by `bound/limiter`."""
    total = sum(each.measurement.total_us for each in groups)
    found: dict[str, float] = {}
    for each in groups:
        name = f"{each.label.bound}/{each.label.limiter}"
        found[name] = found.get(name, 0.0) + each.measurement.total_us / total
    return found


def test_matmuls_agree_with_the_independent_count(shared_profiles: Path) -> None:
    """M, K, N, batch, FLOPs and bytes of every matmul group equal those that another script counted."""
    checked = 0
    for name, facts in json.loads((shared_profiles / "expected.json").read_text(encoding="utf-8")).items():
        groups = capture(shared_profiles / name)[1]
        for expected in facts["matmul_groups"]:
            found = next(
                each
                for each in groups
                if (each.signature.type, each.shapes, each.outputs, each.signature.core)
                == (expected["type"], expected["input_shapes"], expected["output_shapes"], expected["core"])
            ).work
            if expected.get("unresolved"):
                assert found.m is None
                assert found.outcome != "resolved"
            else:
                bytes_counted = found.bytes_hi if found.family == "grouped_matmul" else found.bytes_lo
                assert (found.batch, found.m, found.k, found.n) == tuple(
                    expected[key] for key in ("batch", "M", "K", "N")
                )
                assert (found.flops, bytes_counted) == (expected["flops"], expected["min_bytes"])
            checked += 1
    assert checked == 42


@pytest.mark.parametrize(
    ("name", "soc", "confidence"),
    [
        ("d02", "910_9381/910_9382 (A3 die) or 910B2/910B2C (A2 376T)", "high"),
        ("d06", "910B4 (A2 280T) or 910B4-1 (A2)", "medium"),
        ("d07", "910B1 (A2) or 910_9391/910_9392 (A3 die)", "low"),
        ("d08", "910B3 (A2 313T) or 910_9372 (A3 die)", "high"),
        ("longcat", "910_9381/910_9382 (A3 die) or 910B2/910B2C (A2 376T)", "high"),
        ("d01", "unknown", "low"),
        ("d10", "unknown", "low"),
        ("d11", "unknown", "low"),
    ],
)
def test_the_chip_of_each_capture(shared_profiles: Path, name: str, soc: str, confidence: str) -> None:
    """The rows' own arithmetic gives the chip, with every candidate named; level 0 gives none."""
    path = next(
        each
        for each in kernel_tables(shared_profiles)
        if each.relative_to(shared_profiles).parts[0].startswith(name)
    )
    resolved = capture(path)[0]
    assert (resolved.soc, resolved.confidence) == (soc, confidence)


def test_no_median_is_below_its_floor_unless_named(shared_profiles: Path) -> None:
    """On every capture a kernel faster than its floor is an anomaly with a name, and there are three of
    them.
    """
    anomalies = []
    for path in kernel_tables(shared_profiles):
        for each in capture(path)[1]:
            floor = each.label.floors.floor_us
            if floor is not None and each.measurement.median_us < floor * 0.999:
                assert each.label.anomaly, each
            if each.label.anomaly:
                anomalies.append((each.signature.type, each.shapes))
    # d02 and d03: an in-place Mul of 302 MB at 1.88 TB/s; d07: a 929 MB fill at 1.86 TB/s
    assert sorted(anomalies) == [("Mul", "4096,9216;"), ("Mul", "4096,9216;"), ("ZerosLike", "232138240")]


def test_the_cube_share_fits_the_pipes(shared_profiles: Path) -> None:
    """u_c <= mac_ratio x core_time / duration holds on every capture, so no device hint is raised."""
    for path in kernel_tables(shared_profiles):
        resolved, groups = capture(path)
        assert not any(each.label.contradicts_pipes for each in groups), path
        if resolved.device is not None:
            triples = [(each.work, each.measurement, each.label) for each in groups]
            assert device_hints(resolved.device, triples, RooflineOptions()) == ()


def test_longcat_gate_up(shared_profiles: Path) -> None:
    """140 x `4,3072;384,192,16,32;12288`: memory/hbm, high, 37,748,736 weight bytes, 301,989,888 FLOPs,
    80 %.
    """
    found = group(shared_profiles, "longcat", "QuantBatchMatmulV3", "4,3072;384,192,16,32;12288")
    assert (found.label.bound, found.label.limiter, found.label.confidence) == ("memory", "hbm", "high")
    assert found.measurement.count == 140
    assert (found.work.weight_bytes, found.work.flops) == (37_748_736, 301_989_888)
    assert round(found.label.floors.u_m or 0, 2) == 0.80


def test_longcat_down_projection(shared_profiles: Path) -> None:
    """`4,6144;96,384,16,32;3072;4` on 12 of 24 blocks: memory/mte2, each weight byte read once."""
    found = group(shared_profiles, "longcat", "QuantBatchMatmulV3", "4,6144;96,384,16,32")
    assert (found.label.bound, found.label.limiter, found.label.single_pass) == ("memory", "mte2", True)
    assert found.measurement.block == 12


def test_longcat_lm_head(shared_profiles: Path) -> None:
    """`4,3072;1024,192,16,16`: memory/hbm, 100.8 MB at 76 % of 1.6 TB/s."""
    found = group(shared_profiles, "longcat", "MatMul", "4,3072;1024,192,16,16")
    assert (found.label.bound, found.label.limiter) == ("memory", "hbm")
    assert round(found.label.floors.u_m or 0, 2) == 0.76


@pytest.mark.parametrize(
    ("shapes", "lo", "hi"),
    [("384,3072;32,64", 10_617_088, 205_652_224), ("384,1024;32,96", 5_906_176, 103_614_208)],
)
def test_longcat_experts_are_a_range(shared_profiles: Path, shapes: str, lo: int, hi: int) -> None:
    """Grouped matmuls: memory at low confidence, the range printed, no rate claimed from the upper end."""
    found = group(shared_profiles, "longcat", "GroupedMatmul", shapes)
    assert (found.label.bound, found.label.confidence) == ("memory", "low")
    assert (found.work.bytes_lo, found.work.bytes_hi) == (lo, hi)
    assert "experts (inferred)" in found.label.reason
    assert "TB/s" not in found.label.reason


def test_longcat_other_kernels(shared_profiles: Path) -> None:
    """Short kernels are launch, dispatch and combine are communication, AI_CPU rows have no roofline."""
    expected = {
        ("InplaceAddRmsNorm", "4,3072", None): "latency/launch",
        ("AddRmsNormDynamicQuant", "4,3072", None): "latency/launch",
        ("MoeGatingTopK", "4,384", None): "latency/launch",
        ("MoeDistributeDispatchV2", "4,3072", None): "communication/link",
        ("MoeDistributeCombineV2", "384,3072", None): "communication/link",
        ("FusedInferAttentionScore", "4,8,512", "MIX_AIC"): "latency/pipeline",
        ("FusedInferAttentionScore", "", "AI_CPU"): "other/ai_cpu",
        ("MatMul", "4,1024;192,64", None): "latency/pipeline",
        ("TransposeBatchMatMul", "8,4,512", None): "latency/pipeline",
        ("MlaPrologV3", "4,3072", None): "latency/pipeline",
    }
    for (kind, shapes, core), name in expected.items():
        found = group(shared_profiles, "longcat", kind, shapes, core)
        assert f"{found.label.bound}/{found.label.limiter}" == name, kind


def test_training_matmuls_are_not_memory_bound(shared_profiles: Path) -> None:
    """d06: at most 25 % of MatMul time is memory-bound, although mte2 > 0.8 holds for 86 % of it."""
    matmuls = [each for each in groups_of(shared_profiles, "d06") if each.work.family == "matmul"]
    found = shares(matmuls)
    assert sum(value for name, value in found.items() if name.startswith("memory")) <= 0.25
    assert found["compute/cube"] > 0.75
    total = sum(each.measurement.total_us for each in matmuls)
    full = sum(
        each.measurement.total_us for each in matmuls if (each.measurement.ratio("aic_mte2") or 0) > 0.8
    )
    assert full / total > 0.65


def test_fp32_training_matmuls(shared_profiles: Path) -> None:
    """d02: 75.1 % single pass, 10.7 % from L2, 5.7 % scalar, 4.6 % HBM, 3.9 % latency of MatMul time."""
    matmuls = [each for each in groups_of(shared_profiles, "d02") if each.work.family == "matmul"]
    found = {name: round(value * 100, 1) for name, value in shares(matmuls).items()}
    assert found == {
        "memory/mte2": 75.1,
        "memory/l2": 10.7,
        "latency/scalar": 5.7,
        "memory/hbm": 4.6,
        "latency/pipeline": 3.9,
    }
    assert all(each.label.single_pass for each in matmuls if each.label.limiter == "mte2")


def test_fp32_peak_is_used(shared_profiles: Path) -> None:
    """d02's matmuls say HF32 NO, so they are held against 88.5 TFLOPS, its convolutions against 176.9."""
    peaks = {
        each.work.family: round((each.label.floors.peak_ops or 0) / 1e12, 1)
        for each in groups_of(shared_profiles, "d02")
        if each.work.family in ("matmul", "convolution")
    }
    assert peaks == {"matmul": 88.5, "convolution": 176.9}


def test_l2_absorbs_the_outer_products_of_d02(shared_profiles: Path) -> None:
    """`32,4096;32,4096` at 2.2 TB/s is memory/l2, not an HBM hotspot."""
    found = group(shared_profiles, "d02", "MatMulV2", "32,4096;32,4096")
    assert (found.label.bound, found.label.limiter) == ("memory", "l2")
    assert "2,223 GB/s" in found.label.reason


def test_tampered_shapes_are_unknown(shared_profiles: Path) -> None:
    """d08: edited matmuls are unknown with the reason, and nothing reaches the peak."""
    groups = groups_of(shared_profiles, "d08")
    matmuls = [each for each in groups if each.work.family == "matmul"]
    assert len(matmuls) == 3
    for each in matmuls:
        assert (each.label.bound, each.label.limiter) == ("unknown", "shapes contradict")
        assert "no (M, N, K) fits" in each.label.reason
    assert all((each.label.floors.u_c or 0) < 1 for each in groups)


def test_level_0_says_that_it_knows_nothing(shared_profiles: Path) -> None:
    """d01 and d11: without shapes and pipes every AI-core kernel is unknown, and none is ranked."""
    for name in ("d01", "d11"):
        kernels = [
            each for each in groups_of(shared_profiles, name) if each.signature.kernel_class == "aicore"
        ]
        assert {each.label.bound for each in kernels} == {"unknown"}
        assert {each.label.potential_us for each in kernels} == {None}


def test_training_captures_are_recognised(shared_profiles: Path) -> None:
    """d02 and d06 hold gradient or optimizer kernels; the decode capture holds none."""
    for name, training in (("d02", True), ("d06", True), ("longcat", False)):
        flags = {flag for each in groups_of(shared_profiles, name) for flag in each.work.flags}
        assert bool(flags & {"gradient", "optimizer"}) is training


def test_every_label_has_its_numbers(shared_profiles: Path) -> None:
    """Each label of each capture has a known bound, a reason with a number or a cause, and a confidence."""
    bounds = {"memory", "compute", "latency", "communication", "other", "unknown"}
    for path in kernel_tables(shared_profiles):
        for each in capture(path)[1]:
            label = each.label
            assert label.bound in bounds
            assert label.confidence in ("high", "medium", "low")
            assert len(label.reason.split()) >= 5
            assert label.potential_us is None or label.potential_us >= 0
