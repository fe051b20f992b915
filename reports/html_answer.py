"""Any answer as one offline HTML page: headline, trust, sortable tables, notes."""

from __future__ import annotations

from ..analyzer.answer import Answer
from .headline import device_line, headline
from .page import render_page
from .tables import facts_of, tables_of


def render_html(answer: Answer, generated_at: str = "") -> str:
    """The page of an answer that has no report of its own; `generated_at` is shown as given."""
    return render_page(
        "answer.html.j2",
        run=answer.run,
        figures={},
        generated_at=generated_at,
        command=answer.command,
        headline=headline(answer),
        coverage=answer.coverage,
        device_line=device_line(answer.device) if answer.device else "",
        tables=tables_of(answer),
        facts=facts_of(answer),
        notes=answer.notes,
    )
