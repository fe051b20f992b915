"""The rows of `summary --by link`: what collectives moved, over which links, and how long they waited."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LinkRow:
    """One kind of link over the selected steps, as the profiler measured it."""

    key: str  # HCCS, RDMA, PCIE, SIO, SDMA
    collectives: int  # that moved anything over it
    bytes: float
    transit_us: float  # summed over transfers, which run side by side
    gb_s: float | None  # bytes / transit time: bandwidth of one transfer, 1e9 bytes/s
    device_gb_s: float | None  # what one such link of the device moves at most, 1e9 bytes/s
    device_figure: str | None  # the figure of the device table, with its source
    of_device: float | None  # gb_s / device_gb_s
    note: str = ""


@dataclass(frozen=True)
class LinkPairRow:
    """What one rank sent to another over one kind of link."""

    src_rank: int
    dst_rank: int
    link: str
    bytes: float
    transit_us: float
    gb_s: float | None  # 1e9 bytes/s


@dataclass(frozen=True)
class CollectiveRow:
    """All collectives of one kind over the selected steps: elapse = transit + wait + idle."""

    type: str
    kind: str  # collective | p2p
    count: int
    elapse_us: float
    transit_us: float
    wait_us: float  # for other ranks, synchronization included
    synchronization_us: float  # of it, before the first transfer
    idle_us: float
