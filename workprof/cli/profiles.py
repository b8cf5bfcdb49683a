"""Commands on profiles: fit, sweep, and whether there is anything to cluster."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli.console import OUT, Dataset, emit, opened, parameter, progress_line, register, table, warn
from workprof.cli.questions import Face, add, add_others, options, settings_of
from workprof.core.fields import put, read
from workprof.core.units import format_share
from workprof.profiles.baseline import Baseline
from workprof.profiles.fit import ProfileFit
from workprof.profiles.hopkins import Hopkins
from workprof.profiles.names import OUTLIERS
from workprof.profiles.part_files import AssignedFiles
from workprof.profiles.questions import BASELINE, FIT, HOPKINS, QUESTIONS, STABILITY, SWEEP
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.settings import preset as preset_overrides
from workprof.profiles.stability import Stability
from workprof.profiles.summary import ProfileCard
from workprof.profiles.sweep import SweepRun
from workprof.store.outputs import checked_output
from workprof.workbench.sweeps import SweepState

app = typer.Typer(help="Profiles: runs that behave alike.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def profiles() -> None:
    """Profiles: runs that behave alike."""


def _fit(dataset: str, preset: str | None, home: Path | None, as_json: bool, **given: Any) -> None:
    with opened(home) as workbench:
        settings = _settings(workbench, dataset, preset, given)
        fit = workbench.profiles(dataset, settings, progress_line())
        names = workbench.profile_names(dataset, settings)
    for note in fit.notes:
        warn(f"note: {note}")
    emit(fit_json(fit, names), as_json, lambda: _fit_text(fit, names))


def _settings(workbench: Any, dataset: str, preset: str | None, given: dict[str, Any]) -> ProfileSettings:
    changes: dict[str, Any] = preset_overrides(preset, workbench.dataset(dataset).finished_rows) if preset else {}
    settings: ProfileSettings = settings_of(FIT, given, ProfileSettings(**changes))
    return settings


PRESET = Annotated[str | None, typer.Option("--preset", help="paper, fine or coarse; other options win.")]
register(
    app,
    "fit",
    FIT.title,
    _fit,
    [parameter("dataset", Dataset), *options(FIT), parameter("preset", PRESET, None), *OUT],
)


def fit_json(fit: ProfileFit, names: Sequence[str]) -> dict[str, object]:
    """Return the JSON document of one fit: settings, scores, one entry per profile, with its name."""
    cards = [_card_json(card) | {"name": names[card.profile]} for card in fit.cards if card.profile >= 0]
    return {
        "settings": asdict(fit.settings) | {"features": list(fit.features)},
        **asdict(fit.scores),
        "sample_rows": fit.sample_rows,
        "profiles": cards,
        "left_out": fit.left_out,
        "imputed": fit.imputed,
        "notes": list(fit.notes),
        "seconds": fit.seconds,
        "step_seconds": fit.step_seconds,
    }


def _card_json(card: ProfileCard) -> dict[str, object]:
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


def _fit_text(fit: ProfileFit, names: Sequence[str]) -> str:
    scores = fit.scores
    outliers = f"{scores.n_outliers:,} outliers ({format_share(scores.n_outliers / scores.n_rows)})"
    sample = f" (found in a sample of {fit.sample_rows:,}, the others assigned)" if fit.sample_rows else ""
    head = (
        f"{scores.n_clusters} profiles, {outliers} of {scores.n_rows:,} runs in {fit.seconds:.1f} s{sample}\n"
        f"silhouette {scores.silhouette_clustered:.3f} without outliers, {scores.avg_silhouette:.3f} with them as a "
        f"cluster, averaged over the runs in profiles ({scores.silhouette_method}); ACQUIRES {scores.acquires:.3f}"
    )
    rows: list[dict[str, object]] = [
        {
            "profile": names[card.profile],
            "runs": f"{card.size:,}",
            "silhouette": f"{card.silhouette:.3f}",
            "purity": format_share(card.purity),
            "what": card.takeaway,
        }
        for card in fit.cards
    ]
    return f"{head}\n\n{table(rows)}"


def _sweep_json(state: SweepState) -> dict[str, object]:
    runs = [
        asdict(run.settings)
        | {"features": list(run.settings.features), "grid_size": run.grid_size}
        | asdict(run.scores)
        | {"seconds": run.seconds}
        for run in state.runs
    ]
    return {
        "runs": runs,
        "best": runs[state.best] if state.best >= 0 else None,
        "summary": state.summary,
        "winners_by_target": state.winners,
        "left_out": [group.result.left_out for group in state.groups if group.result],
        "seconds": state.seconds,
    }


def _sweep_row(run: SweepRun) -> dict[str, object]:
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


add(app, Face(SWEEP, _sweep_json, lambda state: table([_sweep_row(run) for run in state.runs])))


def _baseline_json(baseline: Baseline) -> dict[str, object]:
    own = {"profiles": baseline.profiles, "profiles_published": baseline.profiles_published}
    return {
        "labels": [vars(label) for label in baseline.labels],
        **{name: vars(one) if one else None for name, one in own.items()},
        "n_rows": baseline.n_rows,
        "notes": baseline.notes,
        "seconds": baseline.seconds,
    }


def _baseline_text(baseline: Baseline) -> str:
    shown = [*baseline.labels, *(one for one in (baseline.profiles, baseline.profiles_published) if one)]
    return _chosen(shown, "by", "euclidean", "cosine", "manhattan", "method", "n_values", "n_missing", "reason")


def _chosen(records: list[Any], *names: str) -> str:
    """Return a table of some attributes of records, numbers with three digits."""
    rows = [{name: getattr(one, name) for name in names} for one in records]
    return table([{name: f"{v:.3f}" if isinstance(v, float) else v for name, v in row.items()} for row in rows])


add(app, Face(BASELINE, _baseline_json, _baseline_text))


def _hopkins_text(hopkins: Hopkins) -> str:
    draws = f"over {hopkins.resamples} draws of {hopkins.n_sampled:,}"
    value = f"Hopkins {hopkins.hopkins:.4f} (sd {hopkins.hopkins_sd:.4f} {draws})"
    return f"{value}: {hopkins.reading} (near 0 = clusterable, 0.5 = uniform)"


add(app, Face(HOPKINS, lambda hopkins: hopkins, _hopkins_text))

FURTHER = {one.name for one in options(FIT)} - {one.name for one in options(STABILITY)}
"""Options of the clustering that are none of the study itself."""


def _stability(dataset: str, home: Path | None, as_json: bool, **given: Any) -> None:
    study = settings_of(STABILITY, given)
    changes = {
        leaf.path: read(leaf, given[leaf.path])
        for leaf in FIT.leaves
        if leaf.path in FURTHER and given[leaf.path] is not None
    }
    with opened(home) as workbench:
        stability = workbench.stability(dataset, put(study, {"fit": put(study.fit, changes)}), progress_line())
    emit(stability, as_json, lambda: _stability_text(stability))


def _stability_text(stability: Stability) -> str:
    head = f"adjusted Rand {stability.adjusted_rand:.3f} over {stability.settings.resamples} resamples"
    return f"{head}\n\n{_chosen(list(stability.per_profile), 'profile', 'size', 'jaccard', 'jaccard_min', 'reading')}"


register(
    app,
    "stability",
    STABILITY.title,
    _stability,
    [
        parameter("dataset", Dataset),
        *options(STABILITY),
        *(one for one in options(FIT) if one.name in FURTHER),
        *OUT,
    ],
)


def _assign(
    dataset: str, files: list[Path], output: Path, preset: str | None, home: Path | None, as_json: bool, **given: Any
) -> None:
    checked_output(output, folder=True)
    with opened(home) as workbench:
        settings = _settings(workbench, dataset, preset, given)
        found = workbench.assign_files(dataset, files, output, settings, progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(_assigned_json(found), as_json, lambda: _assigned_text(found))


def _assigned_json(found: AssignedFiles) -> dict[str, object]:
    labels = [*range(len(found.names) - 1), OUTLIERS]
    profiles = [
        {"profile": label, "name": name, "runs": int(runs)}
        for label, name, runs in zip(labels, found.names, found.runs, strict=True)
    ]
    return {
        **{name: value for name, value in vars(found).items() if name not in {"names", "runs"}},
        "profiles": profiles,
    }


def _assigned_text(found: AssignedFiles) -> str:
    there = f", {found.reused:,} of them there before" if found.reused else ""
    files = f"{found.files:,} file{'s' if found.files != 1 else ''}"
    runs = f"{found.rows:,} run{'s' if found.rows != 1 else ''} of {files}"
    head = f"{runs} assigned in {found.seconds:.1f} s, written to {found.folder}{there}"
    rows: list[dict[str, object]] = [
        {"profile": name, "runs": f"{runs:,}", "share": format_share(runs / found.rows)}
        for name, runs in zip(found.names, found.runs.tolist(), strict=True)
    ]
    return f"{head}\n\n{table(rows)}"


FILES = typer.Argument(help="Parquet files, or folders of them, with the dataset's features.", show_default=False)
INTO = typer.Option("-o", "--output", help="Folder to write to: a file of the same name for each.", show_default=False)
register(
    app,
    "assign",
    "Write the profiles of the runs in Parquet files, say a whole trace of which the dataset is a sample.",
    _assign,
    [
        parameter("dataset", Dataset),
        parameter("files", Annotated[list[Path], FILES]),
        parameter("output", Annotated[Path, INTO]),
        *options(FIT),
        parameter("preset", PRESET, None),
        *OUT,
    ],
)
add_others(app, QUESTIONS)
