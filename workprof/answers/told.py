"""Which answer tells the result of a question, whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workprof.answers import bins, verdict
from workprof.core.answer import Answer
from workprof.core.question import Question
from workprof.memory import questions as memory

Tells = Callable[[Any], Answer]

TOLD: Mapping[str, Tells] = {
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
