"""How a kept computation is asked for again: step name -> the workbench's method, its settings and its result."""

from __future__ import annotations

from workprof.errors import NotEnoughData
from workprof.profiles.baseline import Baseline, BaselineSettings
from workprof.profiles.hopkins import Hopkins, HopkinsSettings
from workprof.profiles.stability import Stability, StabilitySettings
from workprof.profiles.sweep import GroupSettings, SweepGroup, SweepSettings
from workprof.workbench import clusterability
from workprof.workbench import sweeps as sweep_room
from workprof.workbench.declared import DECLARED, PARTS
from workprof.workbench.run_recipe import Recipe
from workprof.workbench.run_recipes_measured import MEASURED


def whole_sweep(group: GroupSettings) -> SweepSettings:
    """Return the sweep of one algorithm that a group is part of.

    Raises:
        NotEnoughData: when no sweep holds such a group.
    """
    shared = ("min_samples", "silhouette", "features", "mode", "sample_rows", "seed")
    found = SweepSettings(algorithms=(group.algorithm,), **{name: getattr(group, name) for name in shared})
    if group not in found.groups():
        raise NotEnoughData("these runs are of no sweep that can be asked for; take their settings one by one")
    return found


_ALL = (
    Recipe(clusterability.HOPKINS, "hopkins", HopkinsSettings, Hopkins),
    Recipe(clusterability.BASELINE, "baseline", BaselineSettings, Baseline, clustering="fit"),
    Recipe(clusterability.STABILITY, "stability", StabilitySettings, Stability),
    Recipe(sweep_room.GROUP, "sweep", GroupSettings, SweepGroup, adapt=whole_sweep),
)

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
)
_PARTS = tuple(
    Recipe(one.step, one.asked_as[0].call, one.settings, one.result, adapt=one.asked_as[1])
    for one in PARTS.values()
    if one.asked_as
)
RECIPES: dict[str, Recipe] = {recipe.step.name: recipe for recipe in (*_ALL, *MEASURED, *_DECLARED, *_PARTS)}
"""A step that is not here is listed, pinned and removed like every other; it only has no snippet."""
