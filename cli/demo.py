"""`npu-roofline demo`: the whole story on the sample profiles, into one folder."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import WrongUsage
from .output import say, terminal_width, write

if TYPE_CHECKING:
    from ..analyzer.answer import Answer

# The pair that tells the story: the same decode workload before and after one prefetch.
BEFORE, AFTER = "moe_decode_before", "moe_decode_after"
# Says whose the folder is, to people and to the next demo.
ABOUT = "about-this-folder.md"
ABOUT_TEXT = """# Written by `npu-roofline demo`

Everything here is made anew by each demo and may be deleted.

- `roofline.html`: what limits the kernels of the run `moe_decode_before`
- `candidates.md`: which of its weights are worth prefetching, with every term
- `compare.html`: the same workload before and after one of those prefetches
- `npu_roofline.duckdb`: both runs, for `npu-roofline --db`
- `profiles/`: the sample profiles, in the layout that torch_npu's profiler writes
"""


def demo(
    folder: Annotated[
        Path, typer.Option("--folder", metavar="FOLDER", help="Where to write; made when it is not there.")
    ] = Path("demo_out"),
) -> None:
    """Run the whole story on sample profiles, into one folder.

    Writes sample profiles, ingests a pair of them (a decode workload before and after one prefetch),
    and writes the roofline report, the prefetch candidates and the comparison.
    """
    database = folder / "npu_roofline.duckdb"
    _take_over(folder, database)
    _ingest_pair(folder / "profiles", database)
    lines = [
        ("where the time goes", _report(database, folder / "roofline.html")),
        ("what to prefetch", _candidates(database, folder / "candidates.md")),
        ("did it help", _compare(database, folder / "compare.html")),
    ]
    print()
    for question, line in lines:
        print(textwrap.fill(f"{question}: {line}", terminal_width(), subsequent_indent="  "))
    print(f"\nOpen {folder / 'roofline.html'} and {folder / 'compare.html'} in a browser.")
    print(f"Go on with: npu-roofline hotspots --db {database} --run {BEFORE}")


def _take_over(folder: Path, database: Path) -> None:
    """Make the folder the demo's own, and begin with a new database.

    A database of an earlier demo may have been made by another version. Raises WrongUsage for a folder that
    holds anything else than an earlier demo: its files might be the user's.
    """
    about = folder / ABOUT
    if folder.exists() and any(folder.iterdir()) and not about.is_file():
        raise WrongUsage(
            f"{folder} is not empty and was not written by `npu-roofline demo`",
            "name another folder with --folder",
        )
    folder.mkdir(parents=True, exist_ok=True)
    about.write_text(ABOUT_TEXT, encoding="utf-8")
    database.unlink(missing_ok=True)


def _ingest_pair(profiles: Path, database: Path) -> None:
    from ..analyzer.load import ingest_run
    from ..sample_profiles.generate import write_samples
    from .progress import progress_on_terminal

    folders = write_samples(profiles)
    say(f"wrote {len(folders)} sample profiles into {profiles}")
    for name in (BEFORE, AFTER):
        with progress_on_terminal() as progress:
            ingest_run([folders[name]], database, name=name, progress=progress)
        say(f"ingested {folders[name]} as run {name}")


def _report(database: Path, page: Path) -> str:
    """Write the roofline report; return the first line of the summary."""
    from ..analyzer.report_data import report_data
    from ..analyzer.session import open_session
    from ..analyzer.summary import summary
    from ..reports.headline import headline
    from ..reports.html_report import roofline_report

    with open_session(database, run=BEFORE) as session:
        write(roofline_report(report_data(session)), page)
        return headline(summary(session))


def _candidates(database: Path, page: Path) -> str:
    """Print the prefetch candidates and write them with every term; return the first line."""
    from ..analyzer.candidates import candidates
    from ..analyzer.session import open_session
    from ..reports.headline import headline
    from ..reports.render import render
    from .output import show

    with open_session(database, run=BEFORE) as session:
        answer = candidates(session)
    print()
    print(render(answer, "table", width=terminal_width()), end="")
    print()
    show(answer, "md", page)
    return headline(answer)


def _compare(database: Path, page: Path) -> str:
    """Write the comparison of the pair; return its first line."""
    from ..analyzer.compare import compare
    from ..analyzer.session import open_session
    from ..reports.headline import headline
    from ..reports.render import render

    with open_session(database, run=BEFORE) as before, open_session(database, run=AFTER) as after:
        answer: Answer = compare(before, after)
    write(render(answer, "html"), page)
    return headline(answer)
