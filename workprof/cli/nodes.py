"""The commands on nodes: what their results are as JSON and as text; their options are the declared settings."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.configurations import search_answer
from workprof.answers.node_groups import transfer_answer
from workprof.cli import nodes_suite
from workprof.cli.console import Home, Json, emit_answer, opened, parameter, progress_line, register
from workprof.cli.questions import WITH, add, add_others, answered, options, settings_of
from workprof.cli.schedule import SCHEDULED
from workprof.core.errors import SettingsError
from workprof.nodes import questions
from workprof.nodes.allocation import PROFILE, Allocation
from workprof.profiles.names import name_of

HELP = "Which node is fastest for which work, and which has degraded."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

Reports = Annotated[Path, typer.Option("--reports", help="Folder with one folder of reports per machine.")]
Scores = Annotated[
    Path | None,
    typer.Option(
        "--scores", help="CSV machine,cpu,linpack,memory,io; default: the published ones.", show_default=False
    ),
]
ConfigurationTable = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV with the columns machine, count, runtime (s), cost, and workload where several; or the name of a "
        "dataset made of one.",
    ),
]
NodeScores = Annotated[
    Path | None,
    typer.Option(
        "--node-scores", help="CSV machine,cpu,memory,disk,network; search with them too.", show_default=False
    ),
]


@app.callback()
def nodes() -> None:
    """Which node is fastest for which work, and which has degraded."""


def _named_kinds(result: Allocation, names: Sequence[str]) -> Allocation:
    """Return an allocation whose profiles have their names, so that its table is as wide as they are."""
    return replace(result, kinds=tuple(replace(one, name=name_of(one.name, names)) for one in result.kinds))


def _transfer(reports: Path, scores: Path | None, as_json: bool, **given: Any) -> None:
    from workprof.workbench.nodes import runtime_transfer  # noqa: PLC0415  `--help` stays quick

    compared = runtime_transfer(reports, settings_of(questions.TRANSFER, given), scores)
    told = transfer_answer(compared.result, compared.interval)
    emit_answer(replace(told, notes=(*compared.notes, *told.notes)), as_json)


def _search(dataset: str, node_scores: Path | None, home: Path | None, as_json: bool, **given: Any) -> None:
    from workprof.nodes.search import search_file  # noqa: PLC0415  `--help` stays quick

    settings, file = settings_of(questions.SEARCH, given), Path(dataset)
    if file.is_file() or file.suffix:
        if settings.runs:
            raise SettingsError(f"--runs is of a home and {file} a file; ingest it first (`workprof ingest {file}`)")
        result = search_file(file, settings, node_scores, progress_line())
    elif node_scores:
        raise SettingsError("--node-scores is of a CSV of configurations; give --runs for a dataset")
    else:
        with opened(home) as workbench:
            result = workbench.configuration_search(dataset, settings, progress_line())
    emit_answer(search_answer(result), as_json)


for _question in (questions.RANK, questions.GROUPS, questions.DETECT, questions.HISTORY):
    add(app, answered(_question))
add(app, answered(questions.ADVICE, profiles_of=lambda _, settings: settings.jobs))
add(
    app,
    answered(
        questions.ALLOCATE,
        profiles_of=lambda _, settings: settings.jobs if settings.by == PROFILE else "",
        named=_named_kinds,
    ),
)
register(
    app,
    "transfer",
    questions.TRANSFER.title,
    _transfer,
    [
        parameter("reports", Reports),
        *(one for one in options(questions.TRANSFER) if one.name != WITH),
        parameter("scores", Scores, None),
        parameter("as_json", Json, False),
    ],
)
register(
    app,
    "search",
    questions.SEARCH.title,
    _search,
    [
        parameter("dataset", ConfigurationTable),
        *options(questions.SEARCH),
        parameter("node_scores", NodeScores, None),
        parameter("home", Home, None),
        parameter("as_json", Json, False),
    ],
)
nodes_suite.register(app)
add(app, SCHEDULED)
add_others(app, questions.QUESTIONS)
