"""`workprof size FILE`: a trace in, what to request out; nothing is kept."""

from pathlib import Path
from typing import Annotated, Any

import typer

import workprof
from workprof.answers.verdict import notes as verdict_notes
from workprof.answers.verdict_exports import EXPORTS, exported, n_rows
from workprof.cli import console
from workprof.cli.datasets import given_mapping
from workprof.cli.decisions import read_decisions
from workprof.cli.files import STDOUT
from workprof.cli.questions import options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.scope import of_options, split
from workprof.core.shares import in_words
from workprof.core.words import counted
from workprof.inputs import piped
from workprof.memory import questions
from workprof.memory.decided import decided
from workprof.memory.exports import Origin
from workprof.store.outputs import checked_output, write_whole
from workprof.store.reports import IngestOptions
from workprof.workbench import passing_workbench


def _size(
    file: Path,
    to: str,
    output: Path,
    trace_format: str,
    mapping: str,
    decisions: Path | None,
    only: list[str] | None,
    period: str | None,
    **given: Any,
) -> None:
    if to not in EXPORTS:
        raise SettingsError(f"--to is {to!r}; choose from {', '.join(EXPORTS)}")
    settings = settings_of(questions.VERDICT, given)
    if output != STDOUT:
        checked_output(output)
    decided_before = () if decisions is None else read_decisions(decisions)
    progress = console.progress_line()
    with passing_workbench() as workbench, piped([file], workbench.settings.home, progress) as files:
        asked = IngestOptions(format=trace_format, mapping=given_mapping(workbench, mapping))
        report = workbench.ingest(files, asked, progress)
        entry = workbench.dataset(of_options(report.hash, only or (), period))
        found = decided(workbench.verdict(entry.hash, settings, progress), decided_before, scope=split(entry.hash)[1])
        note = in_words(workbench.machine_shares(entry.hash))
    if report.rejected:
        console.warn(f"note: {report.rejected:,} of {report.rows_read:,} rows could not be read and are left out")
    for check in report.checks:
        if check.level != "info":
            console.warn(f"note: {check.name}: {check.message}")
    content = exported(to, found, Origin(entry.name, entry.hash, workprof.__version__, note))
    for words in (found.reason, *verdict_notes(found)):
        console.warn(f"note: {words}")
    if output == STDOUT:
        console.emit_file(content)
    else:
        write_whole(output, content)
        console.emit({}, as_json=False, text=lambda: f"{counted(n_rows(found), 'row')} written to {output}")


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    text = Annotated[str, typer.Option("--to", help=f"One of {', '.join(EXPORTS)}.")]
    console.register(
        app,
        "size",
        "Say what to request, of a trace that is not kept: no home is made or read.",
        _size,
        [
            console.parameter(
                "file", Annotated[Path, typer.Argument(help="A trace; - for stdin.", show_default=False)]
            ),
            console.parameter("to", text, "csv"),
            console.parameter("output", Annotated[Path, typer.Option("-o", "--output", help="File to write.")], STDOUT),
            console.parameter(
                "trace_format",
                Annotated[str, typer.Option("--format", help="Of the trace; auto = by what is in it.")],
                "auto",
            ),
            console.parameter(
                "mapping", Annotated[str, typer.Option("--map", help="Of a generic file: FILE.json, as of ingest.")], ""
            ),
            console.parameter(
                "decisions",
                Annotated[
                    Path | None,
                    typer.Option("--decisions", metavar="FILE", help="JSON of `memory decisions NAME --json`."),
                ],
                None,
            ),
            console.parameter("only", console.Only, None),
            console.parameter("period", console.Period, None),
            *options(questions.VERDICT),
        ],
    )
