"""How a kept computation is asked for again: step name -> the workbench's method, its settings and its result."""

from __future__ import annotations

from workprof.workbench.declared import DECLARED, PARTS
from workprof.workbench.run_recipe import Recipe

_DECLARED = tuple(
    Recipe(
        one.step,
        "" if one.no_python else one.call,
        one.settings,
        one.result,
        why_not=one.no_python,
        why_no_command=one.no_command,
    )
    for one in DECLARED.values()
    if one.compute
)
_PARTS = tuple(
    Recipe(one.step, one.asked_as[0].call, one.settings, one.result, adapt=one.asked_as[1])
    for one in PARTS.values()
    if one.asked_as
)
RECIPES: dict[str, Recipe] = {recipe.step.name: recipe for recipe in (*_DECLARED, *_PARTS)}
"""A step that is not here is listed, pinned and removed like every other; it only has no snippet."""
