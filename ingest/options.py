"""Every limit and waiting time of the ingest room, each with its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class IngestOptions:
    """Limits of reading and landing; the defaults are what the command line uses."""

    # A reader waits for a landing, a landing for another: the longest landing measured (10M kernels) is some
    # seconds, so ten tell "busy for a moment" from "busy".
    lock_wait_s: float = 10.0
    lock_poll_s: float = 0.1
    # DuckDB keeps insertion order with several threads only if a quarter of its memory limit holds 4 MiB per
    # column and further thread; below that it reads with one (measured on 2.0.1: 768 MiB for 48 columns, two
    # threads).
    memory_per_column_mib: int = 16
    # Columns of the longest header (generation D with PipeUtilization: 47) and what reading adds to it.
    columns_to_read: int = 58
    # Enough for everything else; DuckDB spills to the temporary folder beyond it.
    memory_limit_mib: int = 800
    # Reading is bound by memory traffic beyond a few threads, and each takes memory.
    threads_limit: int = 4
    # Rows of one block: half of DuckDB's default, because a kernel has 117 columns and each block is in
    # memory whole, per thread, while it is written (measured: 590 -> 490 MB at a million rows).
    row_group_rows: int = 61_440
    # The longest real kernel row is about 2 kB; a longer line than this is no row of a kernel table.
    line_limit_bytes: int = 1 << 20
    # A header has at most about 60 names.
    header_limit_bytes: int = 1 << 16
    # From here on a file is held against what it takes on the disk. File systems that compress store text in
    # a tenth of its size; in a hundredth only what is not there.
    hollow_file_bytes: int = 256 << 20
    hollow_share: float = 0.01
    # How much of a rejected row is kept, to recognise it by.
    reject_text_limit: int = 400
    # A day in one kernel (a collective gives up after half an hour), or a start after the year 2262 (2^63
    # ns), is damage, not a measurement.
    duration_limit_us: float = 86_400e6
    start_limit_us: int = 9_200_000_000_000_000
    # Captures last seconds to minutes. A lost start time is 0, a damaged one of another year; the steps of
    # one capture are never a day apart.
    far_start_days: float = 1.0
    # No pipe is busy for longer than its core, no core for longer than its kernel; rounding takes a little.
    counter_limit: float = 1.05
    # Rows with less cube utilization carry too few digits of it for cores x MHz (formats.md 11).
    evidence_min_utilization_pct: float = 1.0
    # Clocks of Ascend cores: 800 MHz idle, 900 (2019) to 1850 (devices.md 3); anything else is no clock.
    clock_min_mhz: float = 700.0
    clock_max_mhz: float = 2500.0
    # step_trace_time.csv may describe more than the kernel table holds (an excerpt). The exporter's own
    # Computing and the kernels differ by 1 to 2 % in complete captures, by a factor in an excerpt.
    trace_difference_share: float = 0.1
    # Small JSON and CSV files of an export are kilobytes; a bigger one is not what its name says.
    small_file_limit_bytes: int = 64 << 20
    # Rows of one Arrow batch out of a profiler database: larger is no faster and holds more objects.
    arrow_batch_rows: int = 65_536
    # The longest text in a profiler database is a call stack or a shape list of some kilobytes.
    cell_limit_bytes: int = 16 << 20
    # Cycles per unit of core time: about 1.8 where the unit is ns, 1800 where it is us; nothing is between.
    cycles_per_ns_limit: float = 50.0
    # Sums of op_statistic.csv are rounded to 2 or 3 decimals: in real captures they differ by less than a
    # thousandth, in an excerpt by whole kernels.
    statistics_share: float = 0.001
    # The smallest A2/A3 part has 20 cubes and 40 vector cores: of so many blocks, each has a core of its own.
    opprof_certain_cubes: int = 20
    opprof_certain_vectors: int = 40
    # An operator measured alone finds another L2 than in the model: half as long again may be the same
    # work, twice as long is another.
    operator_duration_ratio: float = 1.5
    # A kernel of n blocks takes whole rounds of the cores; rounds further from a whole number say nothing.
    rounds_tolerance: float = 0.01
    # A trace is read in pieces of about this size: DuckDB parses one per thread at a time, and smaller ones
    # cost more calls (measured: 0.25 MiB is half again as slow, 4 MiB holds 100 MB more).
    trace_piece_bytes: int = 1 << 20
    # The longest event holds a call stack of some hundred kilobytes; JSON without end is no event.
    trace_event_limit_bytes: int = 16 << 20
    # Real traces pack 10 to 40 fold.
    trace_packing_limit: int = 400


DEFAULTS = IngestOptions()
