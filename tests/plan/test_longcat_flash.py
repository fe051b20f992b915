"""The fifteen places at which LongCat-Flash prefetches in production: each is found, sized, and weighed.

Targets and dependencies are those of its published code: gate_up behind o_proj, down behind the input of
gate_up, the router behind o_proj, q_a, q_b and kv_a of the second attention behind gate_up, those of the next
layer behind the last down; on the experts' side w2 behind the router, and the next layer's router and w13
behind the second grouped product.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from npu_roofline.analyzer.answer import Answer, CandidateRow, WindowRow
from npu_roofline.analyzer.candidates import candidates
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session

from tests.plan.longcat_flash import Kernel, attention_side, expert_side, write_capture

MIB = 2**20
# (target, dependency, weight MiB): sites 1 to 4 and 6 to 12 of the attention side
ATTENTION_SITES = [
    ("gate_up0", "o0", 18), ("gate_up1", "o1", 18), ("down0", "gather0", 9), ("down1", "gather1", 9),
    ("router", "o0", 18), ("q_a1", "gate_up0", 18), ("q_b1", "gate_up0", 36), ("kv_a1", "gate_up0", 6.75),
    ("q_a0", "down1", 18), ("q_b0", "down1", 36), ("kv_a0", "down1", 6.75),
]  # fmt: skip
# sites 5 and 13 (one textual site each in two files), 14 and 15
EXPERT_SITES = [("w2", "router", 96), ("router", "w2", 18), ("w13", "w2", 192)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Databases of the captures of this module."""
    return tmp_path_factory.mktemp("longcat_flash")


def _asked(home: Path, name: str, layer: list[Kernel], **wishes) -> Answer:
    database = home / f"{name}.duckdb"
    if not database.exists():
        ingest_run([write_capture(home / name, layer)], database, name=name)
    with open_session(database, device="910_9382") as session:
        return candidates(session, top=None, **wishes)


def _windows(
    answer: Answer, target: Kernel, behind: Kernel, layer: list[Kernel]
) -> list[tuple[CandidateRow, WindowRow]]:
    """Rows of the target with their windows that open behind the dependency, by shapes and distance."""
    at, of = layer.index(target), layer.index(behind)
    distance = (at - of) % len(layer) or len(layer)
    rows = [
        row
        for row in (*answer.rows, *answer.extras["rejected"])
        if row.target_type == target.type and row.target_shapes == target.inputs
    ]
    return [
        (row, window)
        for row in rows
        for window in (row.window, *row.alternatives)
        if window and window.dependency == behind.type and len(window.kernels) == distance - 1
        and (behind.inputs == "N/A" or window.dependency_shapes == behind.inputs)
    ]  # fmt: skip


def _check(answer: Answer, layer: list[Kernel], sites) -> None:
    keys = {kernel.key: kernel for kernel in layer}
    for target, dependency, mib in sites:
        found = _windows(answer, keys[target], keys[dependency], layer)
        assert found, f"{target} behind {dependency} is not there"
        row, window = found[0]
        assert row.weight_bytes == mib * MIB, target
        half = row.weight_bytes // 2
        limits = [half, window.window_bytes or 0, 96 * MIB - window.working_set_bytes - window.taken_l2_bytes]
        assert window.max_size <= row.weight_bytes
        assert window.max_size == pytest.approx(max(0, min(limits)), abs=1024), target


def test_every_site_of_the_attention_side_is_a_window(home: Path):
    """With everything shown, each of the eleven dependencies opens a window of its target.

    Each carries half of its weight, or what the window or L2 leaves, and the one that limits is known.
    """
    layer = attention_side()
    answer = _asked(home, "attention", layer, allow_comm_windows=True, include_unsafe=True)
    _check(answer, layer, ATTENTION_SITES)


def test_every_site_of_the_experts_side_is_a_window(home: Path):
    """EP 64: w2 behind the router's logits, the next layer's router and w13 behind the second product."""
    layer = expert_side(64)
    answer = _asked(home, "ep64", layer, allow_comm_windows=True, include_unsafe=True)
    _check(answer, layer, EXPERT_SITES)


def test_ep16_is_capped_by_l2(home: Path):
    """32 experts a rank: half of w13 is 384 MiB, which no L2 of 192 MiB holds; the rows say what is left."""
    answer = _asked(home, "ep16", expert_side(16), allow_comm_windows=True, include_unsafe=True)
    rows = [row for row in (*answer.rows, *answer.extras["rejected"]) if row.target_type == "GroupedMatmul"]
    w13 = next(row for row in rows if row.weight_bytes == 768 * MIB)
    windows = [window for window in (w13.window, *w13.alternatives) if window]
    assert max(window.max_size for window in windows) <= 96 * MIB
    assert any(row.max_size_terms.limited_by in ("window", "l2") for row in rows if row.max_size_terms)


def test_the_plan_takes_what_fits_together(home: Path):
    """All calls of the plan in flight stay within half of L2, and who is left out is named."""
    layer = attention_side()
    for wishes in ({}, {"allow_comm_windows": True}):
        answer = _asked(home, "attention", layer, **wishes)
        chosen = [row for row in answer.rows if row.status == "candidate"]
        assert chosen
        for row in chosen:
            assert row.max_size + row.window.taken_l2_bytes + row.window.working_set_bytes <= 96 * MIB
        left = [row for row in answer.extras["rejected"] if row.reason.startswith("left out of the plan")]
        said = any("would pay alone" in note for note in answer.notes)
        assert said == bool(left)


def test_collectives_open_the_windows_that_production_uses(home: Path):
    """Strictly gate_up waits behind the gather, with collectives behind o_proj or the scatter: a larger size.

    Gather, norm and quantise take 5 + 3.5 us and gaps; the scatter adds 20, the gather 15.
    """
    layer = attention_side()
    gate_up = next(kernel for kernel in layer if kernel.key == "gate_up1")
    strict, wider = (
        [
            row
            for row in _asked(home, "attention", layer, allow_comm_windows=comm).rows
            if row.target_shapes == gate_up.inputs and row.status == "candidate"
        ]
        for comm in (False, True)
    )
    assert {row.window.dependency for row in strict} == {"hcom_allGather_"}
    assert "hcom_allGather_" not in {row.window.dependency for row in wider}
    assert max(row.max_size for row in strict) < min(row.max_size for row in wider) == 9 * MIB
