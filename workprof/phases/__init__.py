"""Phases and fingerprints of workloads: counters, change points, similarity, known and unknown (CWD)."""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:  # the public names, each where it is defined
    from workprof.phases.changepoints import ChangePointSettings as ChangePointSettings
    from workprof.phases.early import EarlySettings as EarlySettings
    from workprof.phases.evaluation import EvaluationSettings as EvaluationSettings
    from workprof.phases.fingerprints import FingerprintSettings as FingerprintSettings
    from workprof.phases.growing import GrowingSettings as GrowingSettings
    from workprof.phases.library import LibrarySettings as LibrarySettings, LibraryViewSettings as LibraryViewSettings
    from workprof.phases.live import LiveSettings as LiveSettings
    from workprof.phases.matching import KnownMatchSettings as KnownMatchSettings, MatchRunSettings as MatchRunSettings
    from workprof.phases.methods import MethodsSettings as MethodsSettings
    from workprof.phases.partial import CourseSettings as CourseSettings
    from workprof.phases.runs import RunListSettings as RunListSettings
    from workprof.phases.shapes import ShapesSettings as ShapesSettings
    from workprof.phases.similarity import MatchSettings as MatchSettings
    from workprof.phases.timeline import (
        AlignmentSettings as AlignmentSettings,
        DetectSettings as DetectSettings,
        TimelineSettings as TimelineSettings,
    )
    from workprof.phases.typical import TypicalSettings as TypicalSettings

__getattr__, __dir__, __all__ = lazily(__name__)
