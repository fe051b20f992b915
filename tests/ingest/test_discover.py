"""Any mix of folders and files leads to the exports in it, grouped by rank."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from npu_roofline.errors import InputMissing, UnsupportedExport
from npu_roofline.ingest.discover import discover, kind_of
from npu_roofline.ingest.naming_runs import default_name

from .kernel_csv import OP_SUMMARY, row, table, write

KERNELS = table([row()])
SUMMARY = table([row()], "summary", OP_SUMMARY)


def info(folder: Path, rank_id: object, name: str = "profiler_info_0.json") -> None:
    """A profiler_info file that says a rank number."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({"config": {}, "rank_id": rank_id}))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("kernel_details.csv", "kernel_details"),
        ("op_summary_0_1_20230911.csv", "op_summary"),
        ("op_summary_slice_0_20250102030405.csv", "op_summary"),
        ("ascend_pytorch_profiler.db", "profiler_database"),
        ("ascend_pytorch_profiler_12.db", "profiler_database"),
        ("ascend_mindspore_profiler_0.db", "profiler_database"),
        ("msprof_20250102030405.db", "msprof_database"),
        ("analysis.db", "analysis_database"),
        ("trace_view.json", "trace_view"),
        ("msprof_20250102030405.json", "msprof_trace"),
        ("msprof_slice_0_20250102030405.json", "msprof_trace"),
        ("profiler_info.json", "profiler_info"),
        ("profiler_info_3.json", "profiler_info"),
        ("profiler_metadata.json", "profiler_metadata"),
        ("info.json.0", "device_info"),
        ("op_statistic.csv", "op_statistic"),
        ("op_statistic_20250102030405.csv", "op_statistic"),
        ("step_trace_time.csv", "step_trace_time"),
        ("api_statistic_001.csv", "api_statistic"),
        ("task_time_001.csv", "task_time"),
        ("l2_cache.csv", "l2_cache"),
        ("operator_details.csv", "operator_details"),
        ("memory_record.csv", "memory_record"),
        ("operator_memory.csv", "operator_memory"),
        ("npu_module_mem.csv", "npu_module_mem"),
        ("static_op_mem.csv", "static_op_mem"),
        ("communication.json", "communication"),
        ("communication_matrix.json", "communication_matrix"),
        ("cluster_step_trace_time.csv", "cluster_step_trace_time"),
        ("OPPROF_001/Memory.csv", "opprof_blocks"),
        ("OPPROF_001/MatMulV2/0/OpBasicInfo_20260101.csv", "opprof_operator"),
        ("OPPROF_001/summary.jsonl", "opprof_operator"),
        ("OPPROF_001/HardwareInfo.jsonl", "hardware_info"),
        ("OPPROF_001/PipeTrace.json", "opprof"),
        ("readme.txt", None),
        ("ascend_pytorch_profiler_0.db-wal", None),
    ],
)
def test_every_file_name_is_recognised(name: str, kind: str | None) -> None:
    """Each name of formats.md 2 has its kind; other names have none."""
    found = kind_of(Path(name))
    assert (found[0] if found else None) == kind


@pytest.mark.parametrize(
    "given", ["", "prof", "prof/ASCEND_PROFILER_OUTPUT", "prof/ASCEND_PROFILER_OUTPUT/kernel_details.csv"]
)
def test_a_profile_is_found_from_every_level(tmp_path: Path, given: str) -> None:
    """The parent, the profile, its output folder and the file lead to the same rank and its info."""
    write(tmp_path / "prof", KERNELS)
    info(tmp_path / "prof", "7")
    (rank,) = discover([tmp_path / given]).ranks
    assert (rank.rank_id, rank.label, rank.holds) == (7, "7", ["kernel_details", "profiler_info"])


def test_ranks_under_a_parent_are_told_apart(tmp_path: Path) -> None:
    """Numbers come from profiler_info, the rest in folder order, 10 after 2; a rank_id of -1 is none."""
    for number, said in ((2, 5), (10, "0"), (3, -1)):
        folder = tmp_path / f"host_{number}_ascend_pt"
        write(folder, KERNELS)
        info(folder, said, f"profiler_info_{number}.json")
    found = [(rank.rank_id, rank.label) for rank in discover([tmp_path]).ranks]
    assert found == [(0, "0"), (1, "host_3_ascend_pt"), (5, "5")]


def test_a_rank_number_said_twice_is_given_once(tmp_path: Path) -> None:
    """Two captures of rank 0 are two ranks of the run, and the notes say which one was renumbered."""
    for name in ("before", "after"):
        write(tmp_path / name, KERNELS)
        info(tmp_path / name, 0)
    found = discover([tmp_path])
    assert [(rank.rank_id, rank.root.name) for rank in found.ranks] == [(0, "after"), (1, "before")]
    assert any("before says it is rank 0" in note for note in found.notes)


def test_a_rank_without_kernels_is_found_with_what_it_holds(tmp_path: Path) -> None:
    """A folder with communication and step times only is a rank too."""
    write(tmp_path / "a_ascend_pt", KERNELS)
    write(tmp_path / "b_ascend_pt", "{}", "communication.json")
    write(tmp_path / "b_ascend_pt", "Step,Computing\n1,2\n", "step_trace_time.csv")
    first, second = discover([tmp_path]).ranks
    assert [file.kind for file in first.kernel_files] == ["kernel_details"]
    assert second.kernel_files == []
    assert second.holds == ["communication", "step_trace_time"]


def test_kernels_are_not_counted_twice(tmp_path: Path) -> None:
    """kernel_details is read, the op_summary of the same rank is left out, and a note says so."""
    profile = write(tmp_path / "x_ascend_pt", KERNELS)
    prof = profile / "PROF_000001" / "mindstudio_profiler_output"
    prof.mkdir(parents=True)
    (prof / "op_summary_20250102030405.csv").write_text(SUMMARY)
    (rank,) = discover([tmp_path]).ranks
    assert [file.kind for file in rank.kernel_files] == ["kernel_details"]
    assert [file.ignored is None for file in rank.files if file.kind == "op_summary"] == [False]
    assert any("both" in note for note in rank.notes)


def test_each_prof_folder_is_a_rank(tmp_path: Path) -> None:
    """msprof writes one PROF folder per device; without a torch profile around them they are ranks."""
    for number in (1, 2):
        folder = tmp_path / f"PROF_00000{number}" / "mindstudio_profiler_output"
        folder.mkdir(parents=True)
        (folder / "op_summary_20250102030405.csv").write_text(SUMMARY)
    assert [rank.label for rank in discover([tmp_path]).ranks] == ["PROF_000001", "PROF_000002"]


def test_overlapping_paths_count_once(tmp_path: Path) -> None:
    """A folder, the folder again and a file in it are one kernel table."""
    profile = write(tmp_path / "prof", KERNELS)
    found = discover([tmp_path, profile, profile / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv"])
    assert [len(rank.kernel_files) for rank in found.ranks] == [1]


def test_a_renamed_kernel_table_is_recognised_by_its_header(tmp_path: Path) -> None:
    """A file given by name may be called anything; its columns say what it is."""
    (tmp_path / "decode before.csv").write_text(KERNELS)
    (tmp_path / "summary.csv").write_text(SUMMARY)
    found = [
        discover([tmp_path / name]).ranks[0].files[0].kind for name in ("decode before.csv", "summary.csv")
    ]
    assert found == ["kernel_details", "op_summary"]


def test_a_link_out_of_the_tree_is_not_followed_and_that_is_said(tmp_path: Path) -> None:
    """Links to files and folders outside the given folder are left alone, with a note each."""
    outside = write(tmp_path / "outside", KERNELS)
    inside = write(tmp_path / "inside", KERNELS)
    os.symlink(outside, inside / "linked_ascend_pt")
    os.symlink(outside / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv", inside / "kernel_details.csv")
    found = discover([inside])
    assert [len(rank.kernel_files) for rank in found.ranks] == [1]
    assert len([note for note in found.notes if "was not followed" in note]) == 2


def test_a_link_inside_the_tree_adds_nothing(tmp_path: Path) -> None:
    """A link to a folder of the same tree does not make its kernels count twice, nor does a loop hang."""
    profile = write(tmp_path / "prof", KERNELS)
    os.symlink(profile, tmp_path / "latest")
    os.symlink(tmp_path, profile / "loop")
    assert [len(rank.kernel_files) for rank in discover([tmp_path]).ranks] == [1]


def test_a_link_given_by_the_user_is_followed(tmp_path: Path) -> None:
    """What the user names is meant, also when it is a link."""
    os.symlink(write(tmp_path / "prof", KERNELS), tmp_path / "latest")
    assert [len(rank.kernel_files) for rank in discover([tmp_path / "latest"]).ranks] == [1]


def test_nothing_to_read_says_what_was_found(tmp_path: Path) -> None:
    """An empty folder, and one with other files, are different errors; the second names the files."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    with pytest.raises(InputMissing, match="empty is empty"):
        discover([tmp_path / "empty"])
    with pytest.raises(UnsupportedExport, match=r"found notes\.txt"):
        discover([tmp_path / "other"])
    with pytest.raises(InputMissing, match="no path"):
        discover([])


def test_a_folder_named_like_a_kernel_table_is_said(tmp_path: Path) -> None:
    """A folder where the file should be is named, not silently passed by."""
    (tmp_path / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").mkdir(parents=True)
    with pytest.raises(InputMissing, match="is a folder, not a kernel table"):
        discover([tmp_path])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("captures/decode/ASCEND_PROFILER_OUTPUT", "decode"),
        ("captures/host_1_20250102_ascend_pt", "host_1_20250102"),
        ("captures/PROF_1/mindstudio_profiler_output", "PROF_1"),
        ("captures", "captures"),
    ],
)
def test_the_folder_names_the_run(tmp_path: Path, path: str, name: str) -> None:
    """The output folders of the profilers name nothing; the folder above them does."""
    (tmp_path / path).mkdir(parents=True)
    assert default_name([tmp_path / path]) == name
