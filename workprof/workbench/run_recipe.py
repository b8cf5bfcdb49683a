"""How a kept computation is asked for again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workprof.steps import Step

Adapt = Callable[[Any], object]
More = Callable[[Any], dict[str, str | int]]


@dataclass(frozen=True)
class Recipe:
    """How a result of a step is asked for.

    Attributes:
        step: as it is computed today.
        method: of the workbench; '' = there is none that makes it from settings alone.
        settings: class of the kept settings.
        result: class of the kept result.
        adapt: turns the kept settings into those that the method takes.
        more: further arguments of the method, from the kept settings.
        before: lines of Python that the question needs first.
        after: lines that follow it.
        clustering: name of the method's argument for a clustering, where the step's name carries one.
        plain: the method takes no settings.
        why_not: why there is no method.
        why_no_command: why a shell has no use for it; '' = there is a command, for the settings that it can say.
    """

    step: Step
    method: str
    settings: type[Any]
    result: type[Any]
    adapt: Adapt | None = None
    more: More | None = None
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    clustering: str = ""
    plain: bool = False
    why_not: str = ""
    why_no_command: str = ""

    def asked(self, kept: object) -> object:
        """Return the settings that the method takes."""
        return self.adapt(kept) if self.adapt else kept
