"""Phases and fingerprints of workloads: counters, change points, similarity, known and unknown (CWD)."""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:
    from workprof.phases.changepoints import ChangePointSettings
    from workprof.phases.evaluation import EvaluationSettings
    from workprof.phases.fingerprints import FingerprintSettings
    from workprof.phases.library import LibrarySettings, LibraryViewSettings
    from workprof.phases.live import LiveSettings
    from workprof.phases.matching import KnownMatchSettings, MatchRunSettings
    from workprof.phases.runs import RunListSettings
    from workprof.phases.similarity import MatchSettings
    from workprof.phases.timeline import AlignmentSettings, DetectSettings, TimelineSettings

__all__ = [
    "AlignmentSettings",
    "ChangePointSettings",
    "DetectSettings",
    "EvaluationSettings",
    "FingerprintSettings",
    "KnownMatchSettings",
    "LibrarySettings",
    "LibraryViewSettings",
    "LiveSettings",
    "MatchRunSettings",
    "MatchSettings",
    "RunListSettings",
    "TimelineSettings",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "AlignmentSettings": "workprof.phases.timeline",
        "ChangePointSettings": "workprof.phases.changepoints",
        "DetectSettings": "workprof.phases.timeline",
        "EvaluationSettings": "workprof.phases.evaluation",
        "FingerprintSettings": "workprof.phases.fingerprints",
        "KnownMatchSettings": "workprof.phases.matching",
        "LibrarySettings": "workprof.phases.library",
        "LibraryViewSettings": "workprof.phases.library",
        "LiveSettings": "workprof.phases.live",
        "MatchRunSettings": "workprof.phases.matching",
        "MatchSettings": "workprof.phases.similarity",
        "RunListSettings": "workprof.phases.runs",
        "TimelineSettings": "workprof.phases.timeline",
    },
)
