"""The tour: the pages' findings on the bundled sample, stop by stop, for people who only look on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

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
from workprof.core.progress import Progress, silent
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.durations import PROFILE, DurationSettings
from workprof.formats.measured import BENCHMARKS, TELEMETRY
from workprof.memory.recommend import RecommendationSettings
from workprof.memory.replay import ReplaySettings
from workprof.phases.timeline import TimelineSettings
from workprof.profiles.settings import ProfileSettings
from workprof.report.bundle import BuiltReport, build_report
from workprof.store.content_hash import ContentHash, salt_of
from workprof.store.detect import named_files
from workprof.store.ingest import HASH, LAYOUT_VERSION
from workprof.store.reports import Dataset, IngestOptions
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
    found = workbench.profiles(dataset), workbench.recommendation(dataset)
    figures = home_headlines(workbench.column_profiles(dataset), workbench.over_time(dataset), *found)
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


def samples_of(workbench: Workbench, files: Mapping[str, Path]) -> dict[str, Dataset]:
    """Return kind -> dataset of the samples that are loaded.

    Args:
        workbench: of the home.
        files: kind -> sample file; those that are not installed are left out.
    """
    loaded = {entry.hash: entry for entry in workbench.datasets()}
    hashes = {kind: _hash(path, path.stat().st_mtime_ns) for kind, path in files.items() if path.is_file()}
    return {kind: loaded[hashed] for kind, hashed in hashes.items() if hashed in loaded}


@functools.lru_cache(maxsize=16)
def _hash(path: Path, _changed_ns: int) -> str:
    """Return the hash that a file has as a dataset, without loading it: a read-only home can be asked too."""
    options = IngestOptions()
    files = named_files((path,), options)
    hashing = ContentHash(files.paths, files.roles, salt_of(options, files.format, LAYOUT_VERSION))
    hashing.start()
    return hashing.result(silent, HASH)


SECTIONS = ("data", "profiles", "classify", "memory")
"""Of the tour's report: those that a laptop makes in a minute. What the stops stand on is computed on the way."""

REPORT_SHARE = 0.9
"""Of the work; the rest is the stops' own small questions."""


def missing(workbench: Workbench, dataset: str) -> tuple[str, ...]:
    """Return what takes more than a moment and is not kept yet, in words; nothing is computed."""
    kept = {
        "the profiles": workbench.profiles.cached(dataset, ProfileSettings()).result,
        "the test of the classifier": workbench.classifier_evaluation.cached(dataset, ClassifierSettings()).result,
        "the recommendation": workbench.recommendation.cached(dataset, RecommendationSettings()).result,
        "the replay of sizing policies": workbench.replay.cached(dataset, ReplaySettings()).result,
    }
    return tuple(words for words, result in kept.items() if result is None)


def prepare(workbench: Workbench, samples: Mapping[str, Dataset], progress: Progress = silent) -> BuiltReport:
    """Return the tour's report; afterwards every stop answers from what is kept.

    Args:
        workbench: of the home.
        samples: kind -> dataset; that of jobs is needed.
        progress: told step by step; it may cancel.

    Raises:
        Cancelled: when `progress` raised it.
    """

    def of_report(fraction: float | None, message: str) -> None:
        progress(None if fraction is None else REPORT_SHARE * fraction, message)

    built = build_report(workbench, samples[JOBS].hash, SECTIONS, "", of_report)
    stops = [stop for stop in stops_of(samples) if stop.make is not None]
    for at, stop in enumerate(stops):
        progress(REPORT_SHARE + (1 - REPORT_SHARE) * at / len(stops), f"{stop.title}: asking")
        if stop.make is not None:
            stop.make(workbench, samples[stop.kind].hash)
    return built
