"""The frame of every HTML report: one file, no network, the same bytes for the same answer.

A report writes a template that extends `base.html.j2` and calls `render_page`. The context it gets from here:
`ui` macros, `figures` (id -> JSON), `lang`, `version`, `run`, `generated_at`. Filters: `show` makes untrusted
text visible and cuts it; autoescape does the HTML part.
"""

from __future__ import annotations

import functools
import importlib.resources
from collections.abc import Mapping
from typing import Any

import jinja2
from markupsafe import Markup, escape

from .. import __version__
from ..analyzer.answer import RunInfo
from .escape import script_json, shown
from .folding import BREAK
from .palette import PALETTE
from .translated import translated_figure
from .words import words


@functools.cache
def environment() -> jinja2.Environment:
    """The template environment of all pages; an undefined name is an error, never an empty string."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("npu_roofline.reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["show"] = lambda value, limit=240: shown(str(value), limit)
    made.filters["foldable"] = _foldable
    made.filters["say_in"] = lambda value, lang: words(lang).say(value)
    return made


def _foldable(text: str) -> Markup:
    """Escaped text with break opportunities; what a reader copies out of the page is the text itself."""
    return Markup("<wbr>").join(escape(part) for part in BREAK.split(text))


def asset(name: str) -> Markup:
    """A file of our own templates folder, to stand in a page as it is. Never call it on the user's data."""
    return Markup(
        importlib.resources.files("npu_roofline.reports").joinpath("templates", name).read_text("utf-8")
    )


def theme_css() -> Markup:
    """The palette as CSS variables: light, dark by the system's choice, and either by the page's button."""
    light = "".join(f"--{name}:{pair[0]};" for name, pair in PALETTE.items())
    dark = "".join(f"--{name}:{pair[1]};" for name, pair in PALETTE.items())
    return Markup(
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        "@media print{:root,:root:not([data-theme=light]),:root[data-theme=dark]"
        f"{{color-scheme:light;{light}}}}}"
    )


def render_page(
    template: str,
    *,
    run: RunInfo | None,
    figures: Mapping[str, Mapping[str, Any]],
    generated_at: str = "",
    lang: str = "en",
    **context: Any,
) -> str:
    """Render one self-contained page.

    `figures` maps a fixed element id to a plotly figure as plain data (`{"data": [...], "layout": {...}}`);
    the page's script draws it. `generated_at` is an argument so that the same answer gives the same bytes.
    `t` and `say` in the template are the words of `lang`.
    """
    text = words(lang)
    return (
        environment()
        .get_template(template)
        .render(
            run=run,
            figures={
                name: Markup(script_json(translated_figure(figure, text))) for name, figure in figures.items()
            },
            plotly_js=plotly_js() if figures else "",
            theme_css=theme_css(),
            base_css=asset("base.css"),
            base_js=asset("base.js"),
            generated_at=generated_at,
            lang=lang,
            t=text,
            say=text.say,
            version=__version__,
            **context,
        )
    )


@functools.cache
def plotly_js() -> Markup:
    """The text of plotly.js; importing it is slow, so only pages with figures pay for it."""
    from plotly.offline import get_plotlyjs

    return Markup(get_plotlyjs())
