"""Commands on estimates: how far they can be believed."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table, warn
from workprof.cli.further_settings import With, further
from workprof.forecasts.errors import PredictorErrors
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings
from workprof.units import format_share

app = typer.Typer(help="What jobs will need, before they run.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def estimate() -> None:
    """What jobs will need, before they run."""


@app.command()
def evaluate(
    train: Annotated[str, typer.Option("--train", help="Dataset to learn from.", show_default=False)],
    test: Annotated[str | None, typer.Option("--test", help="Dataset to test on; without it, 10 folds.")] = None,
    target: Annotated[
        str, typer.Option("--target", help="duration_s, peak_memory_bytes, cpu_usage_percent or gpu_usage_percent.")
    ] = "duration_s",
    split: Annotated[str, typer.Option("--split", help="random, by_job, by_group or by_time.")] = "by_job",
    fields: Annotated[str | None, typer.Option("--fields", help="Submit-time fields A,B,...")] = None,
    mode: Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")] = "corrected",
    seed: Annotated[int, typer.Option("--seed", help="Of every draw.")] = 0,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Test every predictor on rows that training never saw, with the interval's coverage."""
    asked = EstimateSettings(target, names(fields) if fields else (), mode, split, seed=seed)
    with opened(home) as workbench:
        settings = EstimateEvaluationSettings(asked, tested=test or "")
        if mode == "faithful":
            settings = replace(settings, profiles=replace(settings.profiles, mode=mode))
        found = workbench.estimate_evaluation(train, further(settings, given), progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(evaluation_answer(found), as_json, lambda: _as_text(found))


def evaluation_answer(found: EstimateEvaluation) -> dict[str, Any]:
    """Return the JSON document of an evaluation."""
    return {
        "n_train": found.n_train,
        "n_test": found.n_test,
        "n_left_out": found.n_left_out,
        "predictors": {name: _errors_answer(errors) for name, errors in found.predictors.items()},
        "interval": asdict(found.interval) if found.interval else None,
        "best": found.best,
        "choices": list(found.choices),
        "by_profile": [
            {"profile": one.profile, "n": one.n_rows, "ratio_error_p50": one.quantiles[2]}
            | {"beyond_100pct_share": one.beyond_100pct_share}
            for one in found.by_profile
        ],
        "settings": asdict(found.settings),
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def _errors_answer(errors: PredictorErrors) -> dict[str, Any]:
    return {name: value for name, value in asdict(errors).items() if name not in ("name", "curve")}


def _as_text(found: EstimateEvaluation) -> str:
    rows: list[dict[str, object]] = [
        {
            "predictor": f"{name} (chosen)" if name == found.best else name,
            "median ratio error": f"{errors.ratio_error.p50:.3f}",
            "p90": f"{errors.ratio_error.p90:.2f}",
            "within 100 %": format_share(errors.share_within_100pct),
            "median factor": f"{errors.factor_error.p50:.2f}",
            "under-predicted": format_share(errors.under_predicted_share),
        }
        for name, errors in found.predictors.items()
    ]
    head = f"{found.settings.target}, {found.settings.split}: {found.n_test:,} rows tested in {found.seconds:.0f} s"
    interval = found.interval
    if interval is None:
        return f"{head}; published definitions\n\n{table(rows)}"
    covered = (
        f"the {interval.nominal:.0%} interval covers {format_share(interval.coverage)}; its upper end is "
        f"{interval.median_width_factor:.1f} times the lower (one interval for all: {interval.global_width_factor:.0f})"
    )
    return f"{head}\n{covered}\n\n{table(rows)}"
