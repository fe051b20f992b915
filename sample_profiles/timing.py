"""How long a kernel takes and what the pipe counters would show: the model behind every sample number.

    memory_us = bytes that come from or go to HBM / stream rate  (+ prefetched bytes / L2 rate)
    mac_us    = padded FLOPs / (operations per cycle x MHz x cores used) x 1.03
    exec_us   = fixed_us + max(memory_us, mac_us / pace), scattered, + injected slowdown
    Duration  = exec_us + gap_us           (the gap is launch and completion; no pipe runs in it)

Counters follow from the same numbers: busy time of a pipe / core time is its ratio, cycles are core time x
MHz x cores, cube_utilization is cycles / (cores x MHz x Duration). So no kernel can beat its floor, and the
export's own arithmetic gives back the chip.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .noise import between, scatter
from .scenario import Change, Chip, Cube, Experts, Kernel, Scenario

AIC_PIPES = ("mac", "scalar", "mte1", "mte2", "fixpipe")
AIV_PIPES = ("vec", "scalar", "mte2", "mte3")
CUBE_CORES = ("AI_CORE", "MIX_AIC")
VECTOR_CORES = ("AI_VECTOR_CORE", "MIX_AIV", "MIX_AIC", "COMMUNICATION")

# The cube works on 16 rows and columns; K is padded to 32 bytes. Measured cube FLOPs are 2-8 % above those
# that the shapes give, which the last factor stands for.
_FRACTAL = 16
_K_PADDING = {"INT8": 32, "DT_BF16": 16, "FLOAT16": 16, "FLOAT": 8}
_CUBE_OVERHEAD = 1.03

# The device counter ticks every 20 ns and runs a hair slow, which is where exports get their odd last digits.
_TICK_NS = 20
_TICKS_PER_SLIP = 1333


def to_ticks(us: float) -> int:
    """Device ticks of a time in us, half up (round() goes to even, and the two differ on exact halves)."""
    return int(us * 1000 / _TICK_NS + 0.5)


def to_ns(ticks: int) -> int:
    """What the exporter writes for a number of ticks, in ns."""
    return ticks * _TICK_NS + ticks // _TICKS_PER_SLIP


@dataclass(frozen=True)
class Timed:
    """One occurrence: Duration in device ticks; counters (us, 0..1, cycles), empty for other engines."""

    ticks: int
    pmu: Mapping[str, float]


def run(kernel: Kernel, scenario: Scenario, step: int, layer: int | None, order: int) -> Timed:
    """The occurrence of `kernel` at place `order` of a step; the place gives it a scatter of its own."""
    chip, change, seed = scenario.chip, scenario.change, scenario.name
    experts = _experts_hit(kernel.experts, scenario.workload, step, layer)
    mac_us = _mac_us(kernel, chip, experts)
    memory_us = _memory_us(kernel, change, experts)
    body_us = max(memory_us, mac_us / kernel.cube_pace)
    exec_us = (kernel.fixed_us + body_us) * scatter(kernel.noise, seed, kernel.key, step, layer, order)
    exec_us += change.slower_us.get(kernel.key, 0.0)
    gap_us = kernel.gap_us * scatter(0.05, seed, "gap", kernel.key, step, layer, order)
    # The counter is read in ticks, so utilisation is of the Duration that is exported.
    ticks = to_ticks(exec_us + gap_us)
    duration_us = to_ns(ticks) / 1000
    return Timed(
        ticks,
        _counters(kernel, chip, exec_us, duration_us, mac_us, memory_us, (seed, step, layer, order)),
    )


def _experts_hit(experts: Experts | None, workload: str, step: int, layer: int | None) -> int:
    """Router outcome of one layer and step: the same for both expert products and for every capture."""
    if experts is None:
        return 1
    low, high = experts.hit
    return int(between(low, high + 1, workload, "experts", step, layer))


def _mac_us(kernel: Kernel, chip: Chip, experts: int) -> float:
    if kernel.cube is None:
        return 0.0
    rate = chip.ops_per_cycle[kernel.cube.dtype] * chip.clock_mhz * min(kernel.block, chip.cube_cores)
    return experts * _padded_flops(kernel.cube) / rate * _CUBE_OVERHEAD


def _padded_flops(cube: Cube) -> int:
    k = _up(cube.k, _K_PADDING[cube.dtype])
    return 2 * cube.batch * _up(cube.m, _FRACTAL) * _up(cube.n, _FRACTAL) * k


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


def _memory_us(kernel: Kernel, change: Change, experts: int) -> float:
    if kernel.stream_gb_s is None:
        return 0.0
    total = hbm_bytes(kernel, experts)
    prefetched = change.prefetched_bytes.get(kernel.key, 0)
    from_hbm_us = (total - prefetched) / (kernel.stream_gb_s * 1e3)
    return from_hbm_us + (prefetched / (change.l2_gb_s * 1e3) if prefetched else 0.0)


def hbm_bytes(kernel: Kernel, experts: int = 1) -> int:
    """Bytes that one occurrence moves: every operand once, unless the scenario says which part is touched."""
    read = kernel.read_bytes
    if read is None:
        read = sum(operand.bytes for operand in kernel.inputs or ())
    write = kernel.write_bytes
    if write is None:
        write = sum(operand.bytes for operand in kernel.outputs or ())
    return read + write + (experts * kernel.experts.bytes if kernel.experts else 0)


def _counters(
    kernel: Kernel,
    chip: Chip,
    exec_us: float,
    duration_us: float,
    mac_us: float,
    memory_us: float,
    where: tuple,
) -> dict[str, float]:
    pmu: dict[str, float] = {}
    derived: dict[str, float] = {}
    if kernel.core in CUBE_CORES:
        aic_us = exec_us * kernel.aic_share
        derived = {
            "aic_mac": mac_us / aic_us if kernel.cube else 0.0,
            "aic_mte2": kernel.load_share * memory_us / aic_us,
        }
        cores = kernel.aic_cores or min(kernel.block, chip.cube_cores)
        cycles = round(aic_us * chip.clock_mhz * cores)
        utilization = 100.0 * cycles / (chip.cube_cores * chip.clock_mhz * duration_us)
        pmu |= {"aicore_time": aic_us, "aic_total_cycles": cycles, "cube_utilization": utilization}
        pmu |= _pipes("aic", AIC_PIPES, aic_us, kernel, derived, where)
    if kernel.core in VECTOR_CORES and (kernel.core != "MIX_AIC" or kernel.mix_block):
        aiv_us = exec_us * kernel.aiv_share
        cores = kernel.aiv_cores or kernel.mix_block or kernel.block
        pmu |= {"aiv_time": aiv_us, "aiv_total_cycles": round(aiv_us * chip.clock_mhz * cores)}
        pmu |= _pipes("aiv", AIV_PIPES, aiv_us, kernel, {}, where)
    return pmu


def _pipes(
    engine: str,
    pipes: tuple[str, ...],
    core_us: float,
    kernel: Kernel,
    derived: Mapping[str, float],
    where: tuple,
) -> dict[str, float]:
    shares = {f"{engine}_{pipe}": 0.0 for pipe in pipes} | dict(derived)
    for name, base in kernel.ratio.items():
        if name in shares:
            shares[name] = base * scatter(0.03, name, kernel.key, *where)
    busy = {f"{name}_ratio": min(share, 0.999) for name, share in shares.items()}
    times = {f"{name}_time": min(share, 0.999) * core_us for name, share in shares.items()}
    miss = kernel.ratio.get(f"{engine}_icache_miss", 0.02) * scatter(
        0.2, engine, "icache", kernel.key, *where
    )
    return busy | times | {f"{engine}_icache_miss_rate": miss}
