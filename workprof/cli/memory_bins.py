"""Bins of a task or a profile as a command prints them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from workprof.cli.console import emit, warn
from workprof.memory.assessment import FEWEST_RUNS
from workprof.memory.bins import Bins, ProfileBins
from workprof.units import GB, format_share

BEFOREHAND = "such a plan needs the profile of a job before it runs: `workprof classify predict` tells it"


def show_bins(found: Bins, as_json: bool) -> None:
    """Print the bins of a task."""
    _notes(found)
    emit(bins_answer(found), as_json, lambda: bins_text(found))


def show_profile_bins(found: ProfileBins, as_json: bool) -> None:
    """Print the bins of a profile."""
    _notes(found.bins)
    if found.too_few:
        warn(f"note: {found.bins.effect.n_runs} runs are few; {FEWEST_RUNS} are the least that sizes should rest on")
    emit(profile_bins_answer(found), as_json, lambda: profile_bins_text(found))


def bins_answer(found: Bins) -> dict[str, Any]:
    """Return the JSON document of bins."""
    effect = found.effect
    return {
        "edges_gb": [edge / GB for edge in found.edges_bytes],
        "optimal_improvement": found.optimal_improvement,
        "time_based_optimal_improvement": found.time_based_optimal_improvement,
        "search": found.search,
        "static_gb": found.static_bytes / GB,
        "saved_share": effect.saved_share,
        "time_based_saved_share": effect.time_based_saved_share,
        "saved_gb_h": effect.saved_gb_h,
        "bin_runs": effect.bin_runs.tolist(),
        "n_runs": effect.n_runs,
        "n_above": effect.n_above,
        "n_trials": found.n_trials,
        "left_out": found.left_out,
        "messages": list(found.messages),
        "seconds": found.seconds,
    }


def profile_bins_answer(found: ProfileBins) -> dict[str, Any]:
    """Return the JSON document of the bins of a profile: those of a task, and what the profile is made of."""
    own = {
        "profile": found.settings.profile,
        "n_rows": found.n_rows,
        "n_not_clustered": found.n_not_clustered,
        "tasks": [asdict(one) for one in found.tasks],
        "requested_gb_h": found.requested_gb_h,
        "used_gb_h": found.used_gb_h,
        "wasted_gb_h": found.wasted_gb_h,
        "too_few": found.too_few,
    }
    return bins_answer(found.bins) | own | {"seconds": found.seconds}


def bins_text(found: Bins) -> str:
    """Return bins as a sentence."""
    edges = ", ".join(f"{edge / GB:.2f}" for edge in found.edges_bytes)
    saved, by_time = map(format_share, (found.optimal_improvement, found.time_based_optimal_improvement))
    return (
        f"edges {edges} GB ({found.search}); if every run came into its right bin: {saved} less than "
        f"{found.static_bytes / GB:.1f} GB for all, {by_time} by time"
    )


def profile_bins_text(found: ProfileBins) -> str:
    """Return the bins of a profile in sentences."""
    n_tasks = len(found.tasks)
    of = f"{n_tasks} tasks" if n_tasks != 1 else "one task"
    return (
        f"profile {found.settings.profile}: {found.bins.effect.n_runs:,} runs of {of} waste {found.wasted_gb_h:,.2f} "
        f"of {found.requested_gb_h:,.2f} GB·h\n{bins_text(found.bins)}\n{BEFOREHAND}"
    )


def _notes(found: Bins) -> None:
    for message in found.messages:
        warn(f"note: {message}")
