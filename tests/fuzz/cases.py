"""One number is one damaged export: which base, which file, which mutations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.fuzz.bases import BASES, base
from tests.fuzz.mutate import CSV_MUTATIONS, JSON_MUTATIONS
from tests.fuzz.mutate_database import DATABASE_MUTATIONS
from tests.fuzz.mutate_trace import TRACE_MUTATIONS

MUTATIONS = {".csv": CSV_MUTATIONS, ".json": JSON_MUTATIONS, ".db": DATABASE_MUTATIONS}
# Files that three in four cases damage: the kernels; where a base is there for what stands beside them, that.
_MAIN = {
    False: ("kernel_details", "op_summary", ".db", "trace_view"),
    True: (
        "trace_view",
        "details",
        "statistic",
        "l2_cache",
        "memory",
        "task_time",
        "communication",
        "info.json",
    ),
}


@dataclass(frozen=True)
class Case:
    """A damaged export and how it came about."""

    seed: int
    name: str
    file: str
    mutations: tuple[str, ...]
    files: dict[str, bytes]

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.name}/{self.file}: {', '.join(self.mutations)}"

    def write(self, folder: Path) -> Path:
        """Writes the export into `folder` and returns the profile directory."""
        root = folder / f"case_{self.seed}_ascend_pt"
        for path, data in self.files.items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        return root


def _suffix(file: str) -> str:
    return next(each for each in MUTATIONS if each in Path(file).name)


def case(seed: int) -> Case:
    """The damaged export of this number; three in four have damaged kernels, or what stands beside them."""
    random = Random(seed)
    name = random.choice(BASES)
    files = dict(base(name))
    tables = sorted(path for path in files if any(word in path for word in _MAIN[name in ("trace", "host")]))
    file = random.choice(tables) if tables and random.random() < 0.75 else random.choice(sorted(files))
    mutations = TRACE_MUTATIONS if "trace_view" in file else MUTATIONS[_suffix(file)]
    chosen = [random.choice(mutations) for _ in range(random.choice((1, 1, 1, 2, 3)))]
    for mutation in chosen:
        files[file] = mutation(files[file], random)
    return Case(seed, name, file, tuple(mutation.__name__ for mutation in chosen), files)
