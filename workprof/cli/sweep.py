"""The command that runs the paper's grid: sweep."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table
from workprof.errors import SettingsError
from workprof.profiles.sweep import COUPLED, PRESET_DECIDES, SweepRun, SweepSettings

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(sweep)


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
