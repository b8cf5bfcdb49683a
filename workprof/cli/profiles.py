"""Commands on profiles: fit, and what the files beside this one add."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli import clusterability, sweep
from workprof.cli.console import Home, Json, emit, opened, progress_line, table, warn
from workprof.cli.questions import Dataset, options, parameter, register, settings_of
from workprof.profiles.fit import ProfileFit
from workprof.profiles.questions import FIT
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.settings import preset as preset_overrides
from workprof.profiles.summary import ProfileCard
from workprof.units import format_share

app = typer.Typer(help="Kinds of jobs.", no_args_is_help=True, rich_markup_mode=None)

sweep.register(app)
clusterability.register(app)


@app.callback()
def profiles() -> None:
    """Kinds of jobs."""


def _fit(dataset: str, preset: str | None, home: Path | None, as_json: bool, **given: Any) -> None:
    with opened(home) as workbench:
        changes: dict[str, Any] = preset_overrides(preset, workbench.dataset(dataset).finished_rows) if preset else {}
        settings = settings_of(FIT, given, ProfileSettings(**changes))
        found = workbench.profiles(dataset, settings, progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(fit_answer(found), as_json, lambda: _as_text(found))


Preset = Annotated[str | None, typer.Option("--preset", help="paper, fine or coarse; other options win.")]
register(
    app,
    "fit",
    FIT.title,
    _fit,
    [
        parameter("dataset", Dataset),
        *options(FIT),
        parameter("preset", Preset, None),
        parameter("home", Home, None),
        parameter("as_json", Json, False),
    ],
)


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
