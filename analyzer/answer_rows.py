"""The rows of `hotspots`, `summary`, `runs`, `ingest` and `devices`, units beside every field."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class HotspotRow:
    """One signature over the selected steps: its time, its label and the work behind the label."""

    id: str  # 'k-' + first 8 hex digits of the signature id
    type: str
    core: str | None
    input_shapes: str | None  # without the export's quotes; None = not recorded, '' = scalar
    input_dtypes: str | None
    input_formats: str | None
    count: int  # calls over the selected steps
    total_us: float  # summed duration over the selected steps
    median_us: float | None  # of the rows with a duration above 0; None = no such row, so not measured
    p10_us: float | None
    p90_us: float | None
    share: float | None  # of the summed AI-core kernel time, 0..1; None for communication rows
    bound: str  # memory | compute | latency | communication | other | unknown
    limiter: (
        str  # hbm, l2, mte2, store | cube, vector | launch, scalar, underparallel, pipeline | link | reason
    )
    confidence: str  # high | medium | low
    reason: str  # one sentence with the numbers
    flops: float | None  # operations per call, as the shapes say; padded capacity and masks included
    flops_hi: float | None  # the most it can be
    bytes_lo: int | None  # what is certain, each byte once: one expert, touched rows, no KV pool
    bytes_hi: int | None  # every listed operand: all experts, the whole pool
    weight_bytes: int | None  # storage bytes, NZ padding included
    arithmetic_intensity: float | None  # FLOPs that are certain / bytes_lo
    ridge: float | None  # operations per byte where the compute and HBM roofs meet
    floor_us: float | None  # cannot be beaten; launch overhead is not in it
    headroom_us: float | None  # median - floor, never below 0
    potential_us: (
        float | None
    )  # summed duration above the achievable roof (eff 0.85), over the selected steps
    achieved_tflops: float | None  # FLOPs that are certain / median, 1e12 per second
    achieved_gb_s: float | None  # bytes_lo / median, 1e9 bytes per second; never from bytes_hi
    hbm_fraction: float | None  # achieved_gb_s / nominal HBM bandwidth
    flops_lo: float | None = None  # operations that are certain; achieved_tflops and intensity use these
    step_us: float | None = None  # median over steps of the summed duration in a step: the order of the rows
    signature_id: str = ""  # 16 hex digits
    family: str = ""  # matmul, grouped_matmul, attention, norm, …
    outcome: str = ""  # resolved | upper_bound | unresolved
    output_shapes: str | None = None
    block: int | None = None  # mode over the rows
    achieved_gb_s_hi: float | None = (
        None  # bytes_hi / median; an upper bound, shown beside achieved_gb_s, never alone
    )
    anomaly: str | None = None  # names what cannot be right about the row; such a row is no finding
    notes: tuple[str, ...] = ()
    torch_op: str | None = None  # commonest operator that launched it; None = no trace, or it does not say
    source: str | None = None  # source line of that: file(line): function; None = not recorded


@dataclass(frozen=True)
class SummaryRow:
    """Time of one bound, type, stream, rank or step."""

    key: str  # e.g. 'memory/hbm', 'MatMulV3', 'stream 166', 'rank 0', 'step 4'
    kernels: int  # counted rows over the selected steps
    total_us: float  # summed duration over the selected steps
    share: float | None  # of the summed step_us of all rows (by step or rank: of total_us), 0..1
    step_us: float | None  # median over steps of the summed duration in a step; outlier steps do not move it
    aicore_us: float  # part of total_us on AI cores
    communication_us: float  # part of total_us that is communication
    potential_us: float | None = (
        None  # summed duration above the achievable roof; None where no kernel has a roof
    )
    busy_us: float | None = None  # union over time, where the key is a stream, rank or step
    wall_us: float | None = None  # span of the key's kernels, where the key is a stream, rank or step
    note: str = ""


@dataclass(frozen=True)
class RankSummaryRow(SummaryRow):
    """Time of one rank: `busy_us`, `wall_us` and the times per step are medians over its selected steps.

    Ranks of one job wait for each other in collectives, so their walls are alike: a slow rank is known by its
    AI-core time, and by the others' longer communication.
    """

    rank: int = 0
    device_id: int | None = None  # the card in its host, which is not the rank
    aicore_step_us: float | None = None
    communication_step_us: float | None = None
    wall_of_median: float | None = None  # wall_us over that of the median rank; None for a single rank
    aicore_of_median: float | None = None  # aicore_step_us over that of the median rank


@dataclass(frozen=True)
class StepRow:
    """One step: wall = busy + idle, busy = union over counted AI-core and communication rows."""

    step_id: int
    wall_us: float  # first counted start to last counted end
    busy_us: float
    idle_us: float
    idle_share: float  # idle / wall
    kernels: int
    aicore_us: float  # summed durations; may exceed busy where streams overlap
    communication_us: float
    other_engine_us: float  # AI_CPU, DSA: apart, in no busy total
    gap_before_us: float | None  # from the end of the previous step to this start; None for the first
    phase: str  # prefill | decode | train | unknown
    outlier: bool  # wall is far from the median of the steps (options.outlier_step_ratio)
    trace_computing_us: float | None = None  # step_trace_time.csv, as exported
    trace_communication_us: float | None = None  # not overlapped
    trace_free_us: float | None = None
    trace_wall_us: float | None = None  # computing + communication not overlapped + free
    difference_us: float | None = None  # trace_wall_us - wall_us
    trace_agrees: bool | None = None  # None when there is no step trace
    note: str = ""
    short_gaps_us: float | None = None  # part of idle in gaps below options.idle_gap_us: launch gaps


@dataclass(frozen=True)
class StepSpread:
    """Medians over the selected steps, so that one slow step does not move them."""

    steps: int
    wall_us: float
    busy_us: float
    idle_us: float
    idle_share: float  # median of idle / wall
    aicore_us: float
    communication_us: float
    outlier_steps: tuple[int, ...]


@dataclass(frozen=True)
class KernelRef:
    """A kernel as a neighbour or an example: enough to find it again."""

    kernel_id: int
    name: str
    type: str
    stream_id: int | None = None
    duration_us: float | None = None


@dataclass(frozen=True)
class IdleRow:
    """A stretch of a step in which little or nothing runs; `kernels` short ones may run inside it."""

    step_id: int | None  # None = between two steps
    kind: str  # 'step' inside a step | 'between' two steps
    start_us: float  # from the start of the step; negative for 'between': before the following step starts
    span_us: float  # idle + busy
    idle_us: float
    busy_us: float
    kernels: int  # that run inside the stretch
    share_of_step: float | None  # idle_us / wall of the step
    before: KernelRef | None  # the last kernel that ends before it; None at the start of a step
    after: KernelRef | None  # the first that starts after it; None at the end of a step
    other_engine_us: float | None = None  # AI_CPU, DSA and others inside the stretch; in no busy total
    in_steps: int = 1  # selected steps that have a stretch between kernels of the same two types
    occurrences: int = 1  # such stretches in the selected steps; the row is the one of middle length
    place_idle_us: float | None = None  # idle time of all of them together: the order of the rows
    longest_us: float | None = None  # idle time of the longest of them: one late step is not hidden
    longest_step_id: int | None = None
    following_step: int | None = None  # for 'between'


@dataclass(frozen=True)
class OtherEngineRow:
    """Rows of AI_CPU, DSA and other engines, listed apart: in no roofline and no busy total."""

    type: str
    core: str | None
    kernel_class: str
    kernels: int
    total_us: float
    idle_us: float  # part of it inside device idle time of a step: at most so much can anything wait for it
    next_type: str | None  # most frequent kernel behind one that ended in idle time; None = none did
    next_times: int  # how often that kernel did
    next_after_us: float | None  # median time from the end to that kernel's start


@dataclass(frozen=True)
class QuestionRow:
    """One question that a run can or cannot answer, and what would have to be recorded."""

    question: str
    status: str  # yes | partly | no
    evidence: str
    missing: str
    how_to_record: str


@dataclass(frozen=True)
class RankRow:
    """One rank of a run: what its folder holds, also when there are no kernels in it."""

    rank: int
    label: str
    device_id: int | None
    has_kernels: bool
    kernels: int
    steps: int
    holds: tuple[str, ...]  # kinds of files found
    metric_mode: str | None
    level: str | None
    path: str


@dataclass(frozen=True)
class RunRow:
    """One run in the database."""

    name: str
    run_id: int
    ingested_at: str  # ISO 8601, UTC
    ranks: int
    ranks_with_kernels: int
    kernels: int
    steps: int
    rows_rejected: int
    metric_modes: tuple[str, ...]
    device: str | None  # as `devices detect` would say
    source_paths: tuple[str, ...]


@dataclass(frozen=True)
class IngestRow:
    """One file that `ingest` met: rows in = kept + rejected, always."""

    rank: int | None
    path: str
    kind: str
    status: str  # read | not_read_yet | ignored | failed
    rows_read: int | None
    rows_kept: int | None
    rows_rejected: int | None
    note: str | None


@dataclass(frozen=True)
class RejectRow:
    """One row of an export that could not be read, with its place and text."""

    rank: int | None
    file: str
    line: int
    reason: str
    text: str  # as it stands in the file


@dataclass(frozen=True)
class DeviceListRow:
    """One device of the hardware table, in one line."""

    soc: str
    title: str
    family: str
    aliases: tuple[str, ...]
    cube_cores: int | None
    vector_cores: int | None
    clock_mhz: float | None
    hbm_gb_s: float | None  # nominal, 1e9 bytes/s
    hbm_max_gb_s: float | None
    l2_mib: float | None  # MiB (2**20 bytes)
    fp16_tflops: float | None  # cube peak, derived from cores x clock x operations per cycle
    int8_tops: float | None
    confidence: str  # the lowest of cores, clock and HBM bandwidth


@dataclass(frozen=True)
class EvidenceRow:
    """One thing that the export says about the chip it was recorded on."""

    evidence: str
    value: str | None  # None = the export does not say
    source: str  # the columns it was worked out from
    says: str  # what follows


@dataclass(frozen=True)
class DeviceRow:
    """One number of one device with where it comes from."""

    soc: str
    quantity: str
    value: float | str | None
    unit: str
    source: str
    confidence: str
