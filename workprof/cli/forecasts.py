"""The commands on jobs before and after they run: `classify`, `estimate` and `durations`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.durations import censored_words, left_out_words, value_words
from workprof.answers.estimates import best_guess_words, choice_words
from workprof.answers.forecasts import forecast_document, observed_answer
from workprof.cli.console import (
    OUT,
    Dataset,
    emit,
    emit_answer,
    emit_of,
    names,
    opened,
    parameter,
    progress_line,
    register as add_function,
    table,
    warn,
)
from workprof.cli.datasets import given_mapping
from workprof.cli.questions import add, answered, fit_of, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.units import format_share
from workprof.core.words import formatted
from workprof.forecasts import questions
from workprof.forecasts.durations import (
    EVERYTHING,
    FEWEST_ROWS,
    PROFILE,
    DurationCurve,
    ObservedDurations,
    share_within,
    value_at,
)
from workprof.forecasts.errors import PredictorErrors
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.one_job import JobForecast
from workprof.profiles.names import name_at
from workprof.store.reports import IngestOptions
from workprof.workbench.forecasts import EXPLAINED_ROWS, FileForecasts

SHOWN_ROWS = 20
SHOWN_PROFILES = 3
SCORES = ("accuracy", "macro_f1", "weighted_f1", "abstained_share", "n_train", "n_test")
QUANTILES = "0.05,0.25,0.5,0.75,0.9,0.95,0.99"


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
            result = workbench.forecast_job(dataset, dict(_pair(text) for text in values or ()), settings)
        shares = workbench.machine_shares(dataset)
        called = workbench.profile_names(dataset, settings.classifier.profiles)
    emit_of(
        shares, [forecast_document(one, called) for one in result], as_json, lambda: _forecasts_text(result, called)
    )


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


def _forecasts_text(result: tuple[JobForecast, ...], called: Sequence[str]) -> str:
    rows: list[dict[str, object]] = []
    for one in result[:SHOWN_ROWS]:
        needs = {
            target.rpartition("_")[0].replace("_", " "): f"{formatted(target, need.point)} "
            f"({formatted(target, need.low)} to {formatted(target, need.high)})"
            for target, need in one.needs.items()
        }
        profile = f"none: {one.reason}" if one.abstained else name_at(called, one.profile)
        rows.append({"profile": profile, "probability": format_share(one.probability, 0), **needs})
    more = f"\n({len(result) - SHOWN_ROWS:,} more; --json gives all)" if len(result) > SHOWN_ROWS else ""
    words = result[0].explanation.sentences if len(result) == 1 and result[0].explanation else ()
    guess = best_guess_words({target: need.predictor for target, need in result[0].needs.items()}) if result else ""
    return "\n".join([table(rows) + more, *([guess] if guess else []), *words])


def _evaluate_estimates(train: str, home: Path | None, as_json: bool, **given: Any) -> None:
    settings = settings_of(questions.EVALUATE_ESTIMATES, given)
    with opened(home) as workbench:
        result = workbench.estimate_evaluation(train, settings, progress_line())
        evaluations = workbench.estimate_evaluations(train, settings)
    for note in result.notes:
        warn(f"note: {note}")
    intervals = {split: asdict(one.interval) for split, one in evaluations.items() if one.interval is not None}
    emit(estimates_json(result) | {"interval_by_split": intervals}, as_json, lambda: _estimates_text(result))


def estimates_json(result: EstimateEvaluation) -> dict[str, Any]:
    """Return the JSON document of an evaluation."""
    return {
        "n_train": result.n_train,
        "n_test": result.n_test,
        "n_left_out": result.n_left_out,
        "predictors": {name: _errors_json(errors) for name, errors in result.predictors.items()},
        "differences": {name: asdict(one) for name, one in result.differences.items()},
        "interval": asdict(result.interval) if result.interval else None,
        "best": result.best,
        "chosen": result.chosen,
        "over_best": result.over_best,
        "why": choice_words(result),
        "choices": list(result.choices),
        "by_profile": [
            {"profile": one.profile, "n": one.n_rows, "ratio_error_p50": one.quantiles[2]}
            | {"beyond_100pct_share": one.beyond_100pct_share}
            for one in result.by_profile
        ],
        "settings": asdict(result.settings),
        "notes": list(result.notes),
        "seconds": result.seconds,
    }


def _errors_json(errors: PredictorErrors) -> dict[str, Any]:
    return {name: value for name, value in asdict(errors).items() if name not in ("name", "curve")}


def _estimates_text(result: EstimateEvaluation) -> str:
    rows: list[dict[str, object]] = [
        {
            "predictor": name,
            "median relative error": f"{errors.ratio_error.p50:.3f}",
            "p90": f"{errors.ratio_error.p90:.2f}",
            "within 100 %": format_share(errors.share_within_100pct),
            "median factor": f"{errors.factor_error.p50:.2f}",
            "under-predicted": format_share(errors.under_predicted_share),
        }
        for name, errors in result.predictors.items()
    ]
    quantity = _QUANTITIES[result.settings.target]
    head = f"{quantity}, split {result.settings.split}: {result.n_test:,} test runs, {result.seconds:.0f} s"
    interval = result.interval
    if interval is None:
        return f"{head}; as published\n\n{table(rows)}"
    covered = (
        f"the {interval.nominal * 100:.0f} % interval covers {format_share(interval.coverage)} and spans "
        f"{interval.median_width_factor:.1f}x (without a model {interval.global_width_factor:.0f}x)"
    )
    if interval.new_users_coverage is not None:
        covered += (
            f"; for {interval.n_new_users:,} runs of new users {format_share(interval.new_users_coverage)} and "
            f"{interval.new_users_width_factor:.1f}x"
        )
    if interval.fixed_coverage is not None:
        covered += (
            f"; it follows the runs that ended: without, {format_share(interval.fixed_coverage)} and "
            f"{interval.fixed_width_factor:.1f}x"
        )
    return f"{head}\n{choice_words(result)}\n{covered}\n\n{table(rows)}"


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
    dataset: str, quantile: str, slo: float | None, curves: bool, home: Path | None, as_json: bool, **given: Any
) -> None:
    shares = _shares(quantile)
    settings = settings_of(questions.OBSERVED_DURATIONS, given)
    with opened(home) as workbench:
        fit = fit_of(given["fit"])
        settings, lacking = workbench.duration_groups(dataset, settings, fit, progress_line())
        result = workbench.observed_durations(dataset, settings, progress_line(), fit=fit)
        called = workbench.profile_names(dataset, fit) if settings.by == PROFILE else None
    if lacking:
        groups = "all runs together" if settings.by == EVERYTHING else "by task"
        warn(f"note: there are no profiles, so the durations are {groups}: {lacking}")
    few = [one.name for one in result.groups if one.few]
    if words := censored_words(result, shares[-1]):
        warn(f"note: {words}")
    if few:
        warn(f"note: effective sample size below {FEWEST_ROWS} jobs, too few to compare: {', '.join(few)}")
    emit(durations_json(result, shares, slo, curves), as_json, lambda: _durations_text(result, shares, slo, called))


def durations_json(
    result: ObservedDurations, shares: tuple[float, ...], slo: float | None, curves: bool = False
) -> dict[str, Any]:
    """Return the JSON document of observed curves: values in the target's unit, shares 0-1."""

    def with_points(curve: DurationCurve) -> dict[str, Any]:
        points = {"points": curve.points, "shares": curve.shares, "grid_step": curve.grid_step} if curves else {}
        return _curve(curve, shares, slo) | points

    return {
        "by": result.settings.by,
        "target": result.settings.target,
        "confidence": result.settings.confidence,
        "all": with_points(result.everything),
        "groups": [with_points(one) for one in result.groups],
        "n_rows": result.n_rows,
        "cut_short": result.settings.cut_short,
        "left_out": {
            "missing": result.n_missing,
            "negative": result.n_negative,
            "zero": result.n_zero,
            "unfinished": result.n_unfinished,
        },
        "n_without_group": result.n_without_group,
        "seconds": result.seconds,
    }


def _curve(curve: DurationCurve, shares: tuple[float, ...], slo: float | None) -> dict[str, Any]:
    return {
        "group": curve.name,
        "n_merged": curve.n_merged,
        "rows": curve.n_rows,
        "censored": curve.n_censored,
        "effective_jobs": curve.n_effective,
        "few": curve.few,
        "quantiles": {_quantile_name(share): value_at(curve, share) for share in shares},
        "finished_alone": None
        if curve.finished is None
        else {_quantile_name(share): value_at(curve.finished, share) for share in shares},
        "max": float(curve.points[-1]),
        "within_slo": None if slo is None else share_within(curve, slo),
        "band": min(curve.band, 1.0),
    }


def _quantile_name(share: float) -> str:
    return f"p{share * 100:.10g}"


def _shares(text: str) -> tuple[float, ...]:
    try:
        shares = tuple(float(name) for name in names(text))
    except ValueError as error:
        raise SettingsError(f"--quantile is {text!r}; give shares A,B,... such as 0.5,0.95") from error
    if not shares or not all(0 < share <= 1 for share in shares):
        raise SettingsError(f"--quantile is {text!r}; give shares above 0, up to 1, such as 0.5,0.95")
    return shares


def _durations_text(
    result: ObservedDurations, shares: tuple[float, ...], slo: float | None, called: Sequence[str] | None
) -> str:
    rows: list[dict[str, object]] = []
    for curve in (*result.groups, result.everything):
        within = {} if slo is None else {f"within {slo:g}": format_share(share_within(curve, slo))}
        values = {_quantile_name(share): value_words(curve, result.settings.target, share) for share in shares}
        if curve.finished is not None:
            name = f"finished {_quantile_name(shares[-1])}"
            values[name] = value_words(curve.finished, result.settings.target, shares[-1])
        more = f" ({curve.n_merged} groups)" if curve.n_merged else ""
        is_profile = called is not None and not curve.n_merged and curve is not result.everything
        name = name_at(called or (), int(curve.name)) if is_profile else curve.name
        rows.append({"group": f"{name}{more}", "runs": f"{curve.n_rows:,}", **within, **values})
    quantity = _QUANTITIES[result.settings.target]
    return f"{quantity} by {result.settings.by}: {left_out_words(result)}\n\n{table(rows)}"


_QUANTITIES = questions.OBSERVED_DURATIONS.leaf("target").about.shown


_SET = typer.Option("--set", help="field=value; repeat.", show_default=False)
_NEW_JOBS = typer.Option("--jobs", help="New jobs: a CSV file, or a dataset.", show_default=False)
_TRAIN = typer.Option("--train", help="Dataset to learn from.", show_default=False)
_FINISHED = typer.Option("--jobs", help="Finished jobs: a file that ingest takes, or a dataset.", show_default=False)
_REFIT = typer.Option("--refit", help="Cluster and train again afterwards.")
_FORMAT = typer.Option("--format", help="Of the file, as for ingest.")
_MAP = typer.Option("--map", help="Of the file, as for ingest.")
_QUANTILE = typer.Option("--quantile", help="Shares A,B,... of the runs, 0-1.")
_SLO = typer.Option("--slo", help="A limit, in the target's unit (s, bytes, %).", show_default=False)
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
            parameter("quantile", Annotated[str, _QUANTILE], QUANTILES),
            parameter("slo", Annotated[float | None, _SLO], None),
            parameter("curves", Annotated[bool, _CURVES], False),
            *options(questions.OBSERVED_DURATIONS),
            *OUT,
        ],
    )
    tree.add_typer(classify, name="classify")
    tree.add_typer(estimate, name="estimate")
