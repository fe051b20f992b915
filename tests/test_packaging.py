"""The wheel holds the package and nothing else, and works where no checkout is."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

from tests.repository import ROOMS, ROOT, name_of, product_files

DATA_FOLDERS = (*ROOMS, "sample_profiles")
# Files that stand in the rooms but are no part of the program.
NOT_SHIPPED = {".py", ".pyc"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, built as a user's installer would build it, from a copy."""
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    # A copy, because a build leaves a build/ folder and egg-info behind.
    tracked = (
        subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
        .stdout.decode()
        .split("\0")
    )
    for name in filter(None, tracked):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            str(folder),
            str(source),
        ],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("npu_roofline-*.whl")
    return built


def test_the_wheel_holds_only_the_package(wheel: Path) -> None:
    """Tests, docs and tools stay out: every file lies in npu_roofline/ or in the wheel's own metadata."""
    names = zipfile.ZipFile(wheel).namelist()
    metadata = next(name for name in names if name.endswith(".dist-info/METADATA")).split("/")[0]
    assert [name for name in names if name.split("/")[0] not in ("npu_roofline", metadata)] == []
    assert not any("/tests/" in name or name.endswith(".duckdb") for name in names)
    assert f"{metadata}/licenses/LICENSE" in names


def test_the_wheel_holds_every_module_and_every_data_file(wheel: Path) -> None:
    """No module, SQL, TOML, template or sample is forgotten in the package data."""
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {f"npu_roofline/{name_of(path)}" for path in product_files()}
    data = {
        f"npu_roofline/{name_of(path)}"
        for folder in DATA_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in NOT_SHIPPED and "__pycache__" not in path.parts
    }
    assert data, "no data file found: the test would prove nothing"
    assert sorted((modules | data | {"npu_roofline/py.typed"}) - names) == []


def test_the_wheel_runs_without_the_checkout(wheel: Path, tmp_path: Path) -> None:
    """Installed from the wheel alone, the command works: help, the device table and the demo."""
    home = tmp_path / "venv"
    # The libraries come from the environment that runs this test, the package only from the wheel.
    venv.create(home, with_pip=False)
    site = next(home.glob("lib/python*/site-packages"))
    zipfile.ZipFile(wheel).extractall(site)
    libraries = Path(pytest.__file__).parent.parent
    (site / "libraries.pth").write_text(f"{libraries}\n")
    python = home / "bin" / "python"

    def run(*arguments: str) -> str:
        command = [str(python), "-P", "-m", "npu_roofline", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    where = subprocess.run(
        [str(python), "-P", "-c", "import npu_roofline; print(npu_roofline.__file__)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert Path(where.strip()).is_relative_to(site), "the test must run the wheel, not the checkout"
    assert "candidates" in run("--help")
    assert "910B3" in run("devices", "list")
    run("demo", "--folder", "out")
    assert (tmp_path / "out" / "roofline.html").stat().st_size > 100_000
