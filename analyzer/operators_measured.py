"""What was measured beside the kernels: bytes and hit rates for labels, blocks for `explain`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..roofline.measure import MeasuredBytes
from ..roofline.measured_bytes import traffic
from .sqlfiles import sql

if TYPE_CHECKING:
    from .session import Session


@dataclass(frozen=True)
class EngineBlocks:
    """Core times of the blocks of one engine in one launch, us; `slowest` names the block of the longest."""

    engine: str
    blocks: int
    shortest_us: float
    median_us: float
    mean_us: float
    longest_us: float
    slowest: str

    @property
    def imbalance(self) -> float:
        """How much longer the slowest block ran than the mean: 0 = even."""
        return self.longest_us / self.mean_us - 1 if self.mean_us > 0 else 0.0


def operator_bytes(session: Session) -> dict[int, MeasuredBytes]:
    """Measured traffic by signature id; medians where several launches of one kernel were measured."""
    if "operator_bytes" not in session.cache:
        found = {}
        for row in session.rows(sql("operator_bytes.sql"), _selected(session)):
            bytes_ = traffic(
                f"msprof op, {row['launches']} launch{'es' if row['launches'] > 1 else ''}",
                (row["read_hits"], row["read_misses"]),
                (row["write_hits"], row["write_misses"]),
                (row["read_bytes"], row["write_bytes"]),
            )
            if bytes_ is not None:
                found[row["signature_id"]] = bytes_
        session.cache["operator_bytes"] = found
    return session.cache["operator_bytes"]


def hit_rates(session: Session) -> dict[int, float]:
    """Median L2 hit rate by signature id, from l2_cache.csv; kinds of kernel without one are absent."""
    if "hit_rates" not in session.cache:
        rows = session.con.execute(
            "SELECT signature_id, median(hit_rate) FROM l2_cache WHERE run_id = $run AND rank_id = $rank "
            "AND signature_id IS NOT NULL AND hit_rate IS NOT NULL GROUP BY signature_id",
            _selected(session),
        ).fetchall()
        session.cache["hit_rates"] = dict(rows)
    return session.cache["hit_rates"]


def operator_launches(session: Session, signature_id: int) -> list[dict[str, Any]]:
    """The measurements that are of this signature, rows of operator_measurements."""
    return session.rows(
        "SELECT * FROM operator_measurements WHERE run_id = $run AND (rank_id IS NULL OR rank_id = $rank) "
        "AND signature_id = $signature ORDER BY operator_id",
        {**_selected(session), "signature": signature_id},
    )


def block_times(session: Session, operator_id: int) -> list[EngineBlocks]:
    """How evenly the blocks of one launch ran, per engine that has times."""
    rows = session.rows(sql("operator_blocks.sql"), {"run": session.run.run_id, "operator": operator_id})
    return [EngineBlocks(**row) for row in rows]


def _selected(session: Session) -> dict[str, int]:
    return {"run": session.run.run_id, "rank": session.rank_id}
