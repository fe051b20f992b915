"""`fuse model`: the network behind model code, its decision trees, and what of it one fused call would
replace.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..answer import Answer
from ..answer_fusion import CodeCandidate
from .candidates import PREPARE, READY, REFUSED, code_candidates, used_operators
from .config import read_config
from .decisions import attention_tree, moe_tree
from .events import read_model
from .facts import facts, has_paged_cache, modules

_ORDER = (READY, PREPARE, REFUSED)


def fuse_model(files: Sequence[Path], model_config: Path | None = None) -> Answer:
    """Candidates in the code, with modules, facts and trees as extras.

    Raises InputMissing for a file that is not there, UnsupportedExport for one that cannot be read.
    """
    code = read_model(files)
    config = read_config(model_config)
    known = facts(code, config)
    rows = code_candidates(code, config, has_paged_cache(known))
    ordered = tuple(sorted(rows, key=lambda row: _ORDER.index(row.verdict)))
    used = used_operators(code)
    notes = list(code.notes)
    if config.file is None:
        notes.append("without --model-config no limit on sizes is decided; it is named as something to check")
    notes.append(
        "read from the text of the code: what is bound at run time (quant methods, getattr, imported bases) "
        "is not seen"
    )
    return Answer(
        command="fuse-model",
        run=None,
        device=None,
        coverage=None,
        rows=ordered,
        notes=tuple(notes),
        extras={
            "sentence": _sentence(ordered, len(used)),
            "files": tuple(str(file) for file in files),
            "trees": (*attention_tree(code, config), *moe_tree(code, config)),
            "facts": known,
            "modules": modules(code),
            "used": used,
        },
    )


def _sentence(rows: tuple[CodeCandidate, ...], used: int) -> str:
    count = {verdict: sum(row.verdict == verdict for row in rows) for verdict in _ORDER}
    places = f"{len(rows)} place{'' if len(rows) == 1 else 's'}"
    return (
        f"{places} could be a fused call: {count[READY]} ready, {count[PREPARE]} after preparation, "
        f"{count[REFUSED]} refused by a documented limit; "
        f"{used} fused operator{'' if used == 1 else 's'} in use."
    )
