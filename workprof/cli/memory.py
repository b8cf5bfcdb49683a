"""Commands on memory: what is asked for and used, and bins."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table
from workprof.cli.further_settings import Fit, With, clustering, further
from workprof.cli.memory_bins import show_bins, show_profile_bins
from workprof.errors import SettingsError
from workprof.memory.assessment import Assessment, AssessmentSettings
from workprof.memory.bin_search import BinSettings, faithful_bins
from workprof.memory.bins import ProfileBinSettings
from workprof.units import format_share, parse_size

app = typer.Typer(help="What sizes would save, and what they would break.", no_args_is_help=True, rich_markup_mode=None)

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
Task = Annotated[str, typer.Option("--task", help="Name of the task.", show_default=False)]
Target = Annotated[str, typer.Option("--target", help="What is sized for: peak_rss or rss.")]
Mode = Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")]
MODES = ("corrected", "faithful")
SHOWN_TASKS = 30


@app.callback()
def memory() -> None:
    """What sizes would save, and what they would break."""


@app.command()
def assess(
    dataset: Dataset, target: Target = "peak_rss", given: With = None, home: Home = None, as_json: Json = False
) -> None:
    """Show what tasks ask for and use, the ones that waste most first."""
    with opened(home) as workbench:
        found = workbench.assessment(dataset, further(AssessmentSettings(target=target), given), progress_line())
    emit(assessment_answer(found), as_json, lambda: _assessment_text(found))


@app.command()
def bins(
    dataset: Dataset,
    task: Annotated[str | None, typer.Option("--task", help="Name of the task.", show_default=False)] = None,
    profile: Annotated[
        int | None,
        typer.Option("--profile", help="In place of a task: number in the clustering of --fit.", show_default=False),
    ] = None,
    k: Annotated[int | None, typer.Option("-k", help="Number of bins, 1 to 8; default 3.")] = None,
    edges: Annotated[str | None, typer.Option("--edges", help="Sizes A,B,... instead; bare numbers are GB.")] = None,
    weight: Annotated[str | None, typer.Option("--weight", help="time, count or cost.")] = None,
    top: Annotated[str | None, typer.Option("--top", help="Largest bin: free or pinned (the request).")] = None,
    step: Annotated[str | None, typer.Option("--step", help="Edges are multiples of this size.")] = None,
    headroom: Annotated[float | None, typer.Option("--headroom", help="Share added to what runs used.")] = None,
    search: Annotated[str | None, typer.Option("--search", help="exact or stride (as published).")] = None,
    target: Target = "peak_rss",
    mode: Mode = "corrected",
    fit: Fit = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Find the bin edges of a task or a profile that save most, or tell what given edges would save."""
    if k is not None and edges:
        raise SettingsError("give either -k or --edges")
    if (task is None) == (profile is None):
        raise SettingsError("give either --task or --profile; `workprof memory assess` lists the tasks")
    base = faithful_bins(task or "") if is_faithful(mode) else BinSettings(task=task or "")
    told: dict[str, Any] = {"k": k, "weight": weight, "top": top, "headroom": headroom, "search": search}
    settings = replace(base, target=target, **{name: value for name, value in told.items() if value is not None})
    settings = replace(settings, **_sizes(edges, step))
    with opened(home) as workbench:
        if profile is not None:
            asked = further(ProfileBinSettings(profile, settings), given)
            show_profile_bins(workbench.profile_bins(dataset, asked, clustering(fit), progress_line()), as_json)
            return
        show_bins(workbench.bins(dataset, further(settings, given), progress_line()), as_json)


def _sizes(edges: str | None, step: str | None) -> dict[str, Any]:
    """Return the given sizes in bytes, under the names that the settings have for them."""
    found: dict[str, Any] = {}
    if edges:
        found["edges_bytes"] = tuple(float(parse_size(edge, bare="GB")) for edge in names(edges))
    if step:
        found["step_bytes"] = float(parse_size(step, bare="GB"))
    return found


def assessment_answer(found: Assessment) -> dict[str, Any]:
    """Return the JSON document of an assessment."""
    kept = (
        *("task", "n", "requested_gb", "utilisation", "utilisation_by_time", "cpu_utilisation"),
        *("cpu_utilisation_by_time", "requested_gb_h", "wasted_gb_h", "too_few", "n_without_request", "n_over_request"),
    )
    return {
        "n_runs": found.n_runs,
        "memory": asdict(found.memory),
        "cpu": asdict(found.cpu),
        "tasks": [
            {name: getattr(one, name) for name in kept} | {"peak_gb": asdict(one.peak_gb), "class": one.size_class}
            for one in found.tasks
        ],
        "groups": [asdict(one) for one in found.groups],
        "features": [asdict(one) for one in found.features.facts],
        "features_left_out": [asdict(one) for one in found.features.left_out],
        "left_out": found.left_out,
        "seconds": found.seconds,
    }


def is_faithful(mode: str) -> bool:
    """Tell whether the published definitions are asked for; another word is refused."""
    if mode not in MODES:
        raise SettingsError(f"mode is {mode!r}; choose from {', '.join(MODES)}")
    return mode == "faithful"


def _assessment_text(found: Assessment) -> str:
    whole = found.memory
    rows: list[dict[str, object]] = [
        {
            "task": one.task if len(one.task) <= 48 else f"...{one.task[-45:]}",
            "runs": f"{one.n:,}{' (few)' if one.too_few else ''}",
            "request GB": f"{one.requested_gb:.2f}",
            "peak p50 / max GB": f"{one.peak_gb.p50:.2f} / {one.peak_gb.max:.2f}",
            "used": format_share(one.utilisation),
            "used, by time": format_share(one.utilisation_by_time),
            "wasted GB·h": f"{one.wasted_gb_h:,.1f}",
            "class": one.size_class,
        }
        for one in found.tasks[:SHOWN_TASKS]
    ]
    head = (
        f"{found.n_runs:,} runs use {format_share(whole.utilisation)} of the memory that they ask for, "
        f"{format_share(whole.utilisation_by_time)} by time"
    )
    rest = len(found.tasks) - len(rows)
    return f"{head}\n\n{table(rows)}" + (f"\n... and {rest} more tasks: --json has all" if rest else "")
