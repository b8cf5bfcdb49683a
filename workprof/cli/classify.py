"""Commands on the classifier: how good it is, and what it says of new jobs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table, warn
from workprof.cli.further_settings import With, further
from workprof.errors import SettingsError
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.profiles.settings import ProfileSettings
from workprof.units import GB, format_share
from workprof.workbench.new_jobs import EXPLAINED_ROWS, FileForecasts, JobForecast, Need

app = typer.Typer(help="A job's profile before it runs.", no_args_is_help=True, rich_markup_mode=None)

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
Mode = Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")]
Fields = Annotated[str | None, typer.Option("--fields", help="Submit-time fields A,B,...; default: the mode's.")]
SHOWN_ROWS = 20
SCORES = ("accuracy", "macro_f1", "weighted_f1", "abstained_share", "n_train", "n_test")


@app.callback()
def classify() -> None:
    """A job's profile before it runs."""


@app.command()
def evaluate(
    dataset: Dataset,
    mode: Mode = "corrected",
    fields: Fields = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Score the classifier under random, by-job, by-group and by-time splits."""
    with opened(home) as workbench:
        settings = further(classifier_settings(mode, fields), given)
        found = workbench.classifier_evaluation(dataset, settings, progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(evaluation_answer(found), as_json, lambda: _as_text(found))


@app.command()
def predict(
    dataset: Dataset,
    values: Annotated[list[str] | None, typer.Option("--set", help="field=value; repeat.", show_default=False)] = None,
    jobs: Annotated[Path | None, typer.Option("--jobs", help="CSV of new jobs.", show_default=False)] = None,
    mode: Mode = "corrected",
    fields: Fields = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say the profile of new jobs, what they will need, and why."""
    if (jobs is None) == (not values):
        raise SettingsError("give either --set field=value (once or more) or --jobs FILE.csv")
    settings = further(ForecasterSettings(classifier_settings(mode, fields)), given)
    with opened(home) as workbench:
        if jobs is not None:
            read = workbench.forecast_file(dataset, jobs, settings, progress_line())
            found = read.jobs
            _tell(read)
        else:
            found = workbench.forecast_job(dataset, dict(_pair(text) for text in values or ()), settings)
    emit([forecast_answer(one) for one in found], as_json, lambda: _forecasts_as_text(found))


def classifier_settings(mode: str, fields: str | None) -> ClassifierSettings:
    """Return the settings of a classifier that the common options ask for."""
    return ClassifierSettings(profiles=ProfileSettings(mode=mode), fields=names(fields) if fields else (), mode=mode)


def _pair(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not name:
        raise SettingsError(f"--set takes field=value, not {text!r}")
    return name.strip(), value.strip()


def _tell(read: FileForecasts) -> None:
    if read.unknown:
        warn(f"note: columns that are not known at submission were not used: {', '.join(read.unknown)}")
    if len(read.jobs) > EXPLAINED_ROWS:
        warn(
            f"note: the first {EXPLAINED_ROWS} of {len(read.jobs):,} jobs are explained; the others have no SHAP values"
        )


def forecast_answer(found: JobForecast) -> dict[str, Any]:
    """Return the JSON of one job: memory in GB (1e9 bytes), duration in s, usage in per cent of a core or GPU."""
    explained = found.explanation
    return {
        "profile": found.profile,
        "probability": found.probability,
        "top": [{"profile": profile, "probability": probability} for profile, probability in found.top],
        "abstained": found.abstained,
        "reason": found.reason or None,
        "estimates": {_told_as(target): _need_answer(target, need) for target, need in found.needs.items()},
        "shap": None
        if explained is None
        else {
            "profile": explained.profile,
            "fields": dict(zip(explained.fields, explained.contributions.tolist(), strict=True)),
            "base": explained.base,
            "output": explained.output,
            "additivity_error": explained.additivity_error,
            "words": list(explained.sentences),
        },
    }


def _told_as(target: str) -> str:
    return target.replace("_bytes", "_gb")


def _need_answer(target: str, need: Need) -> dict[str, float]:
    scale = GB if target.endswith("_bytes") else 1.0
    return {name: value / scale for name, value in asdict(need).items()}


def _forecasts_as_text(found: tuple[JobForecast, ...]) -> str:
    rows: list[dict[str, object]] = []
    for one in found[:SHOWN_ROWS]:
        answer = forecast_answer(one)
        needs = {
            name: f"{need['p50']:.4g} ({need['low']:.4g}-{need['high']:.4g})"
            for name, need in answer["estimates"].items()
        }
        profile = f"none: {one.reason}" if one.abstained else one.profile
        rows.append({"profile": profile, "probability": f"{one.probability:.2f}", **needs})
    more = f"\n({len(found) - SHOWN_ROWS:,} more; --json gives all)" if len(found) > SHOWN_ROWS else ""
    words = found[0].explanation.sentences if len(found) == 1 and found[0].explanation else ()
    return "\n".join([table(rows) + more, *words])


def evaluation_answer(found: ClassifierEvaluation) -> dict[str, Any]:
    """Return the JSON document of an evaluation."""
    return {
        "splits": {name: {key: getattr(scores, key) for key in SCORES} for name, scores in found.splits.items()},
        "not_made": found.not_made,
        "classes": [asdict(one) for one in found.classes],
        "shown": found.shown,
        "fields": list(found.fields),
        "mode": found.settings.mode,
        "notes": list(found.notes),
        "train_seconds": found.train_seconds,
        "seconds": found.seconds,
    }


def _as_text(found: ClassifierEvaluation) -> str:
    rows: list[dict[str, object]] = [
        {
            "split": name,
            "accuracy": f"{scores.accuracy:.3f}",
            "macro F1": f"{scores.macro_f1:.3f}",
            "weighted F1": f"{scores.weighted_f1:.3f}",
            "abstained": format_share(scores.abstained_share),
            "tested": f"{scores.n_test:,}",
        }
        for name, scores in found.splits.items()
    ]
    worst: list[dict[str, object]] = [
        {key: f"{value:.3f}" if isinstance(value, float) else value for key, value in asdict(one).items()}
        for one in found.classes
    ]
    return f"{table(rows)}\n\nby profile, worst first ({found.shown})\n{table(worst)}"
