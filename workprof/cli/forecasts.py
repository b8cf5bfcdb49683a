"""The commands on jobs before and after they run: `classify`, `estimate` and `durations`."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.durations import QUANTILES, ObservedView, durations_answer, group_names
from workprof.answers.estimates import best_guess_words, coverage_words, estimate_answer, so_far_words
from workprof.answers.feedback import observed_answer
from workprof.answers.forecasts import forecast_document, training_notes
from workprof.cli.console import (
    OUT,
    Dataset,
    emit_answer,
    emit_of,
    names,
    opened,
    parameter,
    passing,
    progress_line,
    register as add_function,
    table,
    warn,
)
from workprof.cli.datasets import given_mapping
from workprof.cli.questions import add, answered, fit_of, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.progress import hearing
from workprof.core.units import UNITS_OF, format_share
from workprof.core.words import formatted, listed
from workprof.forecasts import questions
from workprof.forecasts.durations import PROFILE
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.one_job import JobForecast
from workprof.formats.fields import FIELDS
from workprof.profiles.names import name_at
from workprof.store.reports import IngestOptions
from workprof.workbench.forecasts import EXPLAINED_ROWS, FileForecasts

SHOWN_ROWS = 20
_AMOUNT = re.compile(r"\s*(\d*\.?\d+(?:[eE][+-]?\d+)?)\s*([A-Za-z]*)\s*", re.ASCII)


def _predict(
    dataset: str, values: list[str] | None, jobs: str | None, home: Path | None, as_json: bool, **given: Any
) -> None:
    if (jobs is None) == (not values):
        raise SettingsError("give either --set field=value (once or more) or --jobs, a CSV file or a dataset")
    settings = settings_of(questions.FORECASTER, given)
    with opened(home) as workbench:
        if jobs is not None:
            read = workbench.forecast_file(dataset, jobs, settings, progress_line())
            result = read.jobs
            _file_notes(read)
        else:
            one = _job(values or [])
            result = workbench.forecast_job(dataset, one, settings, progress_line())
        trained = workbench.forecaster(dataset, settings)
        shares = workbench.machine_shares(dataset)
        called = workbench.profile_names(dataset, settings.classifier.profiles)
    for note in training_notes(trained):
        warn(f"note: {note}")
    emit_of(
        shares,
        lambda: [forecast_document(one, called) for one in result],
        as_json,
        lambda: _forecasts_text(result, called, settings.nominal),
    )


def _job(texts: Sequence[str]) -> dict[str, str]:
    pairs = [_pair(text) for text in texts]
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise SettingsError(f"--set gives {twice[0]} more than once; give each field one value")
    return dict(pairs)


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise SettingsError(f"--set takes field=value, not {text!r}")
    return name.strip(), value.strip()


def _file_notes(read: FileForecasts) -> None:
    if read.unknown:
        warn(f"note: columns that are not known at submission were not used: {', '.join(read.unknown)}")
    if len(read.jobs) > EXPLAINED_ROWS:
        warn(
            f"note: the first {EXPLAINED_ROWS} of {len(read.jobs):,} jobs are explained; the others have no SHAP values"
        )


def _forecasts_text(result: tuple[JobForecast, ...], called: Sequence[str], nominal: float) -> str:
    rows: list[dict[str, object]] = []
    for one in result[:SHOWN_ROWS]:
        needs = {
            target.rpartition("_")[0].replace("_", " "): f"{formatted(target, need.point)} "
            f"({formatted(target, need.low)} to {formatted(target, need.high)})"
            for target, need in one.needs.items()
        }
        best, share = name_at(called, one.best), format_share(one.probability, 0)
        profile = f"none: {one.reason}; most likely {best} ({share})" if one.abstained else best
        rows.append({"profile": profile, "probability": "" if one.abstained else share, **needs})
    more = f"\n({len(result) - SHOWN_ROWS:,} more; --json gives all)" if len(result) > SHOWN_ROWS else ""
    words = result[0].explanation.sentences if len(result) == 1 and result[0].explanation else ()
    first = result[0].needs if result else {}
    guess = best_guess_words(
        {target: need.predictor for target, need in first.items()},
        {target: need.bounded for target, need in first.items()},
    )
    least = {target: min(one.needs[target].covers for one in result) for target in first}
    short = coverage_words(least, nominal)
    return "\n".join([table(rows) + more, *filter(None, (guess, short)), *words])


def _evaluate_estimates(train: str, home: Path | None, as_json: bool, **given: Any) -> None:
    settings = settings_of(questions.EVALUATE_ESTIMATES, given)
    with opened(home) as workbench, hearing(_so_far):
        result = workbench.estimate_evaluation(train, settings, progress_line())
        evaluations = workbench.estimate_evaluations(train, settings)
    emit_answer(estimate_answer(result, evaluations), as_json)


def _so_far(found: object) -> None:
    if isinstance(found, EstimateEvaluation):
        passing(so_far_words(found))


def _observe(
    dataset: str,
    jobs: str,
    refit: bool,
    trace_format: str,
    mapping: str,
    home: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    settings = settings_of(questions.OBSERVE, given)
    with opened(home) as workbench:
        read = IngestOptions(format=trace_format, mapping=given_mapping(workbench, mapping))
        result = workbench.observe(dataset, jobs, settings, progress_line(), refit, read)
        now = workbench.feedback(dataset, settings)
        called = workbench.profile_names(dataset, settings.forecaster.classifier.profiles)
    answer = observed_answer(result, called)
    quantiles = now.quantiles if now else {}
    emit_answer(replace(answer, document={**answer.document, "quantiles": quantiles}), as_json)


def _durations(
    dataset: str, quantile: str, slo: str, curves: bool, home: Path | None, as_json: bool, **given: Any
) -> None:
    settings = settings_of(questions.OBSERVED_DURATIONS, given)
    shares, limit = _shares(quantile), _limit(slo, FIELDS[settings.target].unit) if slo else 0.0
    with opened(home) as workbench:
        fit = fit_of(given["fit"])
        result = workbench.observed_durations(dataset, settings, progress_line(), fit=fit)
        called = workbench.profile_names(dataset, fit) if result.settings.by == PROFILE else ()
    names = group_names(result, dict(enumerate(called[:-1])))
    emit_answer(durations_answer(result, names, ObservedView(limit=limit), shares, curves=curves), as_json)


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(name) for name in names(text))
    except ValueError as error:
        raise SettingsError(f"--quantile is {text!r}; give shares A,B,... such as 0.5,0.95") from error
    if not shares or not all(0 < share <= 1 for share in shares):
        raise SettingsError(f"--quantile is {text!r}; give shares above 0, up to 1, such as 0.5,0.95")
    return shares


def _limit(text: str, unit: str) -> float:
    """A limit such as 3600, 1h or 4GB in the unit of its target, in which a bare number is."""
    match, units = _AMOUNT.fullmatch(text), {"": 1.0, **UNITS_OF[unit]}
    value = float(match[1]) * units.get(match[2], math.nan) if match else math.nan
    if not 0 < value < math.inf:
        known = listed([*UNITS_OF[unit]], "or")
        raise SettingsError(f"--slo is {text[:40]!r}; give a number above 0 in the target's unit, or with {known}")
    return value


_SET = typer.Option("--set", help="field=value; repeat.", show_default=False)
_NEW_JOBS = typer.Option("--jobs", help="New jobs: a CSV file, or a dataset.", show_default=False)
_TRAIN = typer.Option("--train", help="Dataset to learn from.", show_default=False)
_FINISHED = typer.Option("--jobs", help="Finished jobs: a file that ingest takes, or a dataset.", show_default=False)
_REFIT = typer.Option("--refit", help="Cluster and train again afterwards.")
_FORMAT = typer.Option("--format", help="Of the file, as for ingest.")
_MAP = typer.Option("--map", help="Of the file, as for ingest.")
_QUANTILE = typer.Option("--quantile", help="Shares A,B,... of the runs, 0-1.")
_SLO = typer.Option("--slo", help="A limit: 1h or 4GB, or in the target's unit (s, bytes, %).", show_default=False)
_CURVES = typer.Option("--curves", help="In the JSON, the points of every curve too.")


def register(tree: typer.Typer) -> None:
    """Add the commands to the tree."""
    classify = typer.Typer(help="A job's profile before it runs.", no_args_is_help=True, rich_markup_mode=None)
    estimate = typer.Typer(help="What jobs will need, before they run.", no_args_is_help=True, rich_markup_mode=None)
    add(classify, answered(questions.EVALUATE_CLASSIFIER))
    add_function(
        classify,
        "predict",
        questions.FORECASTER.title,
        _predict,
        [
            parameter("dataset", Dataset),
            parameter("values", Annotated[list[str] | None, _SET], None),
            parameter("jobs", Annotated[str | None, _NEW_JOBS], None),
            *options(questions.FORECASTER),
            *OUT,
        ],
    )
    add(classify, answered(questions.ALTERNATIVES))
    add(classify, answered(questions.EXPLAIN))
    add_function(
        estimate,
        "evaluate",
        questions.EVALUATE_ESTIMATES.title,
        _evaluate_estimates,
        [parameter("train", Annotated[str, _TRAIN]), *options(questions.EVALUATE_ESTIMATES), *OUT],
    )
    add_function(
        estimate,
        "observe",
        questions.OBSERVE.title,
        _observe,
        [
            parameter("dataset", Dataset),
            parameter("jobs", Annotated[str, _FINISHED]),
            parameter("refit", Annotated[bool, _REFIT], False),
            parameter("trace_format", Annotated[str, _FORMAT], "auto"),
            parameter("mapping", Annotated[str, _MAP], ""),
            *options(questions.OBSERVE),
            *OUT,
        ],
    )
    add_function(
        tree,
        "durations",
        questions.OBSERVED_DURATIONS.title,
        _durations,
        [
            parameter("dataset", Dataset),
            parameter("quantile", Annotated[str, _QUANTILE], ",".join(map(str, QUANTILES))),
            parameter("slo", Annotated[str, _SLO], ""),
            parameter("curves", Annotated[bool, _CURVES], False),
            *options(questions.OBSERVED_DURATIONS),
            *OUT,
        ],
    )
    tree.add_typer(classify, name="classify")
    tree.add_typer(estimate, name="estimate")
