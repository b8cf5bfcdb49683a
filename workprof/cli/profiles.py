"""Commands on profiles: fit, sweep."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, opened, progress_line, table, warn
from workprof.errors import SettingsError
from workprof.profiles.fit import ProfileCard, ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.settings import preset as preset_overrides
from workprof.profiles.sweep import SweepRun
from workprof.profiles.sweep_settings import COUPLED, PRESET_DECIDES, SweepSettings
from workprof.units import format_share

app = typer.Typer(help="Kinds of jobs.", no_args_is_help=True, rich_markup_mode=None)

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]


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


@app.command()
def sweep(
    dataset: Dataset,
    preset: Annotated[str, typer.Option("--preset", help="paper (coupled, exact) or quick.")] = "quick",
    algorithms: Annotated[str, typer.Option("--algorithms", help="hdbscan, optics or hdbscan,optics.")] = "",
    min_samples: Annotated[str, typer.Option("--min-samples", help="A number, or coupled to the size.")] = "",
    silhouette: Annotated[str, typer.Option("--silhouette", help="exact or sampled.")] = "",
    features: Annotated[str, typer.Option("--features", help="sensors10, all17, or names A,B,...")] = "",
    mode: Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")] = "corrected",
    target_clusters: Annotated[int, typer.Option("--target-clusters", help="That ACQUIRES rewards.")] = 26,
    sample_rows: Annotated[int, typer.Option("--sample-rows", help="Cluster a sample; 0 = all rows.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Of every draw.")] = 0,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Run the paper's grid (Table III); finished runs are kept, so a stopped sweep goes on where it was."""
    settings = SweepSettings(
        preset=preset,
        algorithms=names(algorithms),
        min_samples=_min_samples(min_samples),
        silhouette=silhouette,
        features=names(features),
        mode=mode,
        target_clusters=target_clusters,
        sample_rows=sample_rows,
        seed=seed,
    )
    with opened(home) as workbench:
        state = workbench.sweep(dataset, settings, progress_line())
    runs = [_run_answer(run) for run in state.runs]
    answer = {
        "runs": runs,
        "best": runs[state.best] if state.best >= 0 else None,
        "summary": state.summary,
        "winners_by_target": state.winners,
        "left_out": [group.result.left_out for group in state.groups if group.result],
        "seconds": state.seconds,
    }
    emit(answer, as_json, lambda: table([_run_line(run) for run in state.runs]))


def names(text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated option."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _min_samples(text: str) -> int:
    if text in {"", "coupled"}:
        return COUPLED if text else PRESET_DECIDES
    if not text.isdigit() or int(text) < 1:
        raise SettingsError(f"--min-samples is {text!r}; give a number of at least 1, or coupled")
    return int(text)


def _run_answer(run: SweepRun) -> dict[str, object]:
    settings = asdict(run.settings) | {"features": list(run.settings.features)}
    return {**settings, "grid_size": run.grid_size, **asdict(run.scores), "seconds": run.seconds}


def _run_line(run: SweepRun) -> dict[str, object]:
    settings, scores = run.settings, run.scores
    return {
        "algorithm": settings.algorithm,
        "scaler": settings.scaler,
        "metric": settings.metric,
        "size": run.grid_size,
        "clusters": scores.n_clusters,
        "outliers": f"{scores.n_outliers:,}",
        "silhouette": f"{scores.avg_silhouette:.3f}",
        "davies_bouldin": f"{scores.davies_bouldin:.3f}",
        "acquires": f"{scores.acquires:.3f}",
        "seconds": f"{run.seconds:.1f}",
    }
