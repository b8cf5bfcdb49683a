"""The settings of runs about nodes and phases as parameters of their pages' addresses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pages._runs.parameters import Parameters, number
from workprof.nodes.advice import AdviceSettings
from workprof.nodes.detection import DegradationSettings
from workprof.nodes.groups import GroupSettings
from workprof.nodes.metrics import ASPECTS
from workprof.nodes.selection import RankSettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.library import LibrarySettings
from workprof.phases.matching import MatchRunSettings
from workprof.phases.timeline import DetectSettings, TimelineSettings

TABS = {
    "nodes.rank": "Ranking",
    "nodes.groups": "Groups",
    "nodes.advice": "For a profile",
    "nodes.detect": "Degradation",
    **{f"phases.{step}": "Timeline" for step in ("runs", "timeline", "detect")},
    **{f"phases.{step}": "Match" for step in ("match", "known_match", "align")},
    **{f"phases.{step}": "Library" for step in ("learn", "library")},
    "phases.evaluate": "Evaluation",
    "phases.live_library": "Live",
}
"""Step -> the view of its page."""


def _rank(asked: RankSettings) -> Parameters:
    found: Parameters = {}
    if asked.weights:  # an aspect that is not named counts 0, while its field begins at 1
        found |= {f"nodes_w_{name}": number(asked.weights.get(name, 0.0)) for name in ASPECTS}
    found |= {"nodes_score": asked.score, "nodes_exclude": asked.exclude, "nodes_only": list(asked.nodes)}
    for name, moment in (("nodes_since", asked.since_s), ("nodes_until", asked.until_s)):
        found[name] = "" if moment is None else number(moment)
    prices = (f"{name}={number(price)}" for name, price in asked.prices_per_h.items())
    found["nodes_prices"] = ", ".join(prices)
    return {name: value for name, value in found.items() if value}


def _groups(asked: GroupSettings) -> Parameters:
    return _rank(asked.ranking)


def _advice(asked: AdviceSettings) -> Parameters:
    own = {"nodes_weights": "own"} if asked.ranking.weights else {}
    return _rank(asked.ranking) | {"nodes_profile": str(asked.profile)} | own


def _detection(asked: DegradationSettings) -> Parameters:
    found: Parameters = {"nodes_detect_mode": asked.detect.mode, "nodes_detector": asked.detect.detector}
    return found | {"nodes_alarms": number(asked.detect.false_alarm_share * 100)}


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
    RankSettings: _rank,
    GroupSettings: _groups,
    AdviceSettings: _advice,
    DegradationSettings: _detection,
    DetectSettings: _run,
    TimelineSettings: _run,
    MatchRunSettings: _match,
    EvaluationSettings: _evaluation,
}
