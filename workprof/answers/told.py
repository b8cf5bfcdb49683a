"""Which answer tells the result of a question, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workprof.answers import bins, forecasts, nodes, profiles, verdict
from workprof.core.answer import Answer
from workprof.core.question import Question
from workprof.forecasts import questions as of_forecasts
from workprof.memory import questions as memory
from workprof.nodes import questions as of_nodes
from workprof.profiles import questions as of_profiles

Tells = Callable[[Any], Answer]

TOLD: Mapping[str, Tells] = {
    of_nodes.RANK.name: nodes.rank_answer,
    of_nodes.GROUPS.name: nodes.groups_answer,
    of_nodes.ADVICE.name: nodes.advice_answer,
    of_nodes.ALLOCATE.name: nodes.allocation_answer,
    of_nodes.DETECT.name: nodes.detection_answer,
    of_nodes.SEARCH.name: nodes.search_answer,
    of_forecasts.EVALUATE_CLASSIFIER.name: forecasts.classifier_answer,
    of_forecasts.EXPLAIN.name: forecasts.explanation_answer,
    of_forecasts.OBSERVE.name: forecasts.observed_answer,
    of_profiles.BASELINE.name: profiles.baseline_answer,
    of_profiles.HOPKINS.name: profiles.hopkins_answer,
    of_profiles.STABILITY.name: profiles.stability_answer,
    memory.BINS.name: bins.answer,
    memory.PROFILE_BINS.name: bins.profile_answer,
    memory.VERDICT.name: verdict.verdict_answer,
    memory.CURVE.name: bins.curve_answer,
    memory.PROFILE_CURVE.name: bins.curve_answer,
}
"""By the question's name."""


def answer_of(question: Question[Any, Any]) -> Tells | None:
    """What makes the answer of a result of this question; None where its fields alone tell it."""
    return TOLD.get(question.name)
