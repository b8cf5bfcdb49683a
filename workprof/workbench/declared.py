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
PARTS: dict[str, Question[Any, Any]] = {part.name: part for part in profiles.PARTS}
"""What is stored on the way to a question: `asked_as` says to which."""


def declared_of(step: str, settings: Any) -> tuple[Question[Any, Any] | None, Any]:
    """Return the declared question that makes what a step stores, and its settings; None where it is not declared."""
    part = PARTS.get(step)
    if part is not None and part.asked_as is not None:
        question, adapt = part.asked_as
        return question, adapt(settings)
    return DECLARED.get(step), settings
