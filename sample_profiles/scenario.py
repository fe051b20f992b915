"""What a scenario file says: the chip, the kernels with their shapes and speeds, and the order they run in.

One TOML file is one workload. Its `[variants.*]` are captures of the same workload with something changed, so
that a before/after pair cannot drift apart in anything but the change.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

# Bytes per element as the exporter spells the types; sources: the dtypes of formats that exports show.
ITEM_BYTES = {
    "INT8": 1,
    "UINT8": 1,
    "BOOL": 1,
    "DT_BF16": 2,
    "FLOAT16": 2,
    "FLOAT": 4,
    "INT32": 4,
    "INT64": 8,
    "UINT64": 8,
}


@dataclass(frozen=True)
class Chip:
    """The device the timing model runs on. `ops_per_cycle`: operations per cube core and cycle, by dtype."""

    cube_cores: int
    clock_mhz: int
    hbm_gb_s: float
    ops_per_cycle: Mapping[str, int]


@dataclass(frozen=True)
class Operand:
    """One tensor slot; `dims` is None for an empty slot, () for a scalar."""

    dims: tuple[int, ...] | None
    dtype: str
    format: str

    @property
    def bytes(self) -> int:
        """Storage size, NZ padding included."""
        return 0 if self.dims is None else prod(self.dims) * ITEM_BYTES[self.dtype]


@dataclass(frozen=True)
class Cube:
    """One matrix product; rows are counted per expert when the kernel reads experts."""

    m: int
    k: int
    n: int
    dtype: str
    batch: int = 1


@dataclass(frozen=True)
class Experts:
    """How many experts an occurrence hits (inclusive range) and the weight bytes of one."""

    bytes: int
    hit: tuple[int, int]


@dataclass(frozen=True)
class Kernel:
    """One kernel of the sequence: identity, shapes, and the speeds that give its time.

    Times are us, rates GB/s (1e9). `ratio` holds busy shares of the pipes that the model does not derive.
    """

    key: str
    type: str
    core: str
    name: str = ""
    state: str = "static"
    stream: int | None = None
    block: int = 0
    mix_block: int = 0
    inputs: tuple[Operand, ...] | None = None
    outputs: tuple[Operand, ...] | None = None
    cube: Cube | None = None
    cube_pace: float = 1.0
    experts: Experts | None = None
    read_bytes: int | None = None
    write_bytes: int | None = None
    stream_gb_s: float | None = None
    load_share: float = 0.93
    fixed_us: float = 1.0
    gap_us: float = 1.0
    noise: float = 0.01
    wait_us: tuple[float, float] = (0.0, 0.16)
    aic_share: float = 1.0
    aiv_share: float = 1.0
    aic_cores: int | None = None
    aiv_cores: int | None = None
    ratio: Mapping[str, float] = field(default_factory=dict)
    collective: str = ""


@dataclass(frozen=True)
class Side:
    """A row beside the sequence: host-side tiling on a stream of its own, anchored at a kernel."""

    type: str
    core: str
    stream: int
    anchor: tuple[str, ...]
    offset_us: tuple[float, float]
    duration_us: tuple[float, float]


@dataclass(frozen=True)
class Capture:
    """How the profiler saw it: steps, streams, ids, the header generation of the exporter."""

    generation: str
    first_step: int
    steps: int
    layers: int
    start_ns: int
    main_stream: int
    step_gap_us: float
    device_id: int = 0
    model_id: int = 4294967295
    numbered_names: bool = False
    line_end: str = "\n"
    level: str = "Level1"
    torch_npu_version: str = ""
    cann_version: str = ""
    parallel: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """What a variant injects: bytes that arrive from L2, kernels that get slower, one long wait."""

    prefetched_bytes: Mapping[str, int] = field(default_factory=dict)
    l2_gb_s: float = 0.0
    slower_us: Mapping[str, float] = field(default_factory=dict)
    stall_us: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Scenario:
    """Everything that decides the bytes of one profile directory.

    `name` seeds the noise of a capture; `workload` what captures of the same prompts share (the router).
    """

    name: str
    workload: str
    chip: Chip
    capture: Capture
    kernels: Mapping[str, Kernel]
    before: tuple[str, ...]
    layer: tuple[str, ...]
    after: tuple[str, ...]
    sides: tuple[Side, ...]
    change: Change


def load_scenario(file: str, variant: str) -> Scenario:
    """Reads `file` (a TOML beside this module) and applies its variant.

    Raises KeyError or TypeError for a field that does not exist: scenario files are part of the package,
    so that is a programming error, found by the tests.
    """
    raw = tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8"))
    tables: dict[str, dict[str, Any]] = raw["kernels"]
    changed = raw["variants"][variant]
    return Scenario(
        name=variant,
        workload=file,
        chip=Chip(**raw["chip"]),
        capture=replace(Capture(**raw["capture"]), **changed.pop("capture", {})),
        kernels={key: _kernel(key, tables) for key in tables},
        before=tuple(raw["sequence"].get("before", ())),
        layer=tuple(raw["sequence"]["layer"]),
        after=tuple(raw["sequence"].get("after", ())),
        sides=tuple(_side(table) for table in raw.get("sides", ())),
        change=Change(**changed),
    )


def _kernel(key: str, tables: Mapping[str, dict[str, Any]]) -> Kernel:
    table = dict(tables[key])
    if "like" in table:
        table = {**tables[table.pop("like")], **table}
    for side in ("inputs", "outputs"):
        if side in table:
            table[side] = tuple(_operand(text) for text in table[side])
    if "cube" in table:
        table["cube"] = Cube(**table["cube"])
    if "experts" in table:
        table["experts"] = Experts(bytes=table["experts"]["bytes"], hit=tuple(table["experts"]["hit"]))
    if "wait_us" in table:
        table["wait_us"] = tuple(table["wait_us"])
    return Kernel(key=key, **table)


def _side(table: Mapping[str, Any]) -> Side:
    ranges = {name: tuple(table[name]) for name in ("anchor", "offset_us", "duration_us")}
    return Side(**{**table, **ranges})


def _operand(text: str) -> Operand:
    """`4,4096:INT8:ND`; nothing before the first colon is an empty slot, `()` is a scalar."""
    dims, dtype, layout = text.split(":")
    shape = None if dims == "" else () if dims == "()" else tuple(int(d) for d in dims.split(","))
    return Operand(shape, dtype, layout)
