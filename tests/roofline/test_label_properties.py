"""What holds for the label of any kernel, however odd its numbers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.roofline.classify import classify
from npu_roofline.roofline.device import all_devices
from npu_roofline.roofline.measure import CUBE_PIPES, VECTOR_PIPES, Measurement
from npu_roofline.roofline.work import Signature, work_of

from tests.roofline.labelling import DOWN, GATE_UP, OPTIONS, W13, fp32
from tests.roofline.operands import work

BOUNDS = {
    "memory": {"hbm", "l2", "mte2", "store"},
    "compute": {"cube", "vector"},
    "latency": {"launch", "scalar", "underparallel", "pipeline"},
    "communication": {"link"},
    "other": {"ai_cpu", "dsa", "host"},
}
WORKS = [
    GATE_UP,
    DOWN,
    W13,
    fp32("32,4096;32,4096", "4096,4096"),
    work("Add", "4096,4096;4096,4096", "4096,4096"),
    work("Cast", "128,128", "128,128"),
    work("GatherV2", "6400,5120;2,8192;1", "2,8192,5120", dtypes="DT_BF16;INT32;INT64"),
    work("FusedInferAttentionScore", "4,8,512;161,1,32,128,16", "4,8,512"),
    work("NeverSeen", "512,512", "512,512"),
    work("MatMulV2", "81920,4096;8192,512", "4096,512"),
    work_of(Signature("MatMul", "AI_CORE", "aicore")),
    work_of(Signature("HcomAllReduce", "COMMUNICATION", "communication")),
]
shares = st.one_of(st.none(), st.floats(0, 1.2))
times = st.one_of(st.none(), st.floats(0, 1e5))
measurements = st.builds(
    Measurement,
    count=st.just(1),
    median_us=st.floats(0, 1e6),
    total_us=st.just(1.0),
    p10_us=times,
    p90_us=times,
    block=st.one_of(st.none(), st.integers(0, 300)),
    aicore_time_us=times,
    aiv_time_us=times,
    gap_us=st.one_of(st.none(), st.floats(-1e3, 1e3)),
    cube_utilization_pct=st.one_of(st.none(), st.floats(0, 200)),
    ratios=st.dictionaries(st.sampled_from((*CUBE_PIPES, *VECTOR_PIPES)), shares),
)
devices = st.one_of(st.none(), st.sampled_from(all_devices()))


@given(found=st.sampled_from(WORKS), measurement=measurements, device=devices)
def test_every_kernel_gets_a_label_of_the_vocabulary(found, measurement, device) -> None:
    """No numbers raise; bound and limiter belong together, an unknown says why, and potential is not
    negative.
    """
    label = classify(found, measurement, device, OPTIONS)
    assert label.confidence in ("high", "medium", "low")
    assert label.reason
    if label.bound == "unknown":
        assert label.confidence == "low"
    else:
        assert label.limiter in BOUNDS[label.bound]
    assert label.potential_us is None or label.potential_us >= 0


@given(found=st.sampled_from(WORKS), measurement=measurements, device=devices)
def test_an_anomaly_is_never_ranked(found, measurement, device) -> None:
    """What contradicts the model has no potential; what is below its floor is an anomaly, and what has no
    duration was not measured and is neither.
    """
    label = classify(found, measurement, device, OPTIONS)
    floor = label.floors.floor_us
    if label.anomaly is not None:
        assert label.potential_us is None
    elif floor is not None and measurement.median_us > 0:
        assert label.floors.duration_us >= floor * 0.999


@given(found=st.sampled_from(WORKS), measurement=measurements)
def test_without_a_device_nothing_is_called_hbm(found, measurement) -> None:
    """mte2 alone never yields memory/hbm, and no floor is claimed without a device."""
    label = classify(found, measurement, None, OPTIONS)
    assert (label.bound, label.limiter) != ("memory", "hbm")
    assert label.floors.floor_us is None
    assert label.confidence == "low" or label.bound in ("communication", "other")
