"""The ledger of fusion candidates as a Markdown report, in English or Chinese."""

from __future__ import annotations

import jinja2

from ..analyzer.answer import Answer
from ..analyzer.answer_fusion import LedgerRow
from ..units import NOT_KNOWN
from .escape import markdown

_LONGEST = 2000  # characters of one text


def ledger_document(answer: Answer) -> str:
    """The report in the language that the answer asks for; every text of the ledger is escaped."""
    extras = answer.extras
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("npu_roofline.reports"),
        autoescape=False,  # Markdown, not HTML: `finalize` escapes every value
        finalize=lambda value: value if isinstance(value, _Plain) else markdown(str(value), _LONGEST),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["us"] = lambda value: _Plain(NOT_KNOWN if value is None else f"{value:,.1f}")
    environment.filters["saving"] = _saving
    environment.filters["one_line"] = lambda text: " / ".join(line.strip() for line in text.splitlines())
    template = environment.get_template(f"fuse_ledger.{extras['lang']}.md.j2")
    text = template.render(
        rows=answer.rows,
        tries=extras["tries"],
        requests=extras["requests"],
        review=extras["review"],
        without_operator=extras["without_operator"],
        settled=sum(row.state not in ("open", "in_progress") for row in answer.rows),
        kept=sum(row.state == "kept" for row in answer.rows),
    )
    return text.rstrip("\n") + "\n"


def _saving(row: LedgerRow, between: str) -> str:
    if row.saving_low_us is None or row.saving_high_us is None:
        return _Plain(NOT_KNOWN)
    return _Plain(f"{row.saving_low_us:,.1f}{between}{row.saving_high_us:,.1f}")


class _Plain(str):
    """Text of ours that needs no escaping."""
