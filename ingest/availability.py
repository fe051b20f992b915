"""Which questions a run can answer, from what evidence, and what would have to be recorded for the rest."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .database import read_sql

if TYPE_CHECKING:
    import duckdb

# PMU cells of single rows are missing in every capture (DSA, very long kernels), so nearly all is all.
_ALL = 0.95


@dataclass(frozen=True, slots=True)
class Availability:
    """One question: 'yes', 'partly' or 'no', what is there, what is not, and the options that record it."""

    question: str
    status: str
    evidence: str
    missing: str
    how_to_record: str
    inference_only: bool = False  # a training capture answers it with no, whatever else is there


@dataclass(frozen=True, slots=True)
class _Found:
    """One kind of evidence in a run: how much of it, and in which words to say that."""

    share: float
    words: str


def availability(con: duckdb.DuckDBPyConnection, run_id: int) -> list[Availability]:
    """Every question of availability.toml with its answerability for one run."""
    data = _data()
    shares = _shares(con, run_id)
    files = _file_kinds(con, run_id)
    found = {key: _find(row, shares, files) for key, row in data["evidence"].items()}
    return [_judge(question, found, data["evidence"]) for question in data["question"]]


def _judge(question: dict[str, Any], found: dict[str, _Found], evidence: dict[str, Any]) -> Availability:
    """'yes' when all that is needed and helps is there, 'no' when anything needed is not there at all."""
    wanted = [*question["needs"], *question["helps"]]
    lacking = [key for key in wanted if found[key].share < _ALL]
    if any(found[key].share == 0 for key in question["needs"]):
        status = "no"
    else:
        status = "partly" if lacking else "yes"
    return Availability(
        question=question["name"],
        status=status,
        evidence="; ".join(found[key].words for key in wanted if found[key].share > 0),
        missing="; ".join(found[key].words for key in lacking if found[key].share == 0),
        how_to_record="; ".join(dict.fromkeys(evidence[key]["record"] for key in lacking)),
        inference_only=question.get("inference_only", False),
    )


def _find(row: dict[str, Any], shares: dict[str, float], files: frozenset[str]) -> _Found:
    """One kind of evidence; a file that is there but of which this is not read counts as not there."""
    if "share" in row:
        share = shares[row["share"]]
        part = "" if share in (0.0, 1.0) else f" ({share:.1%} of the kernels)"
        return _Found(share, row["title"] + part)
    there = sorted(files & set(row["files"]))
    if there:
        found = f"{', '.join(there)} was found; this version does not read that from it"
        return _Found(0.0, f"{row['title']}: {found}")
    return _Found(0.0, row["title"])


def _shares(con: duckdb.DuckDBPyConnection, run_id: int) -> dict[str, float]:
    cursor = con.execute(read_sql("availability.sql"), {"run": run_id})
    names = [column[0] for column in cursor.description or ()]
    return dict(zip(names, cursor.fetchone() or (), strict=True))


def _file_kinds(con: duckdb.DuckDBPyConnection, run_id: int) -> frozenset[str]:
    rows = con.execute("SELECT DISTINCT kind FROM files WHERE run_id = ?", [run_id]).fetchall()
    return frozenset(kind for (kind,) in rows)


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("availability.toml").read_text(encoding="utf-8"))
