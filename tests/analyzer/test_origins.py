"""The commonest origin of a kind of kernel, how common it is, and the prefetches that ran."""

from __future__ import annotations

from npu_roofline.analyzer.explain import explain
from npu_roofline.analyzer.hotspots import hotspots
from npu_roofline.analyzer.origins import origin_of, origin_text, origins
from npu_roofline.analyzer.prefetch_tasks import PrefetchTask, prefetch_tasks
from npu_roofline.analyzer.session import Session

from .tiny_run import START_NS, Kernel, session_of

ORIGIN = "INSERT INTO kernel_origins VALUES (1, 0, ?, ?, ?, ?, ?, NULL, ?, ?)"


def session_with_origins() -> Session:
    """Four Add kernels: two from one line, one from another, one of which the trace says nothing."""
    session = session_of([Kernel(start=10.0 * n, duration=5.0) for n in range(4)])
    rows = [
        (0, 100, "aten::add", "aclnnAdd", "nn.Module: MLP_0", "/work/model.py(12): forward", "call stack"),
        (1, 101, "aten::add", "aclnnAdd", "nn.Module: MLP_0", "/work/model.py(12): forward", "call stack"),
        (2, 102, "aten::add_", "aclnnInplaceAdd", None, None, None),
    ]
    for row in rows:
        session.con.execute(ORIGIN, row)
    session.con.execute(
        "INSERT INTO torch_ops BY NAME SELECT 1 AS run_id, 0 AS rank_id, 100 AS op_id, 'aten::add' AS name, "
        "'4,8;4,8' AS input_dims"
    )
    return session


def only_signature(session: Session) -> int:
    """The signature of the only kind of kernel."""
    return session.value("SELECT any_value(signature_id) FROM selected_kernels")


def test_the_commonest_origin_leads() -> None:
    """Two of four have it; of the four one has another, and of one nothing is known: 2 / 3 of the known."""
    session = session_with_origins()
    origin = origin_of(session, only_signature(session))
    assert origin is not None
    assert (origin.torch_op, origin.source) == ("aten::add", "/work/model.py(12): forward")
    assert (origin.kernels, origin.known, origin.occurrences, origin.origins) == (2, 3, 4, 2)
    assert origin.share == 2 / 3
    assert (origin.launch_op, origin.module, origin.input_dims) == ("aclnnAdd", "nn.Module: MLP_0", "4,8;4,8")
    assert origin_text(origin) == (
        "launched by aten::add, …/work/model.py(12): forward, in nn.Module: MLP_0; 2 of 4 occurrences agree, "
        "the others have 1 other origin; of 1 the trace does not say it"
    )


def test_hotspots_and_explain_show_it() -> None:
    """The row names operator and line; explain has a step for it."""
    session = session_with_origins()
    row = hotspots(session).rows[0]
    assert (row.torch_op, row.source) == ("aten::add", "/work/model.py(12): forward")
    steps = explain(session, row.id).extras["steps"]
    assert [step.verdict for step in steps if step.what == "Where it comes from"] != []


def test_without_a_trace_nothing_is_known() -> None:
    """No rows, no guess: null in the row, no step, and None for the prefetches."""
    session = session_of([Kernel(start=0.0, duration=5.0)])
    assert origins(session) == {}
    row = hotspots(session).rows[0]
    assert (row.torch_op, row.source) == (None, None)
    assert all(step.what != "Where it comes from" for step in explain(session, row.id).extras["steps"])
    assert prefetch_tasks(session) is None


def test_a_place_in_the_layer_has_its_own_origin() -> None:
    """The kernel at position 1 comes from the other line, whatever most kernels of the kind do."""
    session = session_with_origins()
    session.con.execute("UPDATE kernels SET part = 'layer', position = kernel_id // 2")
    signature = only_signature(session)
    first, second = (origin_of(session, signature, "layer", position) for position in (0, 1))
    assert first is not None
    assert (first.torch_op, first.kernels, first.occurrences) == ("aten::add", 2, 2)
    assert second is not None
    assert (second.torch_op, second.known, second.occurrences) == ("aten::add_", 1, 2)


def test_prefetches_of_the_selected_steps() -> None:
    """Those that start while the step runs, by start; others, and other tasks, are not listed."""
    session = session_of([Kernel(start=10.0, duration=5.0), Kernel(start=20.0, duration=5.0)])
    insert = (
        "INSERT INTO trace_tasks BY NAME SELECT 1 AS run_id, 0 AS rank_id, ? AS kind, 9 AS stream_id, "
        "? AS start_ns, ? AS end_ns, 4.0 AS duration_us"
    )
    for kind, at in (("prefetch", 21_000), ("prefetch", 12_000), ("prefetch", 1_000), ("memcpy", 13_000)):
        session.con.execute(insert, [kind, START_NS + at, START_NS + at + 4_000])
    assert prefetch_tasks(session) == (
        PrefetchTask(START_NS + 12_000, START_NS + 16_000, 4.0, 9, None),
        PrefetchTask(START_NS + 21_000, START_NS + 25_000, 4.0, 9, None),
    )
