"""The command that writes a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workprof.cli.console import Dataset, Home, Json, emit, file_of, names, opened, progress_line, table
from workprof.cli.files import STDOUT
from workprof.cli.questions import FIT, fit_of
from workprof.core.units import format_duration
from workprof.store.outputs import checked_output, write_whole

if TYPE_CHECKING:
    from workprof.report.report import Report

Output = Annotated[Path, typer.Option("-o", "--output", help="FILE.html; - is stdout.", show_default=False)]
Bundle = Annotated[
    Path | None, typer.Option("--bundle", help="FILE.zip: every table as CSV, and a manifest.", show_default=False)
]


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(report)


def report(
    dataset: Dataset,
    output: Output,
    sections: Annotated[str, typer.Option("--sections", help="data,profiles,...; default: all.")] = "",
    note: Annotated[str, typer.Option("--note", help="Printed under the title.")] = "",
    bundle: Bundle = None,
    fit: Annotated[list[str] | None, FIT] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Generate the report: one offline HTML file, the decision first; missing results are computed."""
    from workprof.report.bundle import report_bundle  # noqa: PLC0415  heavy
    from workprof.report.html import report_html  # noqa: PLC0415  heavy
    from workprof.report.report import make_report  # noqa: PLC0415  heavy

    if output != STDOUT:
        checked_output(output, (".html",))
    if bundle is not None:
        checked_output(bundle, (".zip",), option="--bundle")
    with opened(home) as workbench:
        made = make_report(workbench, dataset, names(sections), note, progress_line(), fit_of(fit))
    with file_of(output, ".html", as_json) as path:
        write_whole(path, report_html(made).encode())
    if bundle is not None:
        write_whole(bundle, report_bundle(made))
    if output != STDOUT:
        emit(_to_json(made, output, bundle), as_json, lambda: _as_text(made, output))


def _to_json(made: Report, output: Path, bundle: Path | None) -> dict[str, Any]:
    return {
        "file": str(output),
        "bundle": str(bundle) if bundle else None,
        "dataset": made.dataset.name,
        "rows": made.dataset.rows,
        "lost": made.lost,
        "sections": [
            {"name": one.kind.name, "status": one.status, "reason": one.reason or None, "seconds": one.seconds}
            for one in made.sections
        ],
        "seconds": made.seconds,
    }


def _as_text(made: Report, output: Path) -> str:
    rows: list[dict[str, object]] = [
        {"section": one.kind.name, "status": one.status, "took": format_duration(one.seconds), "missing": one.reason}
        for one in made.sections
    ]
    first = [] if made.decision is None else [part for part in (made.decision.summary, made.decision.advice) if part]
    return "\n\n".join([*first, table(rows), f"wrote {output}"])
