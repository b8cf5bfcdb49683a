"""Every declared question, and what is stored on the way to one, by the name of its step."""

from __future__ import annotations

from typing import Any

from workprof.core.question import Question
from workprof.forecasts import questions as forecasts
from workprof.memory import questions as memory
from workprof.nodes import questions as nodes
from workprof.phases import questions as phases
from workprof.profiles import questions as profiles

DECLARED: dict[str, Question[Any, Any]] = {
    question.name: question for room in (profiles, forecasts, memory, nodes, phases) for question in room.QUESTIONS
}
"""What pages, commands and the library ask."""
STORED: dict[str, Question[Any, Any]] = {
    question.name: question for question in (*DECLARED.values(), *profiles.PARTS) if question.compute
}
"""What the cache holds: their results, and what is stored on the way to one (`Question.made_by` says to which)."""


def question_of(step: str, settings: Any) -> tuple[Question[Any, Any], Any]:
    """The question that makes what a step stores, and its settings.

    Raises KeyError for a step that no question declares.
    """
    question = STORED[step]
    if question.made_by is None:
        return question, settings
    whole, adapt = question.made_by
    return whole, adapt(settings)
