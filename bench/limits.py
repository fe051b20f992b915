"""What must hold, with its source: the project's own requirements on speed and memory."""

from __future__ import annotations

from dataclasses import dataclass

# Ingest, classify and candidates together against DuckDB reading the same file into a table.
PIPELINE_RATIO = 3.0
PEAK_BYTES = 1.2e9
# A profiler database of 100,000 kernels against an Arrow scan of its PMU table into DuckDB.
DATABASE_RATIO = 3.0
# A trace of 465 MB against DuckDB reading the same fields, and its peak memory against the size of the file.
TRACE_RATIO = 3.0
TRACE_MEMORY_RATIO = 1.5
CANDIDATES_SECONDS = 1.0
# 500,000 kernels a side.
COMPARE_SECONDS = 5.0
HELP_SECONDS = 0.15
# Ten times the rows may take ten times as long, with this for noise.
LINEAR_SLACK = 1.2


@dataclass(frozen=True)
class Check:
    """One measured number against its limit, both in `unit`."""

    what: str
    measured: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether the number is within the limit."""
        return self.measured <= self.limit


def missed(checks: list[Check]) -> list[Check]:
    """The checks whose limit is broken."""
    return [check for check in checks if not check.met]


def table(checks: list[Check]) -> str:
    """The checks as text, one line each."""
    lines = [f"{'':<58} {'measured':>10} {'limit':>10}"]
    for check in checks:
        mark = "ok" if check.met else "MISSED"
        lines.append(f"{check.what:<58} {check.measured:>10.3f} {check.limit:>10.3f} {check.unit:<9} {mark}")
    return "\n".join(lines)
