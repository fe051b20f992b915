"""What a run can answer follows from what was recorded, and the rest names the profiler option for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from npu_roofline.ingest.availability import Availability, availability
from npu_roofline.ingest.stage import Staging

from .kernel_csv import row, starts, table, write

PIPES = {"aic_mte2_ratio": "0.5", "aic_total_cycles": "1684800", "cube_utilization(%)": "97.5"}
ROOFLINE = "what limits a kernel, from its shapes (roofline)"
PMU = "what limits a kernel, from the PMU"


def answers(staging: Staging) -> dict[str, Availability]:
    """Each question of the staged run by its text."""
    return {each.question: each for each in availability(staging.con, 1)}


def test_a_full_capture_answers_the_roofline(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Shapes, pipes and cores x MHz are all there: both rooflines and the chip are answered."""
    cells = [row(start=start, **PIPES) for start in starts(2)]
    found = answers(staged(write(tmp_path, table(cells, pmu=tuple(PIPES)))))
    for question in (ROOFLINE, PMU, "which chip it is", "streams and what runs beside what"):
        assert (found[question].status, found[question].missing, found[question].how_to_record) == (
            "yes",
            "",
            "",
        )


def test_level_0_says_what_to_record(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """No shapes, no PMU, no chip: three questions are not answered, each with the option that records it."""
    found = answers(staged(write(tmp_path, table([row(type="N/A", core="N/A")], "level0"))))
    assert found[ROOFLINE].status == "no"
    assert "ProfilerLevel.Level1" in found[ROOFLINE].how_to_record
    assert found[PMU].status == "no"
    assert "AiCMetrics.PipeUtilization" in found[PMU].how_to_record
    assert found["which chip it is"].status == "no"
    assert "--device" in found["which chip it is"].how_to_record
    assert found["before and after (compare)"].status == "partly"


def test_the_chip_may_be_said_by_the_user(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """With --device the chip is known although no row tells it."""
    profile = write(tmp_path, table([row()]))
    assert answers(staged(profile, device_argument="910B3"))["which chip it is"].status == "yes"


def test_half_of_the_shapes_is_a_part_answer(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """Shapes on one of two kernels: partly, and the evidence says 50.0%."""
    first, second = starts(2)
    cells = [row(start=first, **PIPES), row(start=second, input_shapes="N/A", **PIPES)]
    found = answers(staged(write(tmp_path, table(cells, pmu=tuple(PIPES)))))[ROOFLINE]
    assert found.status == "partly"
    assert "50.0% of the kernels" in found.evidence


def test_a_trace_without_events_is_no_evidence(tmp_path: Path, staged: Callable[..., Staging]) -> None:
    """An empty trace beside the kernels answers nothing: the file says so, and the answer is no."""
    profile = write(tmp_path, table([row()]))
    write(profile, "[]", "trace_view.json")
    staging = staged(profile)
    found = answers(staging)["which torch operator and source line launched a kernel"]
    assert found.status == "no"
    assert "operators that launched the kernels" in found.missing
    files = staging.con.execute("SELECT status, note FROM files WHERE kind = 'trace_view'").fetchall()
    assert [(status, "holds no events" in note) for status, note in files] == [("failed", True)]


def test_files_beside_the_kernels_answer_their_own_questions(
    tmp_path: Path, staged: Callable[..., Staging]
) -> None:
    """L2 rates, links, memory and host calls: no without their file, each with the option; yes with it."""
    profile = write(tmp_path, table([row()]))
    questions = {
        "what hits L2": "l2_cache=True",
        "link bandwidth, and who waits in collectives (summary --by link)": "ProfilerLevel.Level1",
        "device memory over time (query: memory_events)": "profile_memory=True",
        "time of host calls (query: api_statistics, api_calls)": "ProfilerActivity.CPU",
    }
    without = answers(staged(profile))
    for question, option in questions.items():
        assert without[question].status == "no"
        assert option in without[question].how_to_record
    name = "aclnnMatmul_MatMulCommon_MatMulV2"
    write(profile, f"Stream Id,Task Id,Hit Rate,Victim Rate,Op Name\n2,11,0.9,0.1,{name}\n", "l2_cache.csv")
    write(
        profile, "Component,Timestamp(us),Total Reserved(MB),Device\nAPP,1.0,1,NPU:0\n", "npu_module_mem.csv"
    )
    write(profile, "Level,API Name,Time(us),Count\nacl,aclrtMalloc,1.5,1\n", "api_statistic.csv")
    link = '{"HCCS": {"Transit Size(MB)": 1, "Transit Time(ms)": 1, "Bandwidth(GB/s)": 1}}'
    entry = f'{{"Communication Time Info": {{}}, "Communication Bandwidth Info": {link}}}'
    write(profile, f'{{"step3": {{"collective": {{"a@1": {entry}}}}}}}', "communication.json")
    found = answers(staged(profile))
    links = "link bandwidth, and who waits in collectives (summary --by link)"
    expected = dict.fromkeys(questions, "yes") | {links: "partly"}  # the chip, and so its links, is not known
    assert {question: found[question].status for question in questions} == expected
