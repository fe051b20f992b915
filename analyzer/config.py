"""The user's TOML file of thresholds: [roofline] sets those of the labels, [analysis] those of the
questions.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InputMissing, WrongUsage
from .options import SHARED_WITH_LABELS, AnalysisOptions, options_from_mapping

if TYPE_CHECKING:
    from ..roofline.options import RooflineOptions

TABLES = ("analysis", "roofline")


@dataclass(frozen=True)
class Thresholds:
    """The options that a question runs with."""

    analysis: AnalysisOptions
    roofline: RooflineOptions


def read_config(path: Path | None) -> Thresholds:
    """Read the file; what it does not set, and everything when there is none, keeps its default.

    Raises InputMissing when the file cannot be read, WrongUsage when it is not TOML or names something
    unknown.
    """
    from ..roofline.options import options_from_mapping as roofline_from_mapping

    tables = {} if path is None else _tables(path)
    source = "the defaults" if path is None else str(path)
    roofline = roofline_from_mapping(tables.get("roofline", {}), source)
    shared = {name: getattr(roofline, name) for name in SHARED_WITH_LABELS}
    return Thresholds(options_from_mapping({**shared, **tables.get("analysis", {})}, source), roofline)


def _tables(path: Path) -> Mapping[str, Any]:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputMissing(
            f"cannot read the config file {path}: {error.strerror}", "check the path"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise WrongUsage(
            f"{path} is not valid TOML: {error}", "write it as  [analysis]  eta = 0.5"
        ) from error
    for name, table in tables.items():
        if name not in TABLES or not isinstance(table, dict):
            tables_text = " and ".join(f"[{each}]" for each in TABLES)
            raise WrongUsage(
                f"unknown entry {name!r} in {path}", f"options stand in the tables {tables_text}"
            )
    return tables
