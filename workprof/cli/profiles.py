"""Commands on profiles: fit, and what the files beside this one add."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from workprof.cli import clusterability, sweep
from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table, warn
from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.settings import preset as preset_overrides
from workprof.profiles.summary import ProfileCard
from workprof.units import format_share

app = typer.Typer(help="Kinds of jobs.", no_args_is_help=True, rich_markup_mode=None)

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]


sweep.register(app)
clusterability.register(app)


@app.callback()
def profiles() -> None:
    """Kinds of jobs."""


@app.command()
def fit(
    dataset: Dataset,
    features: Annotated[str | None, typer.Option("--features", help="sensors10, all17, or names A,B,...")] = None,
    scaler: Annotated[str | None, typer.Option("--scaler", help="none, standard, minmax, robust or power.")] = None,
    metric: Annotated[str | None, typer.Option("--metric", help="euclidean or manhattan.")] = None,
    algorithm: Annotated[str | None, typer.Option("--algorithm", help="hdbscan or optics.")] = None,
    min_cluster_size: Annotated[int | None, typer.Option("--min-cluster-size", help="0 = 0.3 % of the rows.")] = None,
    min_samples: Annotated[int | None, typer.Option("--min-samples", help="0 = min-cluster-size.")] = None,
    method: Annotated[str | None, typer.Option("--method", help="eom or leaf.")] = None,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="Merge clusters closer than this.")] = None,
    mode: Annotated[str | None, typer.Option("--mode", help="corrected or faithful (as published).")] = None,
    target_clusters: Annotated[int | None, typer.Option("--target-clusters", help="That ACQUIRES rewards.")] = None,
    preset: Annotated[str | None, typer.Option("--preset", help="paper, fine or coarse; other options win.")] = None,
    silhouette: Annotated[str | None, typer.Option("--silhouette", help="exact or sampled.")] = None,
    sample_rows: Annotated[int | None, typer.Option("--sample-rows", help="Cluster a sample; 0 = all rows.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Of every draw.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Cluster the jobs of a dataset into profiles and score the clustering."""
    asked: dict[str, Any] = {
        "features": names(features) if features else None,
        "scaler": scaler,
        "metric": metric,
        "algorithm": algorithm,
        "min_cluster_size": min_cluster_size,
        "min_samples": min_samples,
        "method": method,
        "epsilon": epsilon,
        "mode": mode,
        "target_clusters": target_clusters,
        "silhouette": silhouette,
        "sample_rows": sample_rows,
        "seed": seed,
    }
    with opened(home) as workbench:
        chosen = preset_overrides(preset, workbench.dataset(dataset).finished_rows) if preset else {}
        given = {name: value for name, value in asked.items() if value is not None}
        settings = replace(ProfileSettings(), **(chosen | given))
        found = workbench.profiles(dataset, settings, progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(fit_answer(found), as_json, lambda: _as_text(found))


def fit_answer(found: ProfileFit) -> dict[str, object]:
    """Return the JSON document of one fit: settings, scores, one entry per profile."""
    cards = [_card_answer(card) for card in found.cards if card.profile >= 0]
    return {
        "settings": asdict(found.settings) | {"features": list(found.features)},
        **asdict(found.scores),
        "profiles": cards,
        "left_out": found.left_out,
        "imputed": found.imputed,
        "notes": list(found.notes),
        "seconds": found.seconds,
        "step_seconds": found.step_seconds,
    }


def _card_answer(card: ProfileCard) -> dict[str, object]:
    top: dict[str, dict[str, object]] = {}
    for entry in card.top_metadata:
        top.setdefault(entry.field, {"value": entry.value, "share": entry.share})
    return {
        "profile": card.profile,
        "size": card.size,
        "share": card.share,
        "silhouette": card.silhouette,
        "purity": card.purity,
        "job_purity": card.job_purity,
        "labels": list(card.labels),
        "top_metadata": top,
        "takeaway": card.takeaway,
    }


def _as_text(found: ProfileFit) -> str:
    scores = found.scores
    outliers = f"{scores.n_outliers:,} outliers ({format_share(scores.n_outliers / scores.n_rows)})"
    head = (
        f"{scores.n_clusters} profiles, {outliers} of {scores.n_rows:,} rows in {found.seconds:.1f} s\n"
        f"silhouette {scores.silhouette_clustered:.3f} without outliers, {scores.avg_silhouette:.3f} as published"
        f" ({scores.silhouette_method}); ACQUIRES {scores.acquires:.3f}"
    )
    rows: list[dict[str, object]] = [
        {
            "profile": card.profile,
            "rows": f"{card.size:,}",
            "silhouette": f"{card.silhouette:.3f}",
            "purity": format_share(card.purity),
            "what": card.takeaway,
        }
        for card in found.cards
    ]
    return f"{head}\n\n{table(rows)}"
