"""Commands on sources: add, list, show, remove; and `refresh`, once or again and again."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit_answer, opened, progress_line, warn
from workprof.core.errors import HomeBusy, SettingsError, WorkprofError

if TYPE_CHECKING:
    from workprof.core.refreshes import Refresh
    from workprof.workbench import Workbench

app = typer.Typer(help="Sources of traces that grow: add, list, show, remove.", rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="Of the source and its dataset.", show_default=False)]
KINDS = "prometheus, slurm (sacct), slurmrestd, kubernetes, files, or pull (an engine's table)."
WHERE = "env:VARIABLE or file:PATH (a file that only you may read); never the secret itself."
LOOK_AGAIN_S = 1.0


@app.callback(invoke_without_command=True)
def source(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """List the sources."""
    if context.invoked_subcommand is None:
        _list(home, as_json)


@app.command("list")
def list_sources(home: Home = None, as_json: Json = False) -> None:
    """List the sources: last refresh, new and rejected rows, what failed."""
    _list(home, as_json)


def _list(home: Path | None, as_json: bool) -> None:
    from workprof.answers.sources import sources_answer  # noqa: PLC0415  `workprof --version` stays quick

    with opened(home) as workbench:
        answer = sources_answer(workbench.sources())
    emit_answer(answer, as_json)


@app.command()
def add(
    name: Name,
    kind: Annotated[str, typer.Option("--from", help=KINDS, show_default=False)],
    url: Annotated[str, typer.Option("--url", help="Of the server, or of the engine as `pull --from`.")] = "",
    host: Annotated[str, typer.Option("--host", help="Slurm: HOST that ssh reaches (default: this one).")] = "",
    path: Annotated[str, typer.Option("--path", help="Files: a file, a folder or a 'pattern'.")] = "",
    every: Annotated[str, typer.Option("--every", help="Refresh so often, such as 1h (default: by hand).")] = "",
    keep: Annotated[str, typer.Option("--keep", help="Drop runs that ended longer ago, such as 400d.")] = "",
    since: Annotated[str, typer.Option("--since", help="How far back the first refresh looks.")] = "30d",
    step: Annotated[str, typer.Option("--step", help="Prometheus: between two points.")] = "60s",
    selector: Annotated[str, typer.Option("--selector", help="Of labels, such as 'namespace=~\"prod.*\"'.")] = "",
    metric: Annotated[
        list[str] | None, typer.Option("--metric", help="USUAL=OTHER: another name of a metric; may be repeated.")
    ] = None,
    table: Annotated[str, typer.Option("--table", help="Of an engine (default: the only one).")] = "",
    trace_format: Annotated[str, typer.Option("--format", help="Of files and tables.")] = "auto",
    mapping: Annotated[str, typer.Option("--map", help="Of generic files: FILE.json or a saved name.")] = "",
    token: Annotated[str, typer.Option("--token", help=f"Bearer token: {WHERE}")] = "",
    user: Annotated[str, typer.Option("--user", help="User of basic authentication, or of slurmrestd.")] = "",
    password: Annotated[str, typer.Option("--password", help=f"Its password: {WHERE}")] = "",
    header: Annotated[
        list[str] | None, typer.Option("--header", help=f"NAME=WHERE, such as X-Scope-OrgID=env:ORG. WHERE: {WHERE}")
    ] = None,
    ca: Annotated[str, typer.Option("--ca", help="File of certificates that sign the server's.")] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Keep a source of a trace that grows; `workprof refresh NAME` reads it."""
    from workprof.answers.sources import source_answer  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.cli.datasets import given_mapping  # noqa: PLC0415
    from workprof.sources.source import Credentials, Source, seconds_of  # noqa: PLC0415
    from workprof.store.reports import IngestOptions  # noqa: PLC0415

    with opened(home) as workbench:
        made = Source(
            name=name,
            kind=kind,
            address=_only_one(url, host, path),
            every_s=seconds_of(every, "--every", positive=True),
            keep_s=seconds_of(keep, "--keep", positive=True),
            since_s=seconds_of(since, "--since"),
            step_s=seconds_of(step, "--step"),
            selector=selector,
            metrics=_pairs(metric, "--metric"),
            table=table,
            options=IngestOptions(format=trace_format, mapping=given_mapping(workbench, mapping)),
            credentials=Credentials(token, user, password, _pairs(header, "--header"), ca),
        )
        answer = source_answer(workbench.add_source(made), ())
    emit_answer(answer, as_json)


def _only_one(*addresses: str) -> str:
    given = [one for one in addresses if one]
    if len(given) > 1:
        raise SettingsError("give one of --url, --host and --path")
    return given[0] if given else ""


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    result = {}
    for one in given or ():
        name, sign, value = one.partition("=")
        if not (name and sign and value):
            raise SettingsError(f"{option} is {one!r}; give NAME=VALUE")
        result[name] = value
    return result


@app.command()
def show(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Show a source and the history of its refreshes."""
    from workprof.answers.sources import source_answer  # noqa: PLC0415  `workprof --version` stays quick

    with opened(home) as workbench:
        answer = source_answer(workbench.source(name), workbench.refreshes(name))
    emit_answer(answer, as_json)


@app.command()
def remove(name: Name, home: Home = None, as_json: Json = False) -> None:
    """Forget a source and its history; its dataset stays."""
    from workprof.answers.sources import source_answer  # noqa: PLC0415  `workprof --version` stays quick

    with opened(home) as workbench:
        history = workbench.refreshes(name)
        answer = source_answer(workbench.remove_source(name), history)
    emit_answer(answer, as_json)


def refresh(
    name: Annotated[str, typer.Argument(help="Of a source (default: every source).", show_default=False)] = "",
    every: Annotated[
        str, typer.Option("--every", help="Go on: refresh so often, or 'own' for each source's own time.")
    ] = "",
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Bring the datasets of sources up to date; a source that fails leaves its rows as they were."""
    from workprof.answers.sources import refreshed_answer  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.sources.source import seconds_of  # noqa: PLC0415

    with opened(home) as workbench:
        if every:
            _again_and_again(workbench, name, 0.0 if every == "own" else seconds_of(every, "--every", positive=True))
            return
        names = [name] if name else [one.name for one in workbench.sources()]
        done, failed = _refreshed(workbench, names)
        warnings = [
            f"{told.source}, {check.name}: {check.message}"
            for told in done
            if told.dataset and not told.error
            for check in workbench.ingest_report(told.dataset).checks
            if check.level == "warning"
        ]
    emit_answer(refreshed_answer(done, warnings), as_json)
    if failed:
        raise typer.Exit(2)


def _refreshed(workbench: Workbench, names: list[str]) -> tuple[list[Refresh], int]:
    """What became of each; a failure is told and the others go on."""
    done, failed = [], 0
    for name in names:
        try:
            done.append(workbench.refresh(name, progress_line()))
        except HomeBusy:
            raise
        except WorkprofError as error:
            warn(f"source {name}: {str(error).removeprefix(f'source {name}: ')}")
            latest: Any = workbench.refreshes(name, 1) if name in {one.name for one in workbench.sources()} else ()
            done += latest
            failed += 1
    return done, failed


def _again_and_again(workbench: Workbench, name: str, every_s: float) -> None:
    """Refresh until ended by hand; a source that fails waits twice as long each time, up to sixteen times."""
    from workprof.answers.sources import refresh_sentence  # noqa: PLC0415
    from workprof.steps import NICENESS  # noqa: PLC0415

    if not every_s and not any(one.every_s for one in ([workbench.source(name)] if name else workbench.sources())):
        warn("nothing is refreshed until a source has a time of its own: `source add --every`, or give one here")
    os.nice(NICENESS)  # pages that people wait for go first
    due: dict[str, float] = {}
    while True:
        for one in [workbench.source(name)] if name else workbench.sources():
            wait = every_s or one.every_s
            if not wait or time.monotonic() < due.get(one.name, 0.0):
                continue
            done, _ = _refreshed(workbench, [one.name])
            for told in done:
                warn(refresh_sentence(told))
            due[one.name] = time.monotonic() + workbench.source(one.name).wait_s(wait)
        time.sleep(LOOK_AGAIN_S)


def register(tree: typer.Typer) -> None:
    """Add `source` and `refresh` to the tree."""
    tree.command()(refresh)
    tree.add_typer(app, name="source")
