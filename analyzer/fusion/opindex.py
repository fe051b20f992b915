"""Docstrings and signatures of one torch_npu as an index of its operators, kept in a cache by content."""

from __future__ import annotations

import ast
import json
import os
import re
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from .docstrings import DocModule, read_docstrings
from .opsource import OperatorSource
from .schemas import SchemaList, read_schemas

# Part of the cache key: an index that another way of reading made is not used.
_READER = 2
_GRADIENT = re.compile(r"(backward|_grad)(_|$)|bk$")


@dataclass(frozen=True)
class Operator:
    """One name: its sections (empty without docstring), its signatures, and where each was read.

    `status` is documented, documented_no_schema or schema_only; a name that is in neither is absent, which is
    something else than without docstring.
    """

    name: str
    namespace: str  # torch_npu or torch_npu.atb
    documented: bool
    text: str
    sections: Mapping[str, str]
    schemas: tuple[str, ...]
    remarks: tuple[str, ...] = ()

    @property
    def is_gradient(self) -> bool:
        """Whether it is the gradient of another function, by its name."""
        return _GRADIENT.search(self.name) is not None

    @property
    def status(self) -> str:
        """documented, documented_no_schema or schema_only."""
        if not self.documented:
            return "schema_only"
        return "documented" if self.schemas or self.namespace != "torch_npu" else "documented_no_schema"


@dataclass(frozen=True)
class OperatorIndex:
    """The operators of one torch_npu by name, its version, and what could not be read."""

    label: str
    version: str | None
    operators: Mapping[str, Operator]
    notes: tuple[str, ...] = ()

    @property
    def documented(self) -> int:
        """Number of names with a docstring in the operator module itself, each name once."""
        return sum(each.documented and each.namespace == "torch_npu" for each in self.operators.values())


def operator_index(source: OperatorSource, cache: Path | None = None) -> OperatorIndex:
    """The index of a source, from the cache when the same content was read before.

    `cache` is a folder; a cache that cannot be read or written costs time, never an answer.
    """
    file = (cache or cache_folder()) / f"operators-{_READER}-{source.content_hash[:32]}.json"
    kept = _load(file, source.label)
    if kept is not None:
        return kept
    made = build_index(source)
    _save(file, made)
    return made


def cache_folder() -> Path:
    """Where indexes are kept: the user's cache folder, as the XDG specification names it."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "npu-roofline"


def build_index(source: OperatorSource) -> OperatorIndex:
    """Read the texts of a source."""
    docs = _docs(source, "docs")
    atb = _docs(source, "atb")
    schemas = read_schemas(source.texts["schemas"]) if "schemas" in source.texts else SchemaList({})
    operators = {name: _operator(name, docs, schemas) for name in docs.docstrings}
    for name in schemas.functions:
        if name not in operators and name.startswith("npu_"):
            operators[name] = _operator(name, docs, schemas)
    for name, doc in atb.docstrings.items():
        full = f"atb.{name}"
        operators[full] = Operator(full, "torch_npu.atb", True, doc.text, doc.sections, (), doc.remarks)
    return OperatorIndex(
        source.label,
        _version(source),
        dict(sorted(operators.items())),
        tuple(_notes(source, docs, atb, schemas)),
    )


def _docs(source: OperatorSource, kind: str) -> DocModule:
    return read_docstrings(source.texts[kind]) if kind in source.texts else DocModule()


def _operator(name: str, docs: DocModule, schemas: SchemaList) -> Operator:
    doc = docs.docstrings.get(name)
    base, _, overload = name.partition(".")
    signatures = schemas.functions.get(base, ())
    texts = tuple(each.text for each in signatures if not overload or each.overload == overload)
    if doc is None:
        return Operator(name, "torch_npu", False, "", {}, texts)
    return Operator(name, "torch_npu", True, doc.text, doc.sections, texts, doc.remarks)


def _version(source: OperatorSource) -> str | None:
    """`__version__` of version.py, read and not run."""
    try:
        tree = ast.parse(source.texts.get("version", b"").decode("utf-8", errors="replace"))
    except SyntaxError:
        return None
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if "__version__" in names:
                return str(node.value.value)
    return None


def _notes(source: OperatorSource, docs: DocModule, atb: DocModule, schemas: SchemaList) -> list[str]:
    notes = []
    for what, failure in (
        ("docstrings", docs.failure),
        ("atb docstrings", atb.failure),
        ("functions", schemas.failure),
    ):
        if failure:
            notes.append(f"{source.label}: the {what} could not be parsed: {failure}")
    if "docs" not in source.texts:
        notes.append(f"{source.label} holds no docstrings: what is documented is not known")
    if "schemas" not in source.texts:
        notes.append(f"{source.label} holds no function list: names without a docstring are not known")
    if docs.duplicates:
        notes.append(f"{source.label}: docstrings given twice, the last counts: {', '.join(docs.duplicates)}")
    return notes


def _load(file: Path, label: str) -> OperatorIndex | None:
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        operators = {
            each["name"]: Operator(
                **each | {"schemas": tuple(each["schemas"]), "remarks": tuple(each["remarks"])}
            )
            for each in data["operators"]
        }
        return OperatorIndex(label, data["version"], operators, tuple(data["notes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _save(file: Path, index: OperatorIndex) -> None:
    """Write the index beside its place and move it there, so that a reader never meets half of one."""
    data = {
        "version": index.version,
        "notes": list(index.notes),
        "operators": [asdict(each) for each in index.operators.values()],
    }
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=file.parent, encoding="utf-8", delete=False) as part:
            json.dump(data, part, ensure_ascii=False)
        os.replace(part.name, file)
    except OSError:
        return
