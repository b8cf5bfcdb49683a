"""The stops of the tour in their order, and what each asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workprof.charts.classify.job import Naming
from workprof.charts.home import home_headlines
from workprof.charts.profiles.overview import profile_names
from workprof.charts.tour import (
    TourStop,
    classify_stop,
    durations_stop,
    home_stop,
    memory_stop,
    nodes_stop,
    phases_stop,
    profiles_stop,
)
from workprof.forecasts.durations import PROFILE, DurationSettings
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.phases.timeline import TimelineSettings
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

Make = Callable[[Workbench, str], TourStop]


@dataclass(frozen=True)
class Stop:
    """A stop of the tour.

    Attributes:
        page: that it is of; its address is that page's with `demo=1`.
        title: for people.
        kind: of the sample that it shows.
        make: asks the page's own questions with their defaults (workbench, dataset hash); None = the report, which is
            made beside the page.
    """

    page: str
    title: str
    kind: str
    make: Make | None


def stops_of(samples: Mapping[str, Dataset]) -> tuple[Stop, ...]:
    """Return the stops whose samples are loaded."""
    return tuple(stop for stop in STOPS if stop.kind in samples)


def _home(workbench: Workbench, dataset: str) -> TourStop:
    entry, columns = workbench.dataset(dataset), workbench.column_profiles(dataset)
    figures = home_headlines(entry, columns, workbench.profiles(dataset), workbench.recommendation(dataset))
    return home_stop(figures, workbench.assessment(dataset))


def _profiles(workbench: Workbench, dataset: str) -> TourStop:
    return profiles_stop(workbench.profiles(dataset), _names(workbench, dataset))


def _classify(workbench: Workbench, dataset: str) -> TourStop:
    found = workbench.classifier_evaluation(dataset)
    return classify_stop(found, Naming(_names(workbench, dataset), found.settings.mode))


def _durations(workbench: Workbench, dataset: str) -> TourStop:
    found = workbench.observed_durations(dataset, DurationSettings(by=PROFILE))
    return durations_stop(found, _names(workbench, dataset))


def _memory(workbench: Workbench, dataset: str) -> TourStop:
    return memory_stop(workbench.recommendation(dataset))


def _nodes(workbench: Workbench, dataset: str) -> TourStop:
    return nodes_stop(workbench.node_ranking(dataset))


def _phases(workbench: Workbench, dataset: str) -> TourStop:
    runs = workbench.phase_runs(dataset).runs
    return phases_stop(workbench.timeline(dataset, TimelineSettings(run=runs[0].name)), len(runs))


def _names(workbench: Workbench, dataset: str) -> dict[int, str]:
    return profile_names(workbench.profiles(dataset), workbench.profile_notes(dataset, ProfileSettings()))


STOPS: tuple[Stop, ...] = (
    Stop("home", "Home", JOBS, _home),
    Stop("profiles", "Profiles", JOBS, _profiles),
    Stop("classify", "Classify", JOBS, _classify),
    Stop("durations", "Durations", JOBS, _durations),
    Stop("memory", "Memory", JOBS, _memory),
    Stop("nodes", "Nodes", BENCHMARKS, _nodes),
    Stop("phases", "Phases", TELEMETRY, _phases),
    Stop("report", "Report", JOBS, None),
)
"""The order in which the story is told."""
