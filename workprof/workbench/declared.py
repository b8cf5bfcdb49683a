"""Every declared question by the name of its step."""

from __future__ import annotations

from typing import Any

from workprof.core.question import Question
from workprof.memory import questions as memory

DECLARED: dict[str, Question[Any, Any]] = {question.name: question for question in memory.QUESTIONS}
