"""Commands on profiles: fit, sweep, and whether there is anything to cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.profiles import assigned_answer, fit_answer, stability_answer
from workprof.cli.console import OUT, Dataset, emit_answer, opened, parameter, progress_line, register
from workprof.cli.questions import add, add_others, answered, options, settings_of
from workprof.core.fields import put, read
from workprof.profiles.questions import BASELINE, FIT, HOPKINS, QUESTIONS, STABILITY, SWEEP
from workprof.profiles.settings import ProfileSettings, preset as preset_overrides
from workprof.store.outputs import checked_output

app = typer.Typer(help="Profiles: runs that behave alike.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def profiles() -> None:
    """Profiles: runs that behave alike."""


def _fit(dataset: str, preset: str | None, home: Path | None, as_json: bool, **given: Any) -> None:
    with opened(home) as workbench:
        settings = _settings(workbench, dataset, preset, given)
        fit = workbench.profiles(dataset, settings, progress_line())
        names = workbench.profile_names(dataset, settings)
    emit_answer(fit_answer(fit, names), as_json)


def _settings(workbench: Any, dataset: str, preset: str | None, given: dict[str, Any]) -> ProfileSettings:
    changes: dict[str, Any] = preset_overrides(preset, workbench.dataset(dataset).finished_rows) if preset else {}
    settings: ProfileSettings = settings_of(FIT, given, ProfileSettings(**changes))
    return settings


PRESET = Annotated[str | None, typer.Option("--preset", help="paper, fine or coarse; other options win.")]
register(
    app,
    "fit",
    FIT.title,
    _fit,
    [parameter("dataset", Dataset), *options(FIT), parameter("preset", PRESET, None), *OUT],
)


add(app, answered(SWEEP))
add(app, answered(BASELINE))
add(app, answered(HOPKINS))

FURTHER = {one.name for one in options(FIT)} - {one.name for one in options(STABILITY)}
"""Options of the clustering that are none of the study itself."""


def _stability(dataset: str, home: Path | None, as_json: bool, **given: Any) -> None:
    study = settings_of(STABILITY, given)
    changes = {
        leaf.path: read(leaf, given[leaf.path])
        for leaf in FIT.leaves
        if leaf.path in FURTHER and given[leaf.path] is not None
    }
    with opened(home) as workbench:
        stability = workbench.stability(dataset, put(study, {"fit": put(study.fit, changes)}), progress_line())
    emit_answer(stability_answer(stability), as_json)


register(
    app,
    "stability",
    STABILITY.title,
    _stability,
    [
        parameter("dataset", Dataset),
        *options(STABILITY),
        *(one for one in options(FIT) if one.name in FURTHER),
        *OUT,
    ],
)


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
