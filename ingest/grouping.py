"""Export files -> ranks: which files are of one process, and which of them count its kernels."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from .profiler_about import database_devices, database_rank
from .run_info import RunInfoFile, read_profiler_info

_PROFILE_FOLDER = re.compile(r".+_ascend_(pt|ms)")
_OUTPUT_FOLDER = "ASCEND_PROFILER_OUTPUT"
_PROF_FOLDER = re.compile(r"PROF_.*")
_EXPORT_TIME = re.compile(r"_(\d{12,})(?=\.(?:csv|db|json)(?:\.gz)?$)")
# In the order in which one is preferred: torch_npu builds its database on that of msprof.
DATABASE_KINDS = ("profiler_database", "msprof_database")


@dataclass
class FoundFile:
    """One export file; a note says why it is ignored, None while nothing speaks against reading it."""

    path: Path
    kind: str
    role: str
    ignored: str | None = None


@dataclass(frozen=True)
class OneDevice:
    """One device of a database that holds several; the `first` also gets what names no device."""

    device: int
    first: bool


@dataclass
class FoundRank:
    """The files of one process: the folder they were found in, its number and its name for people."""

    root: Path
    files: list[FoundFile] = field(default_factory=list)
    rank_id: int = 0
    label: str = ""
    info: RunInfoFile | None = None
    only: OneDevice | None = None
    notes: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[FoundFile]:
        """Files of one kind that are to be read, in path order."""
        return [file for file in self.files if file.kind == kind and file.ignored is None]

    @property
    def kernel_files(self) -> list[FoundFile]:
        """The files that hold the kernels of this rank; empty when there are none."""
        return [file for file in self.files if file.role == "kernels" and file.ignored is None]

    @property
    def counter_files(self) -> list[FoundFile]:
        """Databases of which only the sampled counters are read, because a text export has the kernels."""
        return [file for file in self.files if file.role == "counters" and file.ignored is None]

    @property
    def trace_files(self) -> list[FoundFile]:
        """Traces read beside a kernel table: what launched the kernels, and what else ran on the device."""
        return [file for file in self.files if file.role == "trace" and file.ignored is None]

    @property
    def large_files(self) -> list[FoundFile]:
        """The files that take long enough to read for the profiler to be still writing them."""
        return [*self.kernel_files, *self.counter_files, *self.trace_files]

    @property
    def holds(self) -> list[str]:
        """Kinds of files found, sorted."""
        return sorted({file.kind for file in self.files})


def is_database(file: FoundFile) -> bool:
    """Whether the kernels of a file stand in a database, not in text."""
    return file.kind in DATABASE_KINDS


def group(files: list[FoundFile]) -> tuple[list[FoundRank], list[FoundFile], list[str]]:
    """(ranks by number, files of no rank, notes): one folder is one rank, its number the profiler's own."""
    roots: dict[Path, FoundRank] = {}
    others = []
    for file in sorted(files, key=lambda each: _natural(each.path)):
        if file.role == "operator" or file.kind == "opprof":
            others.append(file)
            continue
        root = _root(file.path)
        roots.setdefault(root.resolve(), FoundRank(root)).files.append(file)
    ranks = _merged(roots)
    _one_operator_file(others)
    if not any(rank.kernel_files for rank in ranks) and (alone := _operators_alone(others)):
        ranks.append(alone)
        others = []
    notes = []
    for rank in ranks:
        _choose(rank)
        rank.info = _info(rank)
    ranks = [part for rank in ranks for part in _devices_apart(rank)]
    _number(ranks, notes)
    return sorted(ranks, key=lambda rank: rank.rank_id), others, notes


def _devices_apart(rank: FoundRank) -> list[FoundRank]:
    """msprof writes the tasks of all devices of a host into one database: each device is a rank.

    The other files of the folder stay with the first device, which says so.
    """
    databases = [file for file in rank.kernel_files if file.kind == "msprof_database"]
    devices = database_devices(databases[0].path) if databases else []
    if len(devices) < 2:
        return [rank]
    shown = ", ".join(map(str, devices))
    rank.only = OneDevice(devices[0], first=True)
    rank.notes.append(
        f"{databases[0].path.name} holds devices {shown}, a rank each; what names no device is here"
    )
    others = [
        FoundRank(rank.root, [replace(databases[0])], only=OneDevice(device, first=False))
        for device in devices[1:]
    ]
    return [rank, *others]


def _one_operator_file(files: list[FoundFile]) -> None:
    """OpBasicInfo.csv and summary.jsonl of one folder are the same launch."""
    tables = {file.path.parent for file in files if file.path.name.startswith("OpBasicInfo")}
    for file in files:
        if file.path.name == "summary.jsonl" and file.path.parent in tables:
            file.ignored = "OpBasicInfo.csv says the same"


def _operators_alone(files: list[FoundFile]) -> FoundRank | None:
    """Operators of `msprof op` are evidence beside a run; without one they are what was asked about."""
    measured = [file for file in files if file.kind == "opprof_operator" and file.ignored is None]
    if not measured:
        return None
    for file in measured:
        file.role = "kernels"
    folders = [str(file.path.absolute().parent) for file in measured]
    return FoundRank(Path(os.path.commonpath(folders)), files)


def _root(path: Path) -> Path:
    """The folder that stands for the process: the *_ascend_pt, else what holds the output folder."""
    for parent in path.absolute().parents:
        if _PROFILE_FOLDER.fullmatch(parent.name):
            return parent
    for parent in path.absolute().parents:
        if parent.name == _OUTPUT_FOLDER:
            return parent.parent
        if _PROF_FOLDER.fullmatch(parent.name):
            return parent
    return path.absolute().parent


def _merged(roots: dict[Path, FoundRank]) -> list[FoundRank]:
    """A PROF_* folder belongs to the profile around it, unless that has several and no kernel table."""
    for root in sorted(roots, key=lambda path: -len(path.parts)):
        rank = roots[root]
        outer = roots.get(root.parent)
        if outer is None or not _PROF_FOLDER.fullmatch(root.name):
            continue
        siblings = [
            other for other in roots if other.parent == root.parent and _PROF_FOLDER.fullmatch(other.name)
        ]
        if outer.kernel_files or len(siblings) == 1:
            outer.files += rank.files
            del roots[root]
    return list(roots.values())


def _choose(rank: FoundRank) -> None:
    """Mark the files that say again what another one says, so that no kernel is counted twice."""
    details = rank.of("kernel_details")
    summaries = rank.of("op_summary")
    if details and summaries:
        for file in summaries:
            file.ignored = "kernel_details.csv of the same rank holds the same kernels and more columns"
        rank.notes.append("both kernel_details.csv and op_summary were found; kernel_details.csv is read")
    elif summaries:
        _keep_latest(rank, summaries)
    if len(details) > 1:
        best = min(details, key=lambda file: (file.path.parent.name != _OUTPUT_FOLDER, len(file.path.parts)))
        for file in details:
            if file is not best:
                file.ignored = f"{best.path} is the kernel table of this rank"
        rank.notes.append(f"{len(details)} kernel tables were found for one rank; {best.path} is read")
    _choose_database(rank, with_text=bool(details or summaries))
    _choose_trace(rank)
    for kind in sorted({file.kind for file in rank.files if file.role in ("statistics", "host")}):
        _keep_latest(rank, rank.of(kind))


def _choose_database(rank: FoundRank, with_text: bool) -> None:
    """One database of a rank counts; beside a text export, only its counters, which text does not have."""
    _keep_latest(rank, rank.of("msprof_database"))
    databases = [file for kind in DATABASE_KINDS for file in rank.of(kind)]
    for file in databases[1:]:
        file.ignored = f"{databases[0].path} is the database of this rank"
    if databases and with_text:
        databases[0].role = "counters"
    said = rank.of("step_trace_time") and rank.of("communication")
    for file in rank.of("analysis_database")[0 if said else 1 :]:
        file.ignored = (
            "step_trace_time.csv and communication.json say the same"
            if said
            else "another analysis.db of this rank is read"
        )


def _choose_trace(rank: FoundRank) -> None:
    """One trace of a rank is read; its kernels are counted only where nothing else has them."""
    views = sorted(rank.of("trace_view"), key=lambda file: file.path.parent.name != _OUTPUT_FOLDER)
    for file in views[1:]:
        file.ignored = f"{views[0].path} is the trace of this rank"
    for file in rank.of("msprof_trace") if views else ():
        file.ignored = "trace_view.json holds the same tasks, and what the framework did"
    _keep_latest(rank, rank.of("msprof_trace"))
    kernels = rank.kernel_files
    for file in rank.trace_files:
        if not kernels:
            file.role = "kernels"
        elif is_database(kernels[0]):
            file.ignored = f"{kernels[0].path.name} holds what the trace shows"


def _keep_latest(rank: FoundRank, files: list[FoundFile]) -> None:
    """msprof writes the time of the export into the name: of several exports, the last one counts."""
    times = {file.path: match[1] if (match := _EXPORT_TIME.search(file.path.name)) else "" for file in files}
    latest = max(times.values(), default="")
    earlier = [file for file in files if times[file.path] != latest]
    for file in earlier:
        file.ignored = "an earlier export of the same capture"
    if earlier:
        rank.notes.append(f"{len(earlier)} files of earlier exports ({earlier[0].kind}) were left out")


def _info(rank: FoundRank) -> RunInfoFile | None:
    """profiler_info of the rank; of several the last, by name."""
    found = rank.of("profiler_info")
    return read_profiler_info(found[-1].path) if found else None


def _number(ranks: list[FoundRank], notes: list[str]) -> None:
    """A rank has the profiler's number where that is said once; the rest get free ones, in path order."""
    ranks.sort(key=lambda rank: (_natural(rank.root), rank.only.device if rank.only else 0))
    taken: set[int] = set()
    waiting = []
    for rank in ranks:
        said = rank.info.rank_id if rank.info else None
        if said is None and rank.only is None:  # of several devices the database says no rank
            said = next(
                (database_rank(file.path) for file in rank.files if file.kind in DATABASE_KINDS), None
            )
        if said is None or said in taken:
            if said is not None:
                notes.append(
                    f"{rank.root} says it is rank {said}, which another folder is; it got its own number"
                )
            waiting.append(rank)
            continue
        taken.add(said)
        rank.rank_id, rank.label = said, str(said)
    free = iter(number for number in range(len(ranks) + len(taken) + 1) if number not in taken)
    for rank in waiting:
        rank.rank_id = next(free)
        rank.label = rank.root.name if rank.only is None else f"{rank.root.name}, device {rank.only.device}"


def _natural(path: Path) -> tuple:
    """Sort key in which rank_10 comes after rank_2."""
    return tuple(
        (int(piece), "") if piece.isdigit() else (-1, piece)
        for piece in re.split(r"(\d+)", str(path))
        if piece
    )
