"""Questions to `fuse model` about one small file, m.py."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from npu_roofline.analyzer.answer import Answer
from npu_roofline.analyzer.answer_fusion import CodeCandidate, FactRow, TreeStep
from npu_roofline.analyzer.modelcode.model import fuse_model

from tests.analyzer.modelcode.samples import write


def asked(folder: Path, text: str, config: Mapping[str, object] | None = None) -> Answer:
    """The answer for one file m.py, with a config.json where one is given."""
    where = None if config is None else write(folder, "config.json", json.dumps(config))
    return fuse_model([write(folder, "m.py", text)], where)


def fact(answer: Answer, name: str) -> FactRow:
    """The fact of a name."""
    return next(row for row in answer.extras["facts"] if row.fact == name)


def step(answer: Answer, tree: str, question: str) -> TreeStep:
    """The answer of a decision tree to one question."""
    return next(row for row in answer.extras["trees"] if (row.tree, row.question) == (tree, question))


def candidate(answer: Answer, rule: str) -> CodeCandidate:
    """The only candidate of a rule."""
    (row,) = (row for row in answer.rows if row.rule == rule)
    return row
