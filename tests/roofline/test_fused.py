"""The time of one kernel in place of several, with the arithmetic beside each number."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline.roofline.device import load_device
from npu_roofline.roofline.fused import FusedTime, Part, fused_time
from npu_roofline.roofline.model import Work
from npu_roofline.roofline.options import RooflineOptions

DEVICE = load_device("910B2")  # HBM at most 1800 GB/s
OPTIONS = RooflineOptions()  # the smallest kernel takes 1.1 us


def part(bytes_lo: int | None, us: float, saved: int = 0, family: str = "elementwise") -> Part:
    """A kernel of some bytes and no operations that count."""
    return Part(Work(family, "resolved", "vector", bytes_lo=bytes_lo, flops_lo=0.0), us, saved)


def test_floor_and_expected_time_of_two_vector_kernels() -> None:
    """270 MB + 180 MB less 90 MB read again, at 1800 GB/s: 200 us; at today's rates 200 + 150 x 90/180 =
    275 us.
    """
    found = fused_time([part(270_000_000, 200), part(180_000_000, 150, saved=90_000_000)], DEVICE, OPTIONS)
    assert found == FusedTime(pytest.approx(200.0), pytest.approx(275.0))


def test_a_matmul_keeps_its_time_but_for_what_it_need_not_write() -> None:
    """Matmul 100 us that saves writing 18 MB (10 us): the fused kernel takes at least 90 us, whatever its
    own roof.
    """
    parts = [part(18_000_000, 100, saved=18_000_000, family="matmul"), part(36_000_000, 30, saved=18_000_000)]
    found = fused_time(parts, DEVICE, OPTIONS)
    assert found == FusedTime(pytest.approx(90.0), pytest.approx(115.0))  # 100 + 30 x 18/36
    replaced = fused_time(parts, DEVICE, OPTIONS, replaces_main=True)
    assert replaced is not None
    assert replaced.floor_us == pytest.approx(10.0)  # 18 MB remain: 10 us


def test_no_fused_kernel_is_faster_than_the_smallest_kernel() -> None:
    """Two kernels of 3 us and a few bytes: the floor is the 1.1 us that any kernel takes."""
    found = fused_time([part(64, 3), part(64, 3, saved=64)], DEVICE, OPTIONS)
    assert found == FusedTime(1.1, 3.0)  # 3 + 3 x 0/64


def test_without_bytes_or_device_nothing_is_known() -> None:
    """An unknown size or device gives no time, not a small one."""
    assert fused_time([part(None, 3)], DEVICE, OPTIONS) is None
    assert fused_time([part(64, 3)], None, OPTIONS) is None
    assert fused_time([], DEVICE, OPTIONS) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 10**9), st.floats(0, 1e4), st.integers(0, 10**9)), min_size=1, max_size=5
    )
)
def test_the_fused_kernel_lies_between_its_floor_and_today(rows: list[tuple[int, float, int]]) -> None:
    """0 <= floor <= expected <= the sum of today's times, for any sizes and times."""
    found = fused_time([part(*row) for row in rows], DEVICE, OPTIONS)
    assert found is not None
    now = sum(us for _, us, _ in rows)
    assert 0 <= found.floor_us <= found.expected_us * (1 + 1e-9)
    assert found.expected_us <= now * (1 + 1e-9)
