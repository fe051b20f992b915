"""Ranks side by side: slow ones named, those without kernels listed, several chips never told as one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from npu_roofline.analyzer.load import ingest_run
from npu_roofline.analyzer.session import open_session
from npu_roofline.analyzer.summary import summary
from npu_roofline.cli.main import run
from npu_roofline.sample_profiles.exporter import OUTPUT, export
from npu_roofline.sample_profiles.scenario import load_scenario

from tests.analyzer.tiny_run import Kernel, session_of

TABLE = f"{OUTPUT}/kernel_details.csv"


@pytest.fixture(scope="module")
def small() -> Mapping[str, str]:
    """The files of one small rank: two steps of two layers."""
    scenario = load_scenario("moe_decode.toml", "moe_decode_before")
    return export(replace(scenario, capture=replace(scenario.capture, steps=2, layers=2)))


def write_rank(parent: Path, rank: int, files: Mapping[str, str]) -> None:
    """One rank folder; profiler_info says which rank it is, on card rank % 8."""
    for path, text in files.items():
        if "profiler_info" in path:
            text = json.dumps({**json.loads(text), "rank_id": rank})
        file = parent / f"host{rank // 8}_{1000 + rank}_ascend_pt" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def on_device(files: Mapping[str, str], device: int) -> Mapping[str, str]:
    """The same rank on another card of its host."""
    header, *rows = files[TABLE].splitlines()
    at = header.split(",").index("Device_id")
    cells = [row.split(",", at + 1) for row in rows]
    return {
        **files,
        TABLE: "\n".join([header, *(",".join([*c[:at], str(device), c[-1]]) for c in cells)]) + "\n",
    }


def test_a_slow_rank_is_named_by_its_work_and_not_by_its_wall() -> None:
    """Three ranks with a wall of 30 us each: two work 10 us and wait 20 in a collective, one works 20. Its AI
    cores take 2 x those of the median rank, and the walls tell nothing.
    """
    kernels = []
    for rank, work in ((0, 10), (1, 20), (2, 10)):
        kernels += [
            Kernel(0, work, rank=rank),
            Kernel(work, 30 - work, "HcomAllReduce", "COMMUNICATION", rank=rank),
        ]
    answer = summary(session_of(kernels), by="rank")
    rows = {row.rank: row for row in answer.rows}
    assert [rows[rank].wall_of_median for rank in (0, 1, 2)] == [1.0, 1.0, 1.0]
    assert [rows[rank].aicore_of_median for rank in (0, 1, 2)] == [1.0, 2.0, 1.0]
    assert [rows[rank].communication_step_us for rank in (0, 1, 2)] == [20.0, 10.0, 20.0]
    assert any("slow against" in note and "rank 1 (2.00 x, 20.0 us)" in note for note in answer.notes)


def test_ranks_that_work_alike_are_said_to() -> None:
    """10 and 10.2 us are within 5 %: no rank is called slow."""
    answer = summary(session_of([Kernel(0, 10), Kernel(0, 10.2, rank=1)]), by="rank")
    assert any("no rank takes 1.05 x" in note for note in answer.notes)


def test_many_ranks_land_with_a_broken_one_and_one_without_kernels(
    small: Mapping[str, str], tmp_path: Path
) -> None:
    """Twelve ranks over two hosts of eight cards: number 3 is damaged, number 5 has no kernels, the others
    land; rank 9 is card 1 of its host.
    """
    parent = tmp_path / "job"
    for rank in range(12):
        files = dict(on_device(small, rank % 8))
        if rank == 3:
            files[TABLE] = files[TABLE].replace(",", ";")
        if rank == 5:
            del files[TABLE]
        write_rank(parent, rank, files)
    heard = []
    answer = ingest_run(
        [parent],
        tmp_path / "r.duckdb",
        name="job",
        jobs=3,
        progress=lambda _, done, total: heard.append((done, total)) if total else None,
    )
    assert heard == [(done, 11) for done in range(12)]
    ranks = {rank.rank: rank for rank in answer.extras["ranks"]}
    assert [rank for rank, row in ranks.items() if not row.has_kernels] == [3, 5]
    assert (ranks[9].device_id, ranks[9].kernels) == (1, ranks[0].kernels)
    assert [file.rank for file in answer.rows if file.status == "failed"] == [3]
    assert any(note.startswith("rank 5: no kernels; the folder holds op_statistic") for note in answer.notes)
    with open_session(tmp_path / "r.duckdb") as session:
        found = summary(session, by="rank")
    assert [row.rank for row in found.rows] == [0, 1, 2, 4, 6, 7, 8, 9, 10, 11]
    assert {row.rank: row.device_id for row in found.rows}[9] == 1
    assert any(note.startswith("rank 5: no kernels") for note in found.notes)


def test_ranks_of_different_chips_are_named_and_give_no_one_device(
    small: Mapping[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two ranks on 24 cubes of 1,800 MHz and one on 20 of 1,650 (a 910B3 or 910B4): ingest names them, and no
    answer holds one device for all; a question about one rank has that rank's.

    cube_utilization is cycles / (cores x MHz x duration), so its cells times 43,200 / 33,000 make the other
    chip; cycles over core time and blocks give the clock, so core times grow by 1,800 / 1,650.
    """
    parent = tmp_path / "job"
    for rank in range(2):
        write_rank(parent, rank, small)
    write_rank(parent, 2, {**small, TABLE: _other_chip(small[TABLE])})
    database = tmp_path / "r.duckdb"
    answer = ingest_run([parent], database, name="job")
    assert answer.device is not None
    assert answer.device.soc is None
    assert answer.device.confidence == "unknown"
    said = next(note for note in answer.notes if "different chips" in note)
    assert "ranks 0-1: " in said
    assert "rank 2: " in said
    with open_session(database, rank=2) as session:
        assert session.device_info.cube_cores == 20
        assert any("roofs here are those of rank 2" in note for note in session.notes)
    assert run(["runs", "show", "job", "--db", str(database)]) == 0
    assert "of different chips" in " ".join(capsys.readouterr().out.split())
    assert run(["ingest", str(parent), "--db", str(tmp_path / "o.duckdb"), "--device", "910B3"]) == 0
    assert "different chips" not in capsys.readouterr().out


def _other_chip(table: str) -> str:
    """The same rows as a chip of 20 cubes at 1,650 MHz shows them."""
    header, *rows = table.splitlines()
    names = header.split(",")
    lines = [header]
    for row in rows:
        cells = _split(row)
        for name, factor in (
            ("cube_utilization(%)", 43_200 / 33_000),
            ("aicore_time(us)", 1_800 / 1_650),
            ("aiv_time(us)", 1_800 / 1_650),
        ):
            at = names.index(name)
            if cells[at] not in ("N/A", ""):
                cells[at] = f"{float(cells[at]) * factor:.6f}"
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def _split(row: str) -> list[str]:
    """Cells of a CSV line with their quotes."""
    cells, inside = [""], False
    for character in row:
        inside = inside != (character == '"')
        if character == "," and not inside:
            cells.append("")
        else:
            cells[-1] += character
    return cells
