"""The kernels of each distinct kind of step, stream by stream: what sequences are looked for in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..labels import LabelledGroup, labelled_groups
from ..placement import PARTS
from .types import normalised

if TYPE_CHECKING:
    from ..session import Session

OTHER_ENGINE = "(other engine)"
_NO_STREAM = -1
# Durations as whole picoseconds: sums do not depend on their order.
_PS_PER_US = 1e6


@dataclass(frozen=True)
class StepKind:
    """Steps that run the same types in the same order on the same streams; arrays have one entry per kernel.

    `group` indexes `groups`, -1 for rows of other engines; `durations_ps` has one row per step. Lanes are
    indexes in the order of a stream; `with_collectives` is the main stream with the collectives by start.
    """

    step_ids: tuple[int, ...]
    durations_ps: NDArray[np.int64]
    code: NDArray[np.int64]
    group: NDArray[np.int64]
    stream: NDArray[np.int64]
    part: NDArray[np.int64]  # index into PARTS, -1 = no layers found
    layer: NDArray[np.int64]
    position: NDArray[np.int64]
    lanes: tuple[NDArray[np.int64], ...]
    with_collectives: NDArray[np.int64]


@dataclass(frozen=True)
class Lanes:
    """Every kind of step, with the names behind the codes and the signatures behind the groups."""

    kinds: tuple[StepKind, ...]
    types: tuple[str, ...]  # normalised, by code
    groups: tuple[LabelledGroup, ...]


_ALL = """
SELECT k.step_id, coalesce(k.stream_id, -1) AS stream, k.kernel_id, c.code,
       CAST(round(k.duration_us * 1e6) AS BIGINT) AS ps
FROM selected_kernels AS k JOIN _fusion_codes AS c USING (signature_id)
"""
_ONE_STEP = """
SELECT k.kernel_id, c.group_index AS grp, coalesce(k.layer, -1) AS layer,
       coalesce(k.position, -1) AS position, list_position(?::VARCHAR[], k.part) AS part
FROM selected_kernels AS k JOIN _fusion_codes AS c USING (signature_id)
WHERE k.step_id = ? ORDER BY k.kernel_id
"""


def lanes(session: Session) -> Lanes:
    """Read the kernels of the selection and put equal steps together. Cached on the session."""
    if "fusion_lanes" not in session.cache:
        session.cache["fusion_lanes"] = _read(session)
    return session.cache["fusion_lanes"]


def _read(session: Session) -> Lanes:
    groups = labelled_groups(session)
    names = _publish_codes(session, groups)
    fetched = session.con.execute(_ALL).fetchnumpy()
    columns = {name: np.asarray(values).astype(np.int64) for name, values in fetched.items()}
    # Streams on which nothing counted runs hold the host's work; elsewhere such a row parts two kernels.
    counted = columns["code"] > 0
    keep = np.isin(columns["stream"], np.unique(columns["stream"][counted]))
    columns = {name: values[keep] for name, values in columns.items()}
    order = np.lexsort((columns["kernel_id"], columns["stream"], columns["step_id"]))
    columns = {name: values[order] for name, values in columns.items()}
    step = columns["step_id"]
    starts = np.flatnonzero(np.diff(step, prepend=step[0] - 1)).tolist() if len(step) else []
    slices = [slice(start, end) for start, end in zip(starts, [*starts[1:], len(step)], strict=True)]
    alike: dict[bytes, list[slice]] = {}
    for each in slices:
        key = columns["stream"][each].tobytes() + columns["code"][each].tobytes()
        alike.setdefault(key, []).append(each)
    main, collective = _main_stream(session), np.array([not group.is_aicore for group in groups], dtype=bool)
    kinds = tuple(_kind(session, columns, members, main, collective) for members in alike.values())
    return Lanes(kinds, names, groups)


def _publish_codes(session: Session, groups: tuple[LabelledGroup, ...]) -> tuple[str, ...]:
    """Put the code of each signature's type where SQL finds it; code 0 is every row of another engine."""
    index = {group.signature_id: number for number, group in enumerate(groups)}
    ids = [row["signature_id"] for row in session.rows("SELECT signature_id FROM selected_signatures")]
    names = [OTHER_ENGINE, *dict.fromkeys(normalised(group.row.type or "") for group in groups)]
    code = {name: number for number, name in enumerate(names)}
    of_group = [code[normalised(group.row.type or "")] for group in groups]
    session.con.execute(
        "CREATE OR REPLACE TEMP TABLE _fusion_codes AS SELECT unnest($ids::UBIGINT[]) AS signature_id, "
        "unnest($codes::INTEGER[]) AS code, unnest($groups::INTEGER[]) AS group_index",
        {
            "ids": ids,
            "codes": [of_group[index[each]] if each in index else 0 for each in ids],
            "groups": [index.get(each, -1) for each in ids],
        },
    )
    return tuple(names)


def _main_stream(session: Session) -> int:
    found = session.value(
        "SELECT stream_id FROM streams WHERE run_id = getvariable('selected_run') "
        "AND rank_id = getvariable('selected_rank') AND is_main"
    )
    if found is None:
        found = session.value(
            "SELECT stream_id FROM selected_kernels WHERE kernel_class = 'aicore' "
            "GROUP BY stream_id ORDER BY sum(duration_us) DESC, stream_id LIMIT 1"
        )
    return _NO_STREAM if found is None else int(found)


def _kind(
    session: Session,
    columns: dict[str, NDArray[np.int64]],
    members: list[slice],
    main: int,
    collective: NDArray[np.bool_],
) -> StepKind:
    durations = np.stack([columns["ps"][each] for each in members])
    totals = durations.sum(axis=1)
    middle = members[int(np.argsort(totals, kind="stable")[len(members) // 2])]
    ids = columns["kernel_id"][middle]
    step = int(columns["step_id"][middle.start])
    fetched = session.con.execute(_ONE_STEP, [list(PARTS), step]).fetchnumpy()
    found = {name: np.ma.filled(values, 0).astype(np.int64) for name, values in fetched.items()}
    at = np.searchsorted(found["kernel_id"], ids)
    stream, group = columns["stream"][middle], found["grp"][at]
    is_collective = (group >= 0) & collective[np.maximum(group, 0)]
    beside = np.flatnonzero((stream == main) | is_collective)
    return StepKind(
        step_ids=tuple(int(columns["step_id"][each.start]) for each in members),
        durations_ps=durations,
        code=columns["code"][middle],
        group=group,
        stream=stream,
        part=found["part"][at] - 1,  # list_position counts from 1, and is NULL (0) without layers
        layer=found["layer"][at],
        position=found["position"][at],
        lanes=tuple(np.flatnonzero(stream == each) for each in np.unique(stream)),
        with_collectives=beside[np.argsort(ids[beside], kind="stable")],
    )


def microseconds(ps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Picoseconds as us."""
    return ps / _PS_PER_US
