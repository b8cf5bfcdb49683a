"""The commands on jobs before and after they run: `classify`, `estimate` and `durations`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.answers.durations import censored_words, left_out_words, value_words
from workprof.cli.console import OUT, Dataset, emit, emit_of, names, opened, parameter, progress_line, table, warn
from workprof.cli.console import register as add_function
from workprof.cli.datasets import given_mapping
from workprof.cli.questions import Face, add, fit_of, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.units import GB, format_share
from workprof.core.words import formatted
from workprof.forecasts import questions
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation, Reliability, SplitScores
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
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.feedback.drift import Drift
from workprof.forecasts.feedback.loop import Observed
from workprof.forecasts.predictions import NO_PROFILE
from workprof.forecasts.splits import SPLITS
from workprof.profiles.names import name_at, with_names
from workprof.store.reports import IngestOptions
from workprof.workbench.forecasts import EXPLAINED_ROWS, FileForecasts, JobForecast, Need

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
    emit_of(shares, [forecast_json(one, called) for one in result], as_json, lambda: _forecasts_text(result, called))


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


def forecast_json(result: JobForecast, called: Sequence[str]) -> dict[str, Any]:
    """Return the JSON of one job: memory in GB (1e9 bytes), duration in s, usage in per cent of a core or GPU.

    Args:
        result: of the job.
        called: names of the profiles, as `Workbench.profile_names` gives them.
    """
    explained = result.explanation
    return {
        "profile": result.profile,
        "name": None if result.abstained else name_at(called, result.profile),
        "probability": result.probability,
        "top": [{"profile": profile, "probability": probability} for profile, probability in result.top],
        "abstained": result.abstained,
        "reason": result.reason or None,
        "estimates": {_json_name(target): _need_json(target, need) for target, need in result.needs.items()},
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


def _json_name(target: str) -> str:
    return target.replace("_bytes", "_gb")


def _need_json(target: str, need: Need) -> dict[str, float]:
    scale = GB if target.endswith("_bytes") else 1.0
    return {name: value / scale for name, value in vars(need).items()}


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
    return "\n".join([table(rows) + more, *words])


def classifier_json(result: ClassifierEvaluation) -> dict[str, Any]:
    """Return the JSON document of an evaluation."""
    return {
        "splits": {name: _split_json(scores) for name, scores in result.splits.items()},
        "cluster_on": result.settings.cluster_on,
        "clustered_on_all": {name: _split_json(scores) for name, scores in result.beside.items()} or None,
        "label_agreement": result.label_agreement or None,
        "not_made": result.not_made,
        "classes": [asdict(one) for one in result.classes],
        "shown": result.shown,
        "fields": list(result.fields),
        "mode": result.settings.mode,
        "notes": list(result.notes),
        "train_seconds": result.train_seconds,
        "seconds": result.seconds,
    }


def _split_json(scores: SplitScores) -> dict[str, Any]:
    return {
        **{key: getattr(scores, key) for key in SCORES},
        **_calibration_json(scores.reliability),
        "new_users": {"n_test": int(scores.new_users.rows.sum()), **_calibration_json(scores.new_users)},
    }


def _calibration_json(held: Reliability) -> dict[str, float | None]:
    result = {
        "mean_probability": held.mean_stated,
        "correct_share": held.mean_observed,
        "calibration_error": held.error,
    }
    return {key: None if math.isnan(value) else value for key, value in result.items()}


def _classifier_text(result: ClassifierEvaluation) -> str:
    of_both = [(name, "training runs", scores) for name, scores in result.splits.items()] if result.beside else []
    of_all = [(name, "all runs", scores) for name, scores in (result.beside or result.splits).items()]
    rows: list[dict[str, object]] = [
        {
            "split": name,
            **({"profiles found among": outcome} if of_both else {}),
            "accuracy": f"{scores.accuracy:.3f}",
            "macro F1": f"{scores.macro_f1:.3f}",
            "weighted F1": f"{scores.weighted_f1:.3f}",
            "abstained": format_share(scores.abstained_share),
            "probability": f"{scores.reliability.mean_stated:.3f}",
            "correct": f"{scores.reliability.mean_observed:.3f}",
            "calibration error": f"{scores.reliability.error:.3f}",
            "test runs": f"{scores.n_test:,}",
        }
        for name, outcome, scores in (*of_both, *of_all)
    ]
    worst: list[dict[str, object]] = [
        {
            "profile": "none" if one.profile == NO_PROFILE else f"P{one.profile}",
            "precision": f"{one.precision:.3f}",
            "recall": f"{one.recall:.3f}",
            "F1": f"{one.f1:.3f}",
            "runs": f"{one.support:,}",
        }
        for one in result.classes
    ]
    strict = next((name for name in ("by_group", "by_job") if name in result.splits), result.shown)
    scores = result.splits[strict]
    words = SPLITS[strict].removeprefix("a ")
    head = f"profile predicted correctly for {format_share(scores.accuracy, 0)} of the runs (split {strict}: {words})"
    return f"{head}\n\n{table(rows)}\n\nby profile, lowest F1 first ({result.shown})\n{table(worst)}"


def explanation_json(result: GlobalExplanation) -> dict[str, Any]:
    """Return the JSON document of a global explanation."""
    classes = [int(one) for one in result.classes]
    return {
        "n_sampled": result.n_sampled,
        "n_rows": result.n_rows,
        "seed": result.seed,
        "fields": [
            {"field": name, "mean_abs_shap": float(row.sum()), "by_profile": _by_profile(classes, row)}
            for name, row in zip(result.fields, result.by_field, strict=True)
        ],
        "values": [
            {"value": name, "mean_abs_shap": float(row.sum()), "by_profile": _by_profile(classes, row)}
            for name, row in zip(result.values, result.by_value, strict=True)
        ],
        "additivity_error": result.additivity_error,
        "seconds": result.seconds,
    }


def _by_profile(classes: list[int], row: Any) -> dict[str, float]:
    return {str(profile): float(value) for profile, value in zip(classes, row, strict=True)}


def _explanation_text(result: GlobalExplanation) -> str:
    document = explanation_json(result)
    lines = {name: [_explained_line(one) for one in document[name]] for name in ("fields", "values")}
    head = f"mean |SHAP| in log-odds over {result.n_sampled:,} of {result.n_rows:,} runs, summed over the profiles"
    return f"{head}\n\n{table(lines['fields'])}\n\n{table(lines['values'])}"


def _explained_line(one: dict[str, Any]) -> dict[str, object]:
    most = sorted(one["by_profile"].items(), key=lambda item: -item[1])[:SHOWN_PROFILES]
    return {
        "what": one.get("field", one.get("value")),
        "mean |SHAP|": f"{one['mean_abs_shap']:.4f}",
        "most for": ", ".join(f"{profile} ({value:.3f})" for profile, value in most),
    }


def _additivity(result: GlobalExplanation) -> tuple[str, ...]:
    return () if result.additive else (f"SHAP values miss the output by up to {result.additivity_error:.2g}",)


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
            "predictor": f"{name} (chosen)" if name == result.best else name,
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
    return f"{head}\n{covered}\n\n{table(rows)}"


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
    for note in result.notes:
        warn(f"note: {note}")
    quantiles = now.quantiles if now else {}
    emit(observed_json(result) | {"quantiles": quantiles}, as_json, lambda: _observed_text(result, called))


def observed_json(result: Observed) -> dict[str, Any]:
    """Return the JSON document of one observation."""
    stands = result.assessment
    return {
        "observed": result.observed,
        "rows_read": result.n_read,
        "repeated": result.n_repeated,
        "already_observed": result.already,
        "filed": result.filed,
        "not_filed": result.n_unfiled,
        "agreed_share": result.agreed_share,
        "violations": result.violations,
        "drift": [_drift_json(one) for one in stands.drift],
        "outlier_share": stands.outlier_share,
        "outlier_share_at_fit": stands.outlier_share_at_fit,
        "acquires": stands.acquires,
        "acquires_at_fit": stands.acquires_at_fit,
        "recluster_advised": stands.recluster_advised,
        "reasons": list(stands.reasons),
        "refitted": result.refitted,
        "acquires_history": list(result.history),
        "notes": list(result.notes),
        "seconds": result.seconds,
    }


def _drift_json(one: Drift) -> dict[str, Any]:
    return {
        "profile": one.profile,
        "target": one.target,
        "jobs": one.jobs,
        "effective_jobs": one.effective,
        "drift": one.is_drifting,
        "error": vars(one.error) | {"factor": one.error.factor},
        "distribution": vars(one.distribution),
    }


def _observed_text(result: Observed, called: Sequence[str]) -> str:
    stands = result.assessment
    head = (
        f"{result.observed:,} of {result.n_read:,} runs compared, {result.filed.get('-1', 0):,} far from every profile "
        f"({format_share(stands.outlier_share)} of the recent jobs, {format_share(stands.outlier_share_at_fit)} at the "
        f"fit); ACQUIRES {stands.acquires:.3f}, {stands.acquires_at_fit:.3f} at the fit"
    )
    advice = "; ".join(stands.reasons) or "no drift that calls for another clustering"
    done = "profiles and classifier were trained again" if result.refitted else ""
    if stands.recluster_advised and not result.refitted:
        done = "another clustering is advised: add --refit"
    lines = [_drift_line(one, called) for one in stands.drift if one.jobs]
    return "\n".join(part for part in (head, advice, done, "", table(lines)) if part or part == "")


def _drift_line(one: Drift, called: Sequence[str]) -> dict[str, object]:
    return {
        "profile": with_names(f"P{one.profile}", called),
        "target": one.target,
        "jobs": f"{one.jobs:,}",
        "errors": one.error.word,
        "factor": f"{one.error.factor:.2f}",
        "needs": one.distribution.word,
        "distance": f"{one.distribution.distance:.2f}",
    }


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
    add(classify, Face(questions.EVALUATE_CLASSIFIER, classifier_json, _classifier_text, lambda result: result.notes))
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
    add(classify, Face(questions.EXPLAIN, explanation_json, _explanation_text, _additivity))
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
