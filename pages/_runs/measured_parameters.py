"""The settings of runs about phases as parameters of their page's address."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages._runs.parameters import Parameters
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.library import LibrarySettings
from workprof.phases.matching import MatchRunSettings
from workprof.phases.timeline import DetectSettings, TimelineSettings

TABS = {
    **{f"phases.{step}": "Timeline" for step in ("runs", "timeline", "detect")},
    **{f"phases.{step}": "Match" for step in ("match", "known_match", "align")},
    **{f"phases.{step}": "Library" for step in ("learn", "library")},
    "phases.evaluate": "Evaluation",
    "phases.live_library": "Live",
}
"""Step -> the view of its page."""


def _library(asked: LibrarySettings) -> Parameters:
    return {"phases_mode": asked.mode} if asked.mode != "corrected" else {}


def _run(asked: DetectSettings | TimelineSettings) -> Parameters:
    return _library(asked.library) | ({"phases_run": asked.run} if asked.run else {})


def _match(asked: MatchRunSettings) -> Parameters:
    return _library(asked.library) | {"phases_run": asked.unknown}


def _evaluation(asked: EvaluationSettings) -> Parameters:
    counts = {"phases_splits": str(asked.splits), "phases_open_splits": str(asked.open_splits)}
    return _library(asked.library) | counts


MEASURED_MAKERS: dict[type, Callable[[Any], Parameters]] = {
    DetectSettings: _run,
    TimelineSettings: _run,
    MatchRunSettings: _match,
    EvaluationSettings: _evaluation,
}
