"""What the bins of a profile are about: whose runs, how much they waste, what such a plan needs."""

from __future__ import annotations

from dataclasses import replace

from workprof.charts.memory.bins import bin_headlines
from workprof.charts.memory.scenarios import bins_scenario
from workprof.charts.memory.tasks import gb_h, shown
from workprof.charts.shapes import Headline
from workprof.charts.text import counted, shortened
from workprof.memory.assessment import FEWEST_RUNS
from workprof.memory.bins import ProfileBins
from workprof.memory.scenarios import Scenario
from workprof.store.reports import Dataset
from workprof.units import format_share

MOST_TASKS = 3
LONGEST_TASK = 40
BEFOREHAND = (
    "Jobs of one profile are alike in what they did, which nobody knows beforehand: a plan by profile needs the "
    "profile predicted before the run, from what is known when the job is submitted."
)


def profile_headlines(found: ProfileBins) -> tuple[Headline, ...]:
    """Return what the profile's runs waste now, then saving beside risk as for a task."""
    wasted = Headline(
        "Wasted now",
        gb_h(found.wasted_gb_h),
        f"GB·h that these runs ask for and do not use, of {gb_h(found.requested_gb_h)} asked for; runs that use more "
        "than they ask for waste nothing.",
        f"{_share(found.wasted_gb_h, found.requested_gb_h)} of requests",
    )
    return (wasted, *bin_headlines(found.bins))


def profile_sentence(found: ProfileBins, name: str) -> str:
    """Return whose runs these are, of how many tasks, and what they waste."""
    return (
        f"{name}: {counted(found.bins.effect.n_runs, 'run')} of {_tasks(found)} ask for "
        f"{gb_h(found.requested_gb_h)} and waste {gb_h(found.wasted_gb_h)} of it."
    )


def _tasks(found: ProfileBins) -> str:
    """Return '2 tasks (ps 60.0 %, worker 40.0 %)', the most frequent first."""
    names = [shortened(shown(one.task), LONGEST_TASK) for one in found.tasks]
    if len(names) == 1:
        return f"one task ({names[0]})"
    shares = [format_share(one.n_runs / found.bins.effect.n_runs) for one in found.tasks]
    told = ", ".join(" ".join(pair) for pair in list(zip(names, shares, strict=True))[:MOST_TASKS])
    more = f" and {len(names) - MOST_TASKS:,} more" if len(names) > MOST_TASKS else ""
    return f"{len(names):,} tasks ({told}{more})"


def profile_notes(found: ProfileBins) -> tuple[str, ...]:
    """Return what limits these figures, '' nowhere."""
    runs, notes = found.bins.effect.n_runs, []
    if found.too_few:
        notes.append(f"Too few runs: {runs}, and {FEWEST_RUNS} are the least that sizes should rest on.")
    if runs < found.n_rows:
        notes.append(
            f"{found.n_rows - runs:,} of the profile's {counted(found.n_rows, 'row')} have no request, no known use "
            "of memory or no run time, and are left out."
        )
    if found.n_not_clustered:
        notes.append(f"{found.n_not_clustered:,} rows of the dataset are in no clustering, so in no profile.")
    return tuple(notes)


def profile_bins_scenario(found: ProfileBins, dataset: Dataset, name: str, profile: str) -> Scenario:
    """Return the bins of a profile as a scenario.

    Args:
        found: its bins.
        dataset: that they are of.
        name: of the scenario.
        profile: how the profile is called, with its clustering.
    """
    made = bins_scenario(found.bins, dataset, name)
    return replace(made, settings={**made.settings, "profile": profile})


def _share(part: float, whole: float) -> str:
    return format_share(part / whole) if whole > 0 else "no data"
