"""The tour: up to five stops on a job trace that end with a decision, for people who only look on."""

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workprof.answers.forecasts import Naming
from workprof.answers.over_time import row_names
from workprof.charts.home import home_headlines
from workprof.charts.profiles.overview import profile_names
from workprof.charts.tour import (
    OWN,
    SYNTHETIC,
    TourStop,
    decision_stop,
    prediction_stop,
    profiles_stop,
    trade_stop,
    waste_stop,
)
from workprof.core.progress import Progress, silent
from workprof.forecasts.classifier import ClassifierSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings
from workprof.profiles.settings import ProfileSettings
from workprof.report.bundle import BuiltReport, build_report
from workprof.report.summary import decision_of
from workprof.store.content_hash import ContentHash, salt_of
from workprof.store.detect import named_files
from workprof.store.ingest import HASH, version_of
from workprof.store.reports import Dataset, IngestOptions
from workprof.workbench import JOBS, Workbench

Make = Callable[[Workbench, str], TourStop]
PLANTED = "truth_"
"""How columns begin that only a generator can write."""


@dataclass(frozen=True)
class Stop:
    """A stop of the tour."""

    page: str  # that it is of; its address is that page's with `demo=1`
    title: str  # for people
    make: Make  # asks the page's own questions with their defaults (workbench, dataset hash)
    needs: tuple[str, ...]  # questions of the workbench without which there is no such stop
    former: tuple[str, ...] = ()  # pages whose own stops it took over; their links open it


def place_of(page: str, stops: Sequence[Stop]) -> int:
    """Return the place of the stop that a page's address opens on the tour; the first for a page without one."""
    return next((at for at, stop in enumerate(stops) if page in (stop.page, *stop.former)), 0)


def stops_of(workbench: Workbench, dataset: str) -> tuple[Stop, ...]:
    """Return the stops that a dataset has: those whose results could be made."""

    def made(question: str) -> bool:
        return getattr(workbench, question).cached(dataset, NEEDED[question][1]).result is not None

    return tuple(stop for stop in STOPS if all(map(made, stop.needs)))


def _waste(workbench: Workbench, dataset: str) -> TourStop:
    advice = workbench.verdict(dataset)
    result = workbench.over_time(dataset)
    figures = home_headlines(workbench.column_profiles(dataset), result, advice, workbench.counts(dataset))
    names = row_names(result, workbench.profile_names(dataset))
    return waste_stop(result, names, workbench.assessment(dataset), figures, whose(workbench, dataset))


def _profiles(workbench: Workbench, dataset: str) -> TourStop:
    return profiles_stop(workbench.profiles(dataset), _names(workbench, dataset))


def _prediction(workbench: Workbench, dataset: str) -> TourStop:
    result = workbench.classifier_evaluation(dataset)
    return prediction_stop(result, Naming(_names(workbench, dataset), result.settings.mode))


def trade(workbench: Workbench, dataset: str, acceptable_kills: str = "") -> TourStop:
    """Return the stop of the trade-off at the acceptable kills of `VerdictSettings`."""
    return trade_stop(workbench.verdict(dataset, VerdictSettings(acceptable_kills=acceptable_kills)))


def whose(workbench: Workbench, dataset: str) -> str:
    """Return what limits the figures: the sample is no real trace."""
    drawn = any(column.name.startswith(PLANTED) for column in workbench.columns(dataset))
    return SYNTHETIC if drawn else OWN


def _decision(workbench: Workbench, dataset: str) -> TourStop:
    risks = decision_of(workbench, workbench.dataset(dataset)).risks
    pages = {stop.page for stop in stops_of(workbench, dataset)}
    evaluated = workbench.classifier_evaluation(dataset) if "classify" in pages else None
    fit = workbench.profiles(dataset) if "profiles" in pages else None
    return decision_stop(workbench.verdict(dataset), evaluated, fit, risks, whose(workbench, dataset))


def _names(workbench: Workbench, dataset: str) -> dict[int, str]:
    return profile_names(workbench.profiles(dataset), workbench.profile_notes(dataset, ProfileSettings()))


STOPS: tuple[Stop, ...] = (
    Stop("home", "Waste", _waste, ("verdict",)),
    Stop("profiles", "Profiles", _profiles, ("profiles",)),
    Stop("classify", "Prediction", _prediction, ("profiles", "classifier_evaluation"), former=("durations",)),
    Stop("memory", "Trade-off", trade, ("verdict",)),
    Stop("report", "Decision", _decision, ("verdict",)),
)
"""The order in which the story is told."""


def samples_of(workbench: Workbench, files: Mapping[str, Path]) -> dict[str, Dataset]:
    """Return kind -> dataset of the samples that are loaded; files that are not installed are left out."""
    loaded = {entry.hash: entry for entry in workbench.datasets()}
    hashes = {kind: _hash(path, path.stat().st_mtime_ns) for kind, path in files.items() if path.is_file()}
    return {kind: loaded[hashed] for kind, hashed in hashes.items() if hashed in loaded}


@functools.lru_cache(maxsize=16)
def _hash(path: Path, _changed_ns: int) -> str:
    """Return the hash that a file has as a dataset, without loading it: a read-only home can be asked too."""
    options = IngestOptions()
    files = named_files((path,), options)
    hashing = ContentHash(files.paths, files.roles, salt_of(options, files.format, version_of(files.format)))
    hashing.start()
    return hashing.result(silent, HASH)


SECTIONS = ("data", "profiles", "classify", "memory")
"""Of the tour's report: those that a laptop makes in a minute. What the stops stand on is computed on the way."""

REPORT_SHARE = 0.9
"""Of the work; the rest is the stops' own small questions."""


def missing(workbench: Workbench, dataset: str) -> tuple[str, ...]:
    """Return what takes more than a moment and is not kept yet, in words; nothing is computed."""
    found = {words: getattr(workbench, name).cached(dataset, given) for name, (words, given) in NEEDED.items()}
    return tuple(words for words, one in found.items() if one.result is None and not one.refusal)


NEEDED: dict[str, tuple[str, Any]] = {
    "profiles": ("the profiles", ProfileSettings()),
    "classifier_evaluation": ("the test of the classifier", ClassifierSettings()),
    "verdict": ("the requests", VerdictSettings()),
    "replay": ("the replay of sizing policies", ReplaySettings()),
}
"""Question of the workbench -> what it gives in words, and its settings."""


def prepare(workbench: Workbench, samples: Mapping[str, Dataset], progress: Progress = silent) -> BuiltReport:
    """Return the tour's report; afterwards every stop answers from what is kept. The dataset of jobs is needed.

    Raises Cancelled when `progress` raised it, which is told step by step.
    """

    def of_report(fraction: float | None, message: str) -> None:
        progress(None if fraction is None else REPORT_SHARE * fraction, message)

    built = build_report(workbench, samples[JOBS].hash, SECTIONS, "", of_report)
    stops = stops_of(workbench, samples[JOBS].hash)
    for at, stop in enumerate(stops):
        progress(REPORT_SHARE + (1 - REPORT_SHARE) * at / len(stops), f"{stop.title}: computing")
        stop.make(workbench, samples[JOBS].hash)
    return built
