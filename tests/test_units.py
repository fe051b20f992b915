"""Units up to P in both directions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from npu_roofline import units


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1kB", 1e3),
        ("1KB", 1e3),
        ("1MB", 1e6),
        ("1GB", 1e9),
        ("1TB", 1e12),
        ("1PB", 1e15),
        ("1KiB", 1024),
        ("1MiB", 1048576),
        ("1GiB", 1073741824),
        ("1TiB", 1099511627776),
        ("1PiB", 1125899906842624),
        ("18 MiB", 18874368),
        ("4,096", 4096),
        ("0B", 0),
    ],
)
def test_sizes_are_read_with_the_right_power(text: str, value: float) -> None:
    """Every prefix from k to P is its power of 1000, and Ki to Pi its power of 1024."""
    assert units.parse_bytes(text) == value


@pytest.mark.parametrize("text", ["", "GB", "-3MB", "12 XB", "1e999GB", "nan GB", "1TB/s"])
def test_sizes_that_are_not_clear_are_refused(text: str) -> None:
    """A size without a number, with a wrong unit, negative or not a number raises ValueError."""
    with pytest.raises(ValueError, match=r"."):
        units.parse_bytes(text)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (units.format_bytes(37_748_736), "36.0 MiB"),  # 36 * 1024 * 1024
        (units.format_bytes_decimal(37_748_736), "37.7 MB"),
        (units.format_bytes(512), "512 B"),
        (units.format_bytes(0), "0 B"),
        (units.format_bytes_decimal(999_960), "1.0 MB"),
        (units.format_bytes_decimal(3.5e15), "3.5 PB"),
        (units.format_bytes(2**50), "1.0 PiB"),
        (units.format_bytes_per_s(1.28e12), "1,280 GB/s"),
        (units.format_ops_per_s(3.539e14), "353.9 TFLOPS"),
        (units.format_ops_per_s(1.4156e15), "1.4 PFLOPS"),
        (units.format_us(29.72), "29.7 us"),
        (units.format_duration(10_718.4), "10.7 ms"),
        (units.format_duration(0.0004), "0.4 ns"),
        (units.format_duration(2.5e9), "2,500.0 s"),
        (units.format_share(0.8), "80 %"),
        (units.format_bytes(None), "-"),
        (units.format_us(None), "-"),
    ],
)
def test_values_are_printed_in_the_unit_that_fits(printed: str, expected: str) -> None:
    """Prefixes change at their own power, up to P, and what is not known prints as a dash."""
    assert printed == expected


@given(st.integers(min_value=0, max_value=10**18 - 1))
def test_printed_sizes_read_back_within_their_digits(size: int) -> None:
    """A printed size reads back to within half of its last digit, in both systems."""
    for text, base in ((units.format_bytes(size, 3), 1024), (units.format_bytes_decimal(size, 3), 1000)):
        factor = units.parse_bytes(f"1 {text.split()[1]}")
        assert abs(units.parse_bytes(text) - size) <= 0.0005 * factor * 1.001 + 0.5
        assert float(text.split()[0].replace(",", "")) < base


@given(st.floats(min_value=0, max_value=1e18, allow_nan=False), st.floats(min_value=1, max_value=1e3))
def test_more_never_reads_as_less(size: float, factor: float) -> None:
    """Printing and reading keeps the order of two sizes."""
    smaller, larger = units.format_bytes_decimal(size), units.format_bytes_decimal(size * factor)
    assert units.parse_bytes(smaller) <= units.parse_bytes(larger)
