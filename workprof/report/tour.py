"""The tour: five stops on the bundled sample that end with a decision, for people who only look on."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from workprof.answers.forecasts import Naming
from workprof.answers.over_time import row_names
from workprof.charts.home import home_headlines
from workprof.charts.profiles.overview import profile_names
from workprof.charts.tour import TourStop, decision_stop, prediction_stop, profiles_stop, trade_stop, waste_stop
from workprof.core.progress import Progress, silent
from workprof.forecasts.classifier import ClassifierSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings
from workprof.profiles.settings import ProfileSettings
from workprof.report.bundle import BuiltReport, build_report
from workprof.report.summary import decision_of
from workprof.store.content_hash import ContentHash, salt_of
from workprof.store.detect import named_files
from workprof.store.ingest import HASH, LAYOUT_VERSION
from workprof.store.reports import Dataset, IngestOptions
from workprof.workbench import JOBS, Workbench

Make = Callable[[Workbench, str], TourStop]


@dataclass(frozen=True)
class Stop:
    """A stop of the tour."""

    page: str  # that it is of; its address is that page's with `demo=1`
    title: str  # for people
    make: Make  # asks the page's own questions with their defaults (workbench, dataset hash)
    former: tuple[str, ...] = ()  # pages whose own stops it took over; their links open it


def place_of(page: str) -> int:
    """Return the place of the stop that a page's address opens on the tour; the first for a page without one."""
    return next((at for at, stop in enumerate(STOPS) if page in (stop.page, *stop.former)), 0)


def _waste(workbench: Workbench, dataset: str) -> TourStop:
    advice = workbench.verdict(dataset)
    result = workbench.over_time(dataset)
    figures = home_headlines(workbench.column_profiles(dataset), result, advice, workbench.counts(dataset))
    names = row_names(result, workbench.profile_names(dataset))
    return waste_stop(result, names, workbench.assessment(dataset), figures)


def _profiles(workbench: Workbench, dataset: str) -> TourStop:
    return profiles_stop(workbench.profiles(dataset), _names(workbench, dataset))


def _prediction(workbench: Workbench, dataset: str) -> TourStop:
    result = workbench.classifier_evaluation(dataset)
    return prediction_stop(result, Naming(_names(workbench, dataset), result.settings.mode))


def trade(workbench: Workbench, dataset: str, acceptable_kills: str = "") -> TourStop:
    """Return the stop of the trade-off at the acceptable kills of `VerdictSettings`."""
    return trade_stop(workbench.verdict(dataset, VerdictSettings(acceptable_kills=acceptable_kills)))


def _decision(workbench: Workbench, dataset: str) -> TourStop:
    risks = decision_of(workbench, workbench.dataset(dataset)).risks
    result = workbench.verdict(dataset), workbench.classifier_evaluation(dataset), workbench.profiles(dataset)
    return decision_stop(*result, risks)


def _names(workbench: Workbench, dataset: str) -> dict[int, str]:
    return profile_names(workbench.profiles(dataset), workbench.profile_notes(dataset, ProfileSettings()))


STOPS: tuple[Stop, ...] = (
    Stop("home", "Waste", _waste),
    Stop("profiles", "Profiles", _profiles),
    Stop("classify", "Prediction", _prediction, former=("durations",)),
    Stop("memory", "Trade-off", trade),
    Stop("report", "Decision", _decision),
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
    cached = {
        "the profiles": workbench.profiles.cached(dataset, ProfileSettings()).result,
        "the test of the classifier": workbench.classifier_evaluation.cached(dataset, ClassifierSettings()).result,
        "the requests": workbench.verdict.cached(dataset, VerdictSettings()).result,
        "the replay of sizing policies": workbench.replay.cached(dataset, ReplaySettings()).result,
    }
    return tuple(words for words, result in cached.items() if result is None)


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
    for at, stop in enumerate(STOPS):
        progress(REPORT_SHARE + (1 - REPORT_SHARE) * at / len(STOPS), f"{stop.title}: computing")
        stop.make(workbench, samples[JOBS].hash)
    return built
