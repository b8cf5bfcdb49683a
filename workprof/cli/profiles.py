"""Commands on profiles: fit, sweep, and whether there is anything to cluster."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.demand import called as demand_called
from workprof.answers.profiles import assigned_answer, fit_answer
from workprof.answers.told import TOLD
from workprof.cli.console import OUT, Dataset, emit_answer, opened, parameter, progress_line, register
from workprof.cli.questions import add, add_others, answered, given_value, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.fields import put
from workprof.core.question import Question
from workprof.forecasts.questions import EMBEDDINGS
from workprof.memory.ledger_settings import PROFILE
from workprof.memory.questions import DEMAND
from workprof.phases.questions import SHAPES
from workprof.profiles.questions import BASELINE, FIT, HOPKINS, MEMBERSHIP, QUESTIONS, STABILITY, SWEEP
from workprof.profiles.settings import ENGINES, ProfileSettings, preset as preset_overrides
from workprof.store.outputs import checked_output

app = typer.Typer(help="Profiles: runs that behave alike.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def profiles() -> None:
    """Profiles: runs that behave alike."""


def _fit(
    dataset: str,
    preset: str | None,
    engine: str | None,
    series: bool,
    autoencoder: bool,
    home: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    if series:
        if preset or engine or autoencoder or any(given.values()):
            raise SettingsError("--series groups runs by the shape of their usage; give options to `phases shapes`")
        with opened(home) as workbench:
            shapes = workbench.run_shapes(dataset, None, progress_line())
        emit_answer(TOLD[SHAPES.name](shapes), as_json)
        return
    if autoencoder:
        given["embedding"] = "autoencoder"
    if engine is not None:
        if engine not in ENGINES:
            raise SettingsError(f"engine is {engine!r}; choose from {', '.join(ENGINES)}")
        given["algorithm"] = ENGINES[engine]
    with opened(home) as workbench:
        settings = _settings(workbench, dataset, preset, given)
        fit = workbench.profiles(dataset, settings, progress_line())
        names = workbench.profile_names(dataset, settings)
    emit_answer(fit_answer(fit, names), as_json)


def _settings(workbench: Any, dataset: str, preset: str | None, given: dict[str, Any]) -> ProfileSettings:
    changes: dict[str, Any] = preset_overrides(preset, workbench.dataset(dataset).finished_rows) if preset else {}
    settings: ProfileSettings = settings_of(FIT, given, ProfileSettings(**changes))
    return settings


PRESET = Annotated[
    str | None,
    typer.Option(
        "--preset",
        help="paper, fine, coarse or google-2011; other options win. paper is the transform, distance and size of the "
        "paper's run; its features and scores are those of --mode faithful.",
    ),
]
ENGINE = Annotated[
    str | None,
    typer.Option(
        "--engine", help="workprof, or hdbscan: the package itself (--algorithm package), the same but for ties."
    ),
]
SERIES = "Of recordings: group runs by the shape of their usage over time, as `phases shapes`."
register(
    app,
    "fit",
    FIT.title,
    _fit,
    [
        parameter("dataset", Dataset),
        *options(FIT),
        parameter("preset", PRESET, None),
        parameter("engine", ENGINE, None),
        parameter("series", Annotated[bool, typer.Option("--series", help=SERIES)], False),
        parameter(
            "autoencoder", Annotated[bool, typer.Option("--autoencoder", help="As --embedding autoencoder.")], False
        ),
        *OUT,
    ],
)


add(app, answered(SWEEP))
add(app, answered(BASELINE))
add(app, answered(HOPKINS))


def _of_fit(question: Question[Any, Any]) -> None:
    """Add the command of a question about one clustering: its own options, and those of the clustering."""
    own = {one.name for one in options(question)}
    further = [one for one in options(FIT) if one.name not in own]
    names = {one.name for one in further}

    def asked(dataset: str, home: Path | None, as_json: bool, **given: Any) -> None:
        settings = settings_of(question, given)
        changes = {
            leaf.path: given_value(leaf, given[leaf.path])
            for leaf in FIT.leaves
            if leaf.path in names and given[leaf.path] not in (None, [])
        }
        with opened(home) as workbench:
            compute = getattr(workbench, question.call)
            result = compute(dataset, put(settings, {"fit": put(settings.fit, changes)}), progress_line())
        emit_answer(TOLD[question.name](result), as_json)

    given = [parameter("dataset", Dataset), *options(question), *further, *OUT]
    register(app, question.words[-1], question.title, asked, given)


def _by_profile(_: Any, __: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**given, "by": given["by"] or PROFILE}


add(
    app,
    answered(DEMAND, named=demand_called, profiles_of=lambda dataset, _: dataset, complete=_by_profile),
    name="over-time",
)
_of_fit(STABILITY)
_of_fit(MEMBERSHIP)
_of_fit(EMBEDDINGS)


def _assign(
    dataset: str, files: list[Path], output: Path, preset: str | None, home: Path | None, as_json: bool, **given: Any
) -> None:
    checked_output(output, folder=True)
    with opened(home) as workbench:
        settings = _settings(workbench, dataset, preset, given)
        found = workbench.assign_files(dataset, files, output, settings, progress_line())
    emit_answer(assigned_answer(found), as_json)


FILES = typer.Argument(help="Parquet files, or folders of them, with the dataset's features.", show_default=False)
INTO = typer.Option("-o", "--output", help="Folder to write to: a file of the same name for each.", show_default=False)
register(
    app,
    "assign",
    "Write the profiles of the runs in Parquet files, say a whole trace of which the dataset is a sample.",
    _assign,
    [
        parameter("dataset", Dataset),
        parameter("files", Annotated[list[Path], FILES]),
        parameter("output", Annotated[Path, INTO]),
        *options(FIT),
        parameter("preset", PRESET, None),
        *OUT,
    ],
)
add_others(app, QUESTIONS)
