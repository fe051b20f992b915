"""One row as the exporter spells it: TAB after the start, quotes in shape cells, N/A where it writes N/A."""

from __future__ import annotations

from .scenario import Capture, Operand
from .timeline import Row

NOT_AVAILABLE = "N/A"
_NO_PMU_CORES = ("AI_CPU",)
_MIX_CORES = ("MIX_AIC", "MIX_AIV")


def cells(row: Row, capture: Capture) -> dict[str, str]:
    """Header -> cell text, for the headers of every generation and the PMU block."""
    if capture.generation == "level0":
        return _times(row) | _level0(row)
    return _identity(row, capture) | _times(row) | _shapes(row) | _counters(row)


def _times(row: Row) -> dict[str, str]:
    start_us, start_ns = divmod(row.start_ns, 1000)
    return {
        "Start Time(us)": f"{start_us}.{start_ns:03d}\t",
        "Duration(us)": f"{row.duration_ns / 1000:.3f}",
        "Wait Time(us)": f"{row.wait_ns / 1000:.6f}",
    }


def _level0(row: Row) -> dict[str, str]:
    unknown = {"Type": NOT_AVAILABLE, "Accelerator Core": NOT_AVAILABLE}
    return {"Step Id": str(row.step), "Name": row.name, **unknown, "Block Dim": "0"}


def _identity(row: Row, capture: Capture) -> dict[str, str]:
    kernel = row.kernel
    block, mix_block = str(kernel.block), str(kernel.mix_block)
    if row.shadow:
        block = "0"
        mix_block = "0" if kernel.core in _NO_PMU_CORES else NOT_AVAILABLE
    return {
        "Step Id": str(row.step),
        "Device_id": str(capture.device_id),
        "Model ID": str(row.model),
        "Task ID": _optional(row.task),
        "Stream ID": _optional(row.stream),
        "Name": row.name,
        "Type": kernel.type,
        "OP State": NOT_AVAILABLE if row.shadow else kernel.state,
        "Accelerator Core": kernel.core,
        "Block Num": block,
        "Block Dim": block,
        "Mix Block Num": mix_block,
        "Mix Block Dim": mix_block,
        "HF32 Eligible": NOT_AVAILABLE if row.shadow else "NO",
        "Context ID": "0" if kernel.core in _MIX_CORES else NOT_AVAILABLE,
    }


def _optional(value: int | None) -> str:
    return NOT_AVAILABLE if value is None else str(value)


def _shapes(row: Row) -> dict[str, str]:
    result: dict[str, str] = {}
    for side, operands in (("Input", row.kernel.inputs), ("Output", row.kernel.outputs)):
        known = None if row.shadow else operands
        result |= {
            f"{side} Shapes": NOT_AVAILABLE if known is None else '"' + ";".join(map(_dims, known)) + '"',
            f"{side} Data Types": NOT_AVAILABLE if known is None else ";".join(o.dtype for o in known),
            f"{side} Formats": NOT_AVAILABLE if known is None else ";".join(o.format for o in known),
        }
    return result


def _dims(operand: Operand) -> str:
    return "" if operand.dims is None else ",".join(map(str, operand.dims))


def _counters(row: Row) -> dict[str, str]:
    """Cores that did not run show zeros; host-engine rows and the second row of a pair show N/A."""
    absent = row.shadow or row.kernel.core in _NO_PMU_CORES
    result: dict[str, str] = {}
    for name, zero in _ZEROS.items():
        if absent:
            result[name] = NOT_AVAILABLE
        else:
            value = row.pmu.get(name.removesuffix("(us)").removesuffix("(%)"))
            result[name] = zero if value is None else _number(name, value)
    return result


def _number(name: str, value: float) -> str:
    if name.endswith("cycles"):
        return str(int(value))
    return f"{value:.3f}" if name.endswith("(%)") else repr(round(value, 3))


def _zeros() -> dict[str, str]:
    names = ["aicore_time(us)", "aic_total_cycles", "aic_icache_miss_rate", "cube_utilization(%)"]
    names += ["aiv_time(us)", "aiv_total_cycles", "aiv_icache_miss_rate"]
    for engine, pipes in (
        ("aic", ("mac", "scalar", "mte1", "mte2", "fixpipe")),
        ("aiv", ("vec", "scalar", "mte2", "mte3")),
    ):
        names += [f"{engine}_{pipe}_{part}" for pipe in pipes for part in ("time(us)", "ratio")]
    return {
        name: "0" if name.endswith("cycles") else "0.000" if name.endswith("(%)") else "0.0" for name in names
    }


_ZEROS = _zeros()
