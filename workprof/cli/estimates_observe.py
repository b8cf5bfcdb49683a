"""The command of the feedback loop: finished jobs in, drift and advice out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, opened, progress_line, table, warn
from workprof.cli.datasets import read_mapping
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.feedback.drift import Drift
from workprof.forecasts.feedback.loop import FeedbackSettings, Observed
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import IngestOptions
from workprof.units import format_share

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
DEFAULT = FeedbackSettings()


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(observe)


def observe(
    dataset: Dataset,
    jobs: Annotated[
        str, typer.Option("--jobs", help="Finished jobs: a file that ingest takes, or a dataset.", show_default=False)
    ],
    refit: Annotated[bool, typer.Option("--refit", help="Cluster and train again afterwards.")] = False,
    window: Annotated[int, typer.Option("--window", help="Newest jobs per profile.")] = DEFAULT.window_jobs,
    half_life: Annotated[float, typer.Option("--half-life", help="Days; 0 = no decay.")] = DEFAULT.half_life_days,
    mode: Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")] = "corrected",
    trace_format: Annotated[str, typer.Option("--format", help="Of the file, as for ingest.")] = "auto",
    mapping: Annotated[Path | None, typer.Option("--map", help="Of the file, as for ingest.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Fold finished jobs in: estimates follow, drift is measured, another clustering is advised (or run)."""
    profiles = ProfileSettings(mode=mode)
    forecaster = ForecasterSettings(classifier=ClassifierSettings(profiles=profiles, mode=mode))
    settings = FeedbackSettings(forecaster=forecaster, window_jobs=window, half_life_days=half_life)
    options = IngestOptions(format=trace_format, mapping=read_mapping(mapping))
    with opened(home) as workbench:
        found = workbench.observe(dataset, jobs, settings, progress_line(), refit, options)
        now = workbench.feedback(dataset, settings)
    for note in found.notes:
        warn(f"note: {note}")
    quantiles = now.quantiles if now else {}
    emit(observed_answer(found) | {"quantiles": quantiles}, as_json, lambda: _as_text(found))


def observed_answer(found: Observed) -> dict[str, Any]:
    """Return the JSON document of one observation."""
    stands = found.assessment
    return {
        "observed": found.observed,
        "rows_read": found.n_read,
        "repeated": found.n_repeated,
        "already_observed": found.already,
        "filed": found.filed,
        "not_filed": found.n_unfiled,
        "agreed_share": found.agreed_share,
        "violations": found.violations,
        "drift": [_drift_answer(one) for one in stands.drift],
        "outlier_share": stands.outlier_share,
        "outlier_share_at_fit": stands.outlier_share_at_fit,
        "acquires": stands.acquires,
        "acquires_at_fit": stands.acquires_at_fit,
        "recluster_advised": stands.recluster_advised,
        "reasons": list(stands.reasons),
        "refitted": found.refitted,
        "acquires_history": list(found.history),
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def _drift_answer(one: Drift) -> dict[str, Any]:
    return {
        "profile": one.profile,
        "target": one.target,
        "jobs": one.jobs,
        "effective_jobs": one.effective,
        "drift": one.found,
        "error": vars(one.error) | {"factor": one.error.factor},
        "distribution": vars(one.distribution),
    }


def _as_text(found: Observed) -> str:
    stands = found.assessment
    head = (
        f"{found.observed:,} of {found.n_read:,} rows observed, {found.filed.get('-1', 0):,} far from every profile "
        f"({format_share(stands.outlier_share)} of the recent jobs, {format_share(stands.outlier_share_at_fit)} at the "
        f"fit); ACQUIRES {stands.acquires:.3f}, {stands.acquires_at_fit:.3f} at the fit"
    )
    advice = "; ".join(stands.reasons) or "nothing speaks for another clustering"
    done = "profiles and forecaster were made anew" if found.refitted else ""
    if stands.recluster_advised and not found.refitted:
        done = "another clustering is advised: add --refit"
    lines = [_line(one) for one in stands.drift if one.jobs]
    return "\n".join(part for part in (head, advice, done, "", table(lines)) if part or part == "")


def _line(one: Drift) -> dict[str, object]:
    return {
        "profile": f"P{one.profile}",
        "target": one.target,
        "jobs": f"{one.jobs:,}",
        "errors": one.error.word,
        "factor": f"{one.error.factor:.2f}",
        "needs": one.distribution.word,
        "distance": f"{one.distribution.distance:.2f}",
    }
