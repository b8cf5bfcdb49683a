"""Commands that ask whether there is anything to cluster: baseline, hopkins, stability."""

from __future__ import annotations

from typing import Annotated

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table
from workprof.cli.further_settings import Fit, With, clustering, further
from workprof.profiles.baseline import Baseline, BaselineSettings, LabelSilhouette
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
Features = Annotated[str, typer.Option("--features", help="sensors10, all17, or names A,B,...")]
Scaler = Annotated[str, typer.Option("--scaler", help="none, standard, minmax, robust or power.")]
Mode = Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")]
Seed = Annotated[int, typer.Option("--seed", help="Of every draw.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (baseline, hopkins, stability):
        app.command()(command)


def baseline(
    dataset: Dataset,
    by: Annotated[list[str] | None, typer.Option("--by", help="A column, or columns A,B; may be repeated.")] = None,
    features: Features = "",
    scaler: Scaler = "power",
    mode: Mode = "corrected",
    silhouette: Annotated[str, typer.Option("--silhouette", help="exact or sampled.")] = "",
    seed: Seed = 0,
    fit: Fit = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Silhouettes of metadata labels taken as clusters (Table II), in three metrics."""
    settings = BaselineSettings(
        by=tuple(names(label) for label in by or ()),
        features=names(features),
        scaler=scaler,
        mode=mode,
        silhouette=silhouette,
        seed=seed,
    )
    with opened(home) as workbench:
        beside = clustering(fit)
        if beside is not None:
            workbench.profiles(dataset, beside, progress_line())
        found = workbench.baseline(dataset, further(settings, given), beside, progress_line())
    rows = [vars(label) for label in found.labels]
    own = {name: vars(one) if one else None for name, one in _profiles_of(found).items()}
    keys = ("by", "euclidean", "cosine", "manhattan", "method", "n_values", "n_missing", "reason")
    answer = {"labels": rows, **own, "n_rows": found.n_rows, "notes": found.notes, "seconds": found.seconds}
    shown = [*rows, *(one for one in own.values() if one)]
    emit(answer, as_json, lambda: table([{key: _short(row[key]) for key in keys} for row in shown]))


def _profiles_of(found: Baseline) -> dict[str, LabelSilhouette | None]:
    return {"profiles": found.profiles, "profiles_published": found.profiles_published}


def hopkins(
    dataset: Dataset,
    features: Features = "",
    scaler: Scaler = "power",
    mode: Mode = "corrected",
    seed: Seed = 0,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """The Hopkins statistic in the paper's convention: near 0 = clusterable, 0.5 = uniform."""
    settings = HopkinsSettings(features=names(features), scaler=scaler, mode=mode, seed=seed)
    with opened(home) as workbench:
        found = workbench.hopkins(dataset, further(settings, given), progress_line())
    text = (
        f"Hopkins {found.hopkins:.4f} (sd {found.hopkins_sd:.4f} over {found.resamples} draws of {found.n_sampled:,})"
    )
    emit(found, as_json, lambda: f"{text}: {found.reading} (near 0 = clusterable, 0.5 = uniform)")


def stability(
    dataset: Dataset,
    resamples: Annotated[int, typer.Option("--resamples", help="Clusterings of a part of the rows.")] = 10,
    sample_rows: Annotated[int, typer.Option("--sample-rows", help="Most rows of each; 0 = 80 % of all.")] = 20_000,
    features: Features = "",
    scaler: Scaler = "power",
    min_cluster_size: Annotated[int, typer.Option("--min-cluster-size", help="0 = 0.3 % of the rows.")] = 0,
    mode: Mode = "corrected",
    seed: Seed = 0,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """How well each profile comes back when a part of the rows is left out (Jaccard)."""
    fit = ProfileSettings(features=names(features), scaler=scaler, min_cluster_size=min_cluster_size, mode=mode)
    settings = StabilitySettings(fit=fit, resamples=resamples, sample_rows=sample_rows, seed=seed)
    with opened(home) as workbench:
        found = workbench.stability(dataset, further(settings, given), progress_line())
    rows = [vars(profile) for profile in found.per_profile]
    keys = ("profile", "size", "jaccard", "jaccard_min", "reading")
    head = f"adjusted Rand {found.adjusted_rand:.3f} over {found.settings.resamples} resamples"
    emit(found, as_json, lambda: f"{head}\n\n{table([{key: _short(row[key]) for key in keys} for row in rows])}")


def _short(value: object) -> object:
    return f"{value:.3f}" if isinstance(value, float) else value
