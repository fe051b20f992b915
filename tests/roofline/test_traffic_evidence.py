"""Measured bytes and hit rates confirm or contradict where a label says that the data comes from."""

from __future__ import annotations

import dataclasses

import pytest
from npu_roofline.roofline.measure import MeasuredBytes, Measurement
from npu_roofline.roofline.measured_bytes import measured_bytes, traffic

from tests.roofline.labelling import GATE_UP, fp32, label, named
from tests.roofline.operands import measured, work


def alone(measurement: Measurement, **values: float | bool | None) -> Measurement:
    """The measurement with what `msprof op` measured of the same kernel."""
    given = {"hit_rate": None, "reaches_hbm": True, "logical": None, **values}
    found = MeasuredBytes(source="msprof op", **given)  # type: ignore[arg-type]
    return dataclasses.replace(measurement, by_operator=found)


def test_bytes_beyond_l2_are_misses_and_the_share_of_writes_that_missed() -> None:
    """100 misses x 128 B; 8 of 16 requests for 4,096 written bytes missed: 12,800 + 2,048 bytes."""
    found = traffic("x", (300.0, 100.0), (8.0, 8.0), (51_200.0, 4_096.0))
    assert found == MeasuredBytes(14_848.0, 0.75, True, "x", 55_296.0)


def test_without_written_bytes_a_write_request_is_at_most_512_bytes() -> None:
    """100 x 128 + 8 x 512 = 16,896."""
    found = traffic("x", (0.0, 100.0), (8.0, 8.0), (None, None))
    assert found == MeasuredBytes(16_896.0, 0.0, True, "x", None)


def test_bytes_without_requests_include_l2_hits() -> None:
    """Memory.csv alone: an upper bound of HBM traffic, and said to be one."""
    found = traffic("x", (None, None), (None, None), (1_000.0, 24.0))
    assert found == MeasuredBytes(1_024.0, None, False, "x", 1_024.0)


def test_main_memory_datas_are_l2_requests_of_128_bytes() -> None:
    """Real blocks: 2,643 requests are 330.375 KB, 51 are 6.375: the bytes of Memory.csv include L2 hits."""
    for requests, kilobytes in ((1 + 1321 + 0 + 1321, 330.375), (13 + 6 + 26 + 6, 6.375), (26, 3.25)):
        assert requests * 128 == kilobytes * 1024


def test_an_operator_measured_alone_comes_before_the_columns_of_the_run() -> None:
    """Both are there: what msprof op counted of every block is taken."""
    both = alone(measured(10.0, other={"aic_read_main_memory_datas_kb": 1.0}), total=5.0)
    found = measured_bytes(both)
    assert found is not None
    assert (found.total, found.source) == (5.0, "msprof op")


def test_bytes_beyond_l2_confirm_hbm_at_high_confidence() -> None:
    """38.0 MB by shape, 38.4 MB measured beyond L2 in 29.72 us: sure, and the note says what was read."""
    result = label(GATE_UP, alone(measured(29.72), total=38.4e6, logical=38.4e6))
    assert (named(result), result.confidence) == ("memory/hbm", "high")
    assert any("which agrees with the 38.0 MB of the shapes" in note for note in result.notes)


def test_few_bytes_beyond_l2_contradict_hbm() -> None:
    """38.0 MB by shape say HBM; 4 MB beyond L2 are 8 % of it: confidence low, the contradiction named."""
    result = label(GATE_UP, alone(measured(29.72), total=4e6, logical=38.4e6))
    assert (named(result), result.confidence) == ("memory/hbm", "low")
    assert any("is contradicted by what was measured: 135 GB/s beyond L2" in note for note in result.notes)


def test_more_bytes_than_the_shapes_say_are_read_again() -> None:
    """80 MB against 38.0: 2.1 times, so tiles are read again; no contradiction of the byte model."""
    result = label(GATE_UP, alone(measured(29.72), total=80e6, logical=80e6, reaches_hbm=False))
    assert any("2.1 times the 38.0 MB of the shapes, so data is read again" in note for note in result.notes)


def full_load(hit_rate: float | None) -> Measurement:
    """The 346.567 us FP32 matmul of d02 with a full load pipe, and a hit rate of l2_cache.csv."""
    run = measured(346.567, 16, aic_mac=0.152, aic_mte2=0.983)
    return dataclasses.replace(run, l2_hit_rate=hit_rate)


@pytest.mark.parametrize(
    ("hit_rate", "expected", "confidence"),
    [(None, "memory/mte2", "low"), (0.9, "memory/mte2", "medium"), (0.1, "memory/hbm", "medium")],
)
def test_a_hit_rate_tells_what_a_full_load_pipe_waits_for(
    hit_rate: float | None, expected: str, confidence: str
) -> None:
    """28 % of HBM by shape with mte2 .98: open without a hit rate, above .5 it is L2, below it HBM."""
    result = label(fp32("32,9216;4096,9216;4096", "32,4096"), full_load(hit_rate))
    assert (named(result), result.confidence) == (expected, confidence)
    assert any("aic_metrics=L2Cache would tell" in note for note in result.notes) == (hit_rate is None)


@pytest.mark.parametrize(("hit_rate", "confidence"), [(0.95, "high"), (0.05, "low"), (None, "medium")])
def test_a_hit_rate_confirms_or_contradicts_l2(hit_rate: float | None, confidence: str) -> None:
    """101 MB in 33 us are 3.1 TB/s, above the HBM roof: fed by L2, if the hit rate does not deny it."""
    copy = work("TensorMove", "25165824", "25165824", dtypes="FLOAT16", out_dtypes="FLOAT16")
    run = dataclasses.replace(
        measured(33.0, 48, aiv_mte2=0.9, aiv_mte3=0.5, aiv_vec=0.1), l2_hit_rate=hit_rate
    )
    result = label(copy, run)
    assert (named(result), result.confidence) == ("memory/l2", confidence)
