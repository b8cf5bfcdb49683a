"""Everything that the tour shows, computed beforehand."""

from __future__ import annotations

from collections.abc import Mapping

from workprof.core.progress import Progress, silent
from workprof.forecasts.classifier import ClassifierSettings
from workprof.memory.recommend import RecommendationSettings
from workprof.memory.replay import ReplaySettings
from workprof.profiles.settings import ProfileSettings
from workprof.report.built import BuiltReport, build_report
from workprof.report.tour.stops import stops_of
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

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
