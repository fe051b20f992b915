"""The reference pages that are written from the sources they describe, so that they cannot drift."""

from __future__ import annotations

import ast
import dataclasses
import re
import tokenize
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

REFERENCE = Path(__file__).parent / "reference"
HELP_WIDTH = 100

DEVICE_FIELDS = ["soc", "title", "cube_cores", "clock_mhz", "hbm_gb_s", "l2_mib", "fp16_tflops", "confidence"]

COLUMNS_INTRODUCTION = """# Tables and columns

What `npu-roofline query` can see. NULL always means not known or not measured; 0 is a measurement. Times are
us, sizes bytes, `_ns` columns whole nanoseconds, `_gb_s` columns 1e9 bytes per second. Beside these tables a
query sees `selected_kernels`: the counted rows of `kernels` that `--run`, `--rank` and `--steps` select."""

DEVICES_INTRODUCTION = """# Devices

What the tool holds a profile against, from the files in `roofline/devices/`. Peaks are not in the files: they
are cores x clock x operations per cycle. `npu-roofline devices show SOC` prints the same numbers. To add one,
see [Add a device](../how-to/add-a-device.md)."""

EXPORTS_INTRODUCTION = """# Exports

Which files `npu-roofline ingest` knows, by name, from `ingest/exports.toml`. Columns are found by their
headers, in every spelling of `ingest/columns.toml`, never by position; columns that are not known are named
by `npu-roofline runs show`. A file that is recognised and not read is listed as such and left alone."""

EXPORT_ROLES = {
    "kernels": "read: the kernels of a rank",
    "info": "read: versions, options, parallel sizes",
    "statistics": "read: held against the kernels",
    "host": "read: tables beside the kernels",
    "operator": "read: one operator measured alone",
    "trace": "read: what launched the kernels, what ran beside them; alone, the kernels too",
    "later": "recognised, not read by this version",
}

OPERATORS_INTRODUCTION = """# Operators

Which work model each operator type has, from `roofline/operators.toml`. A type that is not here gets the
generic model: inputs and outputs once, no arithmetic, and it is counted as such. A version ending (`V2`,
`V3`, `D`) that is not listed falls back to the plain name; patterns are tried when no name fits, in this
order. To add one, see [Add an operator](../how-to/add-an-operator.md)."""

JSON_INTRODUCTION = """# JSON fields

`--format json` prints one object: `schema` (`npu-roofline.COMMAND/1`), `run`, `device`, `coverage`, `rows`,
`notes`, and the side tables of the command under their own names. Names are stable within a schema number.
`null` means not known or not measured, never zero. Times are us, sizes bytes, per call unless the name says
otherwise. The same records are the columns of `--format csv`, nested ones with dotted names."""


def cli_page() -> str:
    """Every command's --help, at a fixed width."""
    from npu_roofline.cli.main import app_with
    from typer.main import get_command

    parts = ["# Commands", "", "What `--help` prints, for each command."]
    for path, text in _help_texts(get_command(app_with()), "npu-roofline"):
        parts += ["", f"## {path}", "", "```text", text.rstrip(), "```"]
    return "\n".join(parts)


def _help_texts(command: Any, path: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    context = command.context_class(
        command,
        info_name=path if parent is None else path.split()[-1],
        parent=parent,
        terminal_width=HELP_WIDTH,
    )
    yield path, command.get_help(context)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from _help_texts(command.get_command(context, name), f"{path} {name}", context)


def columns_page() -> str:
    """Every table and column of the database, from the comments in the schema."""
    import duckdb
    from npu_roofline.ingest.database import create_schema

    con = duckdb.connect()
    create_schema(con)
    parts = [COLUMNS_INTRODUCTION]
    tables = con.execute(
        """SELECT table_name, comment FROM duckdb_tables()
        WHERE NOT starts_with(table_name, '_') ORDER BY table_oid"""
    ).fetchall()
    for table, comment in tables:
        columns = con.execute(
            """SELECT column_name, data_type, comment FROM duckdb_columns()
            WHERE table_name = ? ORDER BY column_index""",
            [table],
        ).fetchall()
        rows = [(f"`{name}`", type, text) for name, type, text in columns]
        parts += ["", f"## {table}", "", comment, "", *_table(("column", "type", "meaning"), rows)]
    return "\n".join(parts)


def devices_page() -> str:
    """Every device file: each number with its unit, source and confidence."""
    from npu_roofline.analyzer.devices import devices_list, devices_show
    from npu_roofline.roofline.device import device_sources

    parts = [DEVICES_INTRODUCTION, ""]
    parts += _table(
        ("device", "what it is", "cube cores", "MHz", "HBM GB/s", "L2 MiB", "fp16 TFLOP/s", "confidence"),
        [tuple(getattr(each, name) for name in DEVICE_FIELDS) for each in devices_list().rows],
    )
    for device in devices_list().rows:
        parts += ["", f"## {device.soc}", "", _cell(device.title), ""]
        rows = [
            (row.quantity, row.value, row.unit, row.confidence, row.source)
            for row in devices_show(device.soc).rows
        ]
        parts += _table(("quantity", "value", "unit", "confidence", "source"), rows)
    parts += ["", "## Sources", "", *_table(("id", "source"), device_sources().items())]
    return "\n".join(parts)


def exports_page() -> str:
    """Every export file that is recognised, and whether this version reads it."""
    import npu_roofline.ingest as room

    table = tomllib.loads(Path(str(room.__file__)).with_name("exports.toml").read_text(encoding="utf-8"))
    rows = [
        (each["kind"], EXPORT_ROLES[each["role"]], f"`{each['pattern']}`", each["source"])
        for each in table["export"]
    ]
    header = ("kind", "what becomes of it", "name, as a regular expression", "written by")
    return "\n".join([EXPORTS_INTRODUCTION, "", *_table(header, rows)])


def operators_page() -> str:
    """Every row of the operator table."""
    import npu_roofline.roofline as room

    table = tomllib.loads(Path(str(room.__file__)).with_name("operators.toml").read_text(encoding="utf-8"))
    rows = [
        (_code(entry), entry["family"], entry["unit"], ", ".join(entry.get("flags", ())), entry["source"])
        for entry in table["operator"]
    ]
    header = ("operator types", "family", "unit", "flags", "source of slots and bytes")
    return "\n".join([OPERATORS_INTRODUCTION, "", *_table(header, rows)])


def _code(entry: Mapping[str, Any]) -> str:
    names = [*entry.get("types", ()), *([f"/{entry['pattern']}/"] if "pattern" in entry else [])]
    return ", ".join(f"`{name}`" for name in names)


def errors_page() -> str:
    """Exit codes and the errors behind them."""
    from npu_roofline import errors

    meanings = {
        0: "done",
        1: "the answer is a failed check",
        2: "wrong usage",
        3: "input missing, unsupported, without anything to answer from, or already ingested",
        4: "partly ingested: some rows or files were set aside, the rest landed",
        5: "internal: a fault of the tool",
        130: "interrupted (Ctrl-C)",
        141: "whoever read the output closed it, as `head` does",
    }
    parts = [
        "# Errors and exit codes",
        "",
        "An error is two lines on stderr: `error: what, where` and `hint: what to do`, without a traceback.",
        "For an internal error, set `NPU_ROOFLINE_DEBUG=1` and run again to see one.",
        "",
        *_table(("exit code", "meaning"), meanings.items()),
        "",
    ]
    base = errors.NpuRooflineError
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, base)]
    parts += _table(
        ("error", "exit code", "when"), [(kind.__name__, kind.exit_code, kind.__doc__) for kind in kinds[1:]]
    )
    return "\n".join(parts)


def configuration_page() -> str:
    """Every threshold that a --config file can set, with its default, range and reason."""
    from npu_roofline.analyzer.options import AnalysisOptions
    from npu_roofline.roofline.options import RooflineOptions

    parts = [
        "# Configuration",
        "",
        "`--config FILE` reads a TOML file that sets thresholds. What it does not name keeps its default.",
        "",
        "```toml",
        "[analysis]",
        "eta = 0.5",
        "",
        "[roofline]",
        "eff_hbm = 0.8",
        "```",
    ]
    for title, options in (("roofline", RooflineOptions), ("analysis", AnalysisOptions)):
        rows = [
            (
                f"`{each.name}`",
                each.default,
                each.metadata["low"],
                each.metadata["high"],
                each.metadata["source"],
            )
            for each in dataclasses.fields(options)
        ]
        header = ("option", "default", "from", "to", "reason for the default")
        parts += ["", f"## [{title}]", "", *_table(header, rows)]
    return "\n".join(parts)


def json_page() -> str:
    """Every record of the JSON output with its fields, from the comments beside them in the source."""
    from npu_roofline.analyzer import answer as envelope
    from npu_roofline.analyzer import (
        answer_compare,
        answer_fusion,
        answer_links,
        answer_plan,
        answer_prefetch,
        answer_rows,
    )

    parts = [JSON_INTRODUCTION]
    modules = (
        *(envelope, answer_rows, answer_links, answer_prefetch),
        *(answer_plan, answer_compare, answer_fusion),
    )
    for module in modules:
        for name, doc, fields in _records(Path(str(module.__file__))):
            rows = [(f"`{field}`", _json_type(type), comment) for field, type, comment in fields]
            parts += ["", f"## {name}", "", doc, "", *_table(("field", "type", "meaning"), rows)]
    return "\n".join(parts)


def _records(source: Path) -> Iterator[tuple[str, str, list[tuple[str, str, str]]]]:
    """The dataclasses of a module: name, docstring, and per field its name, type and comment."""
    text = source.read_text(encoding="utf-8")
    comments = _comments(source)
    for node in ast.parse(text).body:
        if not isinstance(node, ast.ClassDef) or node.name == "Answer":
            continue
        fields = [
            (each.target.id, ast.unparse(each.annotation), _comment_of(each, comments))
            for each in node.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        ]
        yield node.name, " ".join((ast.get_docstring(node) or "").split()), fields


def _comments(source: Path) -> Mapping[int, str]:
    with source.open("rb") as file:
        return {
            token.start[0]: token.string.lstrip("# ")
            for token in tokenize.tokenize(file.readline)
            if token.type == tokenize.COMMENT
        }


def _comment_of(field: ast.AnnAssign, comments: Mapping[int, str]) -> str:
    """What stands behind a field, on any of the lines that it takes."""
    lines = range(field.lineno, (field.end_lineno or field.lineno) + 1)
    return " ".join(comments[line] for line in lines if line in comments)


_JSON_TYPES = (
    (r"tuple\[(\w+), \.\.\.\]", r"list of \1"),
    (r"Mapping\[.*\]", "object"),
    (r"\bstr\b", "text"),
    (r"\bfloat\b", "number"),
    (r"\bint\b", "integer"),
    (r"\bbool\b", "true or false"),
    (r" \| None", " or null"),
)


def _json_type(annotation: str) -> str:
    for pattern, replacement in _JSON_TYPES:
        annotation = re.sub(pattern, replacement, annotation)
    return _cell(annotation)


def _table(header: Sequence[str], rows: Iterable[Iterable[Any]]) -> list[str]:
    """A Markdown table; a value that is not known is said to be so."""
    lines = [[_number(each) for each in row] for row in rows]
    return [
        f"| {' | '.join(header)} |",
        f"| {' | '.join('---' for _ in header)} |",
        *(f"| {' | '.join(line)} |" for line in lines),
    ]


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _number(value: Any) -> str:
    if value is None:
        return "not known"
    return (
        f"{value:,.6g}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else _cell(value)
    )


PAGES: dict[Path, Callable[[], str]] = {
    REFERENCE / "cli.md": cli_page,
    REFERENCE / "columns.md": columns_page,
    REFERENCE / "devices.md": devices_page,
    REFERENCE / "exports.md": exports_page,
    REFERENCE / "operators.md": operators_page,
    REFERENCE / "errors.md": errors_page,
    REFERENCE / "configuration.md": configuration_page,
    REFERENCE / "json.md": json_page,
}


def generated(page: Path) -> str:
    """The text that a generated page must have."""
    note = "<!-- Written by `make docs` from the sources; do not edit. -->"
    return f"{note}\n\n{PAGES[page]()}\n"
