"""Group statistics: true medians per signature and place, other steps and ranks kept apart."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer.hotspots import hotspot_rows
from npu_roofline.analyzer.statistics import measured_columns, zero_duration_notes

from tests.analyzer.tiny_run import Kernel, session_of


def _kernel(start: float, duration: float, position: int, **extra: object) -> Kernel:
    return Kernel(start, duration, extra={"part": "layer", "position": position, **extra})


def test_medians_are_true_medians() -> None:
    """Durations 1, 2, 10 and 30: median (2 + 10) / 2 = 6, p10 1.3 and p90 24 by linear interpolation."""
    session = session_of([Kernel(start * 100, us) for start, us in enumerate((30, 1, 10, 2))])
    [row] = session.rows("SELECT * FROM selected_statistics WHERE part IS NULL AND position IS NULL")
    assert (row["count"], row["total_us"], row["median_us"]) == (4, 43.0, 6.0)
    assert (row["p10_us"], row["p90_us"], row["min_us"], row["max_us"]) == pytest.approx((1.3, 24, 1, 30))


def test_places_are_told_apart_and_together() -> None:
    """The same signature at positions 0 (10, 20 us) and 1 (40 us): one row each and one for both."""
    session = session_of([_kernel(0, 10, 0), _kernel(100, 20, 0), _kernel(200, 40, 1)])
    rows = session.rows("SELECT part, position, count, median_us FROM selected_statistics ORDER BY ALL")
    assert [tuple(row.values()) for row in rows] == [
        ("layer", 0, 2, 15.0),
        ("layer", 1, 1, 40.0),
        (None, None, 3, 20.0),
    ]


def test_block_is_the_most_frequent_and_the_gap_needs_one_core_time() -> None:
    """Blocks 24, 24, 12 give 24; gaps are duration - the longer core time: 10-7, 10-6, 10-9 give the
    median 3.
    """
    session = session_of(
        [
            _kernel(0, 10, 0, block=24, aicore_time_us=7.0, aiv_time_us=2.0),
            _kernel(100, 10, 0, block=12, aicore_time_us=6.0),
            _kernel(200, 10, 0, block=24, aiv_time_us=9.0),
        ]
    )
    row = session.rows("SELECT * FROM selected_statistics WHERE part IS NULL")[0]
    assert (row["block"], row["gap_us"], row["aicore_time_us"]) == (24, 3.0, 6.5)


def test_not_measured_stays_null() -> None:
    """A column that no row holds is NULL and not zero; a zero that was measured is a zero."""
    session = session_of([_kernel(0, 10, 0, aic_mac_ratio=0.0)])
    row = session.rows("SELECT * FROM selected_statistics WHERE part IS NULL")[0]
    assert (row["aic_mac_ratio"], row["aic_mte2_ratio"], row["gap_us"]) == (0.0, None, None)
    assert measured_columns(session.con, "selected_statistics") == ["aic_mac_ratio"]


def test_selected_steps_get_statistics_of_their_own() -> None:
    """Steps of 10 and 30 us: all together the median is 20, step 2 alone 30."""
    kernels = [Kernel(0, 10, step=1), Kernel(100, 30, step=2)]
    median = "SELECT median_us FROM selected_statistics WHERE part IS NULL"
    assert session_of(kernels).value(median) == 20.0
    assert session_of(kernels, steps=(2,)).value(median) == 30.0


def test_kernels_outside_every_step_are_not_counted() -> None:
    """A kernel without a step is in no statistics: 1 call of 10 us remains."""
    session = session_of([Kernel(0, 10, step=1), Kernel(100, 30, step=None)])
    assert session.value("SELECT total_us FROM selected_statistics WHERE part IS NULL") == 10.0


def test_a_duration_of_zero_enters_no_median() -> None:
    """Durations 0, 0, 10, 20, 30 with mac .9, .9, .1, .2, .3: the median of what was measured is 20 us and .2
    (all five rows: 10 us and .3), the shortest 10 us; five rows count, two of them as not measured.
    """
    mac = {0: 0.9, 1: 0.9, 2: 0.1, 3: 0.2, 4: 0.3}
    rows = [_kernel(i * 100, us, 0, aic_mac_ratio=mac[i]) for i, us in enumerate((0, 0, 10, 20, 30))]
    session = session_of(rows)
    [row] = session.rows("SELECT * FROM selected_statistics WHERE part IS NULL")
    assert (row["count"], row["zero_duration"], row["total_us"]) == (5, 2, 60.0)
    assert (row["median_us"], row["min_us"], row["aic_mac_ratio"]) == (20.0, 10.0, 0.2)


def test_rows_without_a_duration_are_named_and_not_labelled() -> None:
    """Two Cast rows of 0 us and one Add of three: the note counts both types; Cast, of which nothing else was
    measured, is unknown without a median, and Add is labelled from its other two rows.
    """
    shapes = ("1024,1024", "DT_BF16", "1024,1024")
    kernels = [Kernel(i * 100, 0.0, "Cast", shapes=shapes) for i in range(2)]
    kernels += [Kernel(300 + i * 100, us, "Add", shapes=shapes) for i, us in enumerate((0.0, 4.0, 4.0))]
    session = session_of(kernels)
    assert zero_duration_notes(session.con) == [
        "3 kernels have a duration of 0 in the export, which is no measurement: counted, but in no median, "
        "floor or label: Cast (2), Add (1)"
    ]
    rows = {row.type: row for row in hotspot_rows(session)}
    cast, add = rows["Cast"], rows["Add"]
    assert (cast.count, cast.median_us, cast.bound, cast.limiter) == (2, None, "unknown", "no duration")
    assert (cast.headroom_us, cast.achieved_gb_s, cast.anomaly) == (None, None, None)
    assert (add.count, add.median_us, add.anomaly) == (3, 4.0, None)
    assert "1 of 3 rows have a duration of 0 and are in no median" in add.notes


def test_rows_without_counters_enter_no_pipe() -> None:
    """Core times 0, 0 and 9 us with mac 0, 0 and .4: two rows were not recorded, the third is .4, not 0, and
    its gap of 10 - 9 us is the only one.
    """
    rows = [
        _kernel(i * 100, 10, 0, aicore_time_us=t, aiv_time_us=0.0, aic_mac_ratio=m)
        for i, (t, m) in enumerate(((0.0, 0.0), (0.0, 0.0), (9.0, 0.4)))
    ]
    session = session_of(rows)
    [row] = session.rows("SELECT * FROM selected_statistics WHERE part IS NULL")
    assert (row["count"], row["median_us"], row["aic_mac_ratio"], row["gap_us"]) == (3, 10.0, 0.4, 1.0)


def test_selected_steps_leave_zero_durations_out_too() -> None:
    """Step 2 has 0 and 8 us, step 1 has 4 us: of step 2 alone the median is 8."""
    session = session_of([Kernel(0, 4.0), Kernel(100, 0.0, step=2), Kernel(200, 8.0, step=2)], steps=(2,))
    [row] = session.rows("SELECT * FROM selected_statistics WHERE part IS NULL AND position IS NULL")
    assert (row["count"], row["zero_duration"], row["median_us"]) == (2, 1, 8.0)
