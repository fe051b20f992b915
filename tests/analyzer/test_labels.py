"""Labels: one per signature, one per place, from medians, with the work worked out once."""

from __future__ import annotations

import pytest
from npu_roofline.analyzer import labels
from npu_roofline.analyzer.labels import (
    labelled_groups,
    labelled_positions,
    publish_labels,
    training_evidence,
)

from tests.analyzer.tiny_run import Kernel, session_of

MATMUL = ("4,4096;4096,8192", "DT_BF16", "4,8192")


def _matmul(start: float, duration: float, position: int | None, mte2: float = 0.9) -> Kernel:
    extra = {"block": 24, "aic_mte2_ratio": mte2, "aic_mac_ratio": 0.1, "aicore_time_us": duration - 3}
    if position is not None:
        extra |= {"part": "layer", "position": position}
    return Kernel(start, duration, "MatMulV3", "AI_CORE", shapes=MATMUL, extra=extra)


def test_a_place_has_the_label_of_its_own_medians() -> None:
    """The same matmul at 50 us (84 % of HBM) in one place and 200 us (21 %) in another: two labels."""
    fast = [_matmul(at * 1000, 50, 0) for at in range(3)]
    slow = [_matmul(9000 + at * 1000, 200, 1) for at in range(3)]
    found = {group.position: group.label for group in labelled_positions(session_of([*fast, *slow]))}
    assert (found[0].bound, found[0].limiter) == ("memory", "hbm")
    assert (found[1].bound, found[1].limiter) == ("memory", "mte2")


def test_a_place_seen_once_has_the_label_of_its_signature() -> None:
    """One call of 200 us at a place of its own beside five of 50 us: a single row is evidence, not a
    label.
    """
    session = session_of([*(_matmul(at * 1000, 50, 0) for at in range(5)), _matmul(9000, 200, 1)])
    [group] = labelled_groups(session)
    found = {each.position: each for each in labelled_positions(session)}
    assert found[1].label is group.label
    assert found[1].statistics.median_us == 200


def test_the_work_of_a_signature_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python loops over distinct signatures: 60 kernels at three places cost one work model."""
    calls = []
    original = labels.work_of
    monkeypatch.setattr(labels, "work_of", lambda signature: calls.append(signature) or original(signature))
    session = session_of([_matmul(at * 1000, 50, at % 3) for at in range(60)])
    assert len(labelled_positions(session)) == 3
    assert len(labelled_groups(session)) == 1
    assert len(calls) == 1


def test_only_what_has_a_roofline_is_labelled() -> None:
    """AI core and communication are labelled; AI_CPU and DSA rows are counted elsewhere."""
    session = session_of(
        [
            Kernel(0, 5),
            Kernel(10, 5, "hcom_allReduce_", "COMMUNICATION"),
            Kernel(20, 5, "Cumsum", "AI_CPU"),
            Kernel(30, 5, "DSAGenBitMask", "DSA_SQE"),
        ]
    )
    assert sorted(group.row.kernel_class for group in labelled_groups(session)) == ["aicore", "communication"]


def test_pipes_reach_the_measurement_by_name() -> None:
    """A column of the table becomes the pipe of the same name; what was not measured is not there as zero."""
    [group] = labelled_groups(session_of([_matmul(0, 50, None)]))
    assert group.statistics.ratio("aic_mte2") == 0.9
    assert group.statistics.ratio("aic_fixpipe") is None
    assert group.statistics.gap_us == 3.0


def test_labels_are_readable_from_sql() -> None:
    """The table `labels` has one row per signature, with the rows of its matmul."""
    session = session_of([_matmul(0, 50, None), Kernel(100, 5)])
    publish_labels(session)
    publish_labels(session)
    assert session.rows("SELECT bound, m FROM labels WHERE family = 'matmul'") == [
        {"bound": "memory", "m": 4}
    ]
    assert session.value("SELECT count(*) FROM labels") == 2


def test_training_types_are_named_and_sorted() -> None:
    """Gradient and optimizer kernels are the evidence, each type once."""
    kernels = [
        Kernel(at * 10, 5, name)
        for at, name in enumerate(("SoftmaxGrad", "ApplyAdamW", "Add", "SoftmaxGrad"))
    ]
    assert training_evidence(session_of(kernels)) == ("ApplyAdamW", "SoftmaxGrad")
