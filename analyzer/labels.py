"""Statistics rows -> measured, modelled and labelled groups: where the database meets the roofline.

Python loops over distinct signatures and places here, never over kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..ingest.shapes import parse_operands
from ..roofline.classify import Label, classify
from ..roofline.measure import CUBE_PIPES, VECTOR_PIPES, Measurement
from ..roofline.work import Signature, Work, work_of
from .operators_measured import hit_rates, operator_bytes
from .statistics import measured_columns

if TYPE_CHECKING:
    from .session import Session


# Kernels with one of these flags run in training only; the flags stand in roofline/operators.toml.
TRAINING_FLAGS = frozenset({"gradient", "optimizer"})


@dataclass(frozen=True)
class SignatureRow:
    """The texts of a signature, as the table holds them; None = unknown, '' = scalar."""

    signature_id: int
    type: str | None
    type_source: str
    core: str | None
    kernel_class: str
    hf32: bool | None
    input_shapes: str | None
    input_dtypes: str | None
    input_formats: str | None
    output_shapes: str | None
    output_dtypes: str | None
    output_formats: str | None

    @property
    def hex_id(self) -> str:
        """The signature id as 16 hex digits; ids of answers start with the first 8."""
        return f"{self.signature_id:016x}"


@dataclass(frozen=True)
class LabelledGroup:
    """One signature (part and position None) or one signature at one place in the step, with its label."""

    signature_id: int
    row: SignatureRow
    signature: Signature
    part: str | None
    position: int | None
    statistics: Measurement
    work: Work
    label: Label

    @property
    def is_aicore(self) -> bool:
        """Whether the group counts as AI-core time; communication is the only other class that is
        labelled.
        """
        return self.row.kernel_class == "aicore"


def labelled_groups(session: Session) -> tuple[LabelledGroup, ...]:
    """One group per signature of the selection, all places together, by falling total time.

    AI-core and communication rows only: AI_CPU, DSA and other engines have no roofline and are counted apart.
    """
    if "labelled_groups" not in session.cache:
        rows = _statistics_rows(session, "s.part IS NULL AND s.position IS NULL")
        session.cache["labelled_groups"] = tuple(_label(session, row) for row in rows)
    return session.cache["labelled_groups"]


def labelled_positions(session: Session) -> tuple[LabelledGroup, ...]:
    """One group per signature and place (part, position) of the selection, by falling total time.

    A place that was seen once has the label of its signature: a single row is evidence, not a label.
    """
    if "labelled_positions" not in session.cache:
        labels = {group.signature_id: group.label for group in labelled_groups(session)}
        session.cache["labelled_positions"] = tuple(
            _label(session, row, labels[row["signature_id"]] if row["count"] == 1 else None)
            for row in _statistics_rows(session, "s.part IS NOT NULL")
        )
    return session.cache["labelled_positions"]


def training_evidence(session: Session) -> tuple[str, ...]:
    """Operator types that only training runs, found in the selected rank; empty for inference."""
    found = {group.row.type or "" for group in labelled_groups(session) if group.work.flags & TRAINING_FLAGS}
    return tuple(sorted(found))


def publish_labels(session: Session) -> None:
    """Make the labels readable from SQL as the temporary table `labels`, one row per signature of the
    selection.
    """
    if "labels_published" in session.cache:
        return
    groups = labelled_groups(session)
    session.con.execute(
        "CREATE OR REPLACE TEMP TABLE labels AS SELECT unnest($ids::UBIGINT[]) AS signature_id, "
        "unnest($family::VARCHAR[]) AS family, unnest($bound::VARCHAR[]) AS bound, "
        "unnest($limiter::VARCHAR[]) AS limiter, unnest($confidence::VARCHAR[]) AS confidence, "
        "unnest($achievable::DOUBLE[]) AS achievable_us, unnest($m::BIGINT[]) AS m",
        {
            "ids": [group.signature_id for group in groups],
            "family": [group.work.family for group in groups],
            "bound": [group.label.bound for group in groups],
            "limiter": [group.label.limiter for group in groups],
            "confidence": [group.label.confidence for group in groups],
            "achievable": [achievable_us(group) for group in groups],
            "m": [group.work.m for group in groups],
        },
    )
    session.cache["labels_published"] = True


def achievable_us(group: LabelledGroup) -> float | None:
    """Time at the achievable roof, us; None where none applies (communication, no model, an anomaly)."""
    if not group.is_aicore or group.label.potential_us is None:
        return None
    return group.label.floors.achievable_us


def _statistics_rows(session: Session, where: str) -> list[dict[str, Any]]:
    return session.rows(
        "SELECT s.*, g.* EXCLUDE (run_id, signature_id) FROM selected_statistics s "
        "JOIN selected_signatures g USING (signature_id) "
        f"WHERE {where} AND g.kernel_class IN ('aicore', 'communication') "
        "ORDER BY s.total_us DESC, s.signature_id, s.part, s.position"
    )


def _label(session: Session, row: dict[str, Any], label: Label | None = None) -> LabelledGroup:
    """The group of one statistics row; classified from its own medians unless the label is given."""
    text, signature, work = _modelled(session, row)
    measured = measurement(
        row,
        _pmu_names(session),
        session.run.metric_mode or "none",
        by_operator=operator_bytes(session).get(text.signature_id),
        l2_hit_rate=hit_rates(session).get(text.signature_id),
    )
    if label is None:
        label = classify(work, measured, session.device.device, session.roofline_options)
    return LabelledGroup(
        text.signature_id, text, signature, row["part"], row["position"], measured, work, label
    )


def _modelled(session: Session, row: dict[str, Any]) -> tuple[SignatureRow, Signature, Work]:
    """The signature and its work, worked out once however many places it stands at."""
    known: dict[int, tuple[SignatureRow, Signature, Work]] = session.cache.setdefault("modelled", {})
    identity = row["signature_id"]
    if identity not in known:
        text = SignatureRow(**{name: row[name] for name in SignatureRow.__dataclass_fields__})
        signature = signature_of(text)
        known[identity] = (text, signature, work_of(signature))
    return known[identity]


def signature_of(text: SignatureRow) -> Signature:
    """The operands behind the texts."""
    return Signature(
        type=text.type or "",
        core=text.core,
        kernel_class=text.kernel_class,
        hf32=text.hf32,
        inputs=parse_operands(text.input_shapes, text.input_dtypes, text.input_formats),
        outputs=parse_operands(text.output_shapes, text.output_dtypes, text.output_formats),
    )


def measurement(
    row: Mapping[str, Any], pmu: tuple[str, ...], metric_mode: str, **of_operator: Any
) -> Measurement:
    """One row of group_statistics as the roofline takes it; `pmu` names its PMU columns.

    of_operator: by_operator and l2_hit_rate, which come from other files than the kernels.
    """
    own = ("aicore_time_us", "aiv_time_us", "cube_utilization_pct")
    ratios = {name: key for name in pmu if (key := _PIPES.get(name)) is not None}
    return Measurement(
        count=row["count"],
        median_us=row["median_us"],
        total_us=row["total_us"],
        p10_us=row["p10_us"],
        p90_us=row["p90_us"],
        block=row["block"],
        mix_block=row["mix_block"],
        gap_us=row["gap_us"],
        zero_rows=row["zero_duration"],
        **{name: row[name] for name in own},
        ratios={key: row[name] for name, key in ratios.items()},
        other={name: row[name] for name in pmu if name not in ratios and name not in own},
        metric_mode=metric_mode,
        **of_operator,
    )


# Column of the tables -> name of the pipe in Measurement.ratios.
_PIPES = {
    **{f"{pipe}_ratio": pipe for pipe in (*CUBE_PIPES, *VECTOR_PIPES)},
    "aic_icache_miss_rate": "aic_icache_miss",
    "aiv_icache_miss_rate": "aiv_icache_miss",
}


def _pmu_names(session: Session) -> tuple[str, ...]:
    """PMU columns that hold any value in this selection; the others would only be empty entries."""
    if "pmu" not in session.cache:
        session.cache["pmu"] = tuple(measured_columns(session.con, "selected_statistics"))
    return session.cache["pmu"]
