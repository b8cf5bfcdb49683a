"""The groups of the observed curves: what they are called and how they look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workprof.charts.durations.view import NEUTRAL
from workprof.charts.text import shortened
from workprof.charts.theme import COLOURS, OUTLIERS
from workprof.forecasts.durations import PROFILE, ObservedDurations

LONGEST_NAME = 24
_DASHES = ("solid", "longdashdot", "dashdot", "longdash")
"""One per turn through the colours."""


@dataclass(frozen=True)
class Look:
    """Colour, dash and width of a group's line."""

    colour: str
    dash: str
    width: float


def group_names(found: ObservedDurations, profiles: Mapping[int, str] | None = None) -> tuple[str, ...]:
    """Return one name per group: the profile's own, 'other (15 groups)', or the value; few jobs are told."""
    return tuple(_name(found, position, profiles or {}) for position in range(len(found.groups)))


def look(found: ObservedDurations, position: int) -> Look:
    """Return how a group is drawn: dashed with few jobs, grey for the sums and the outliers."""
    group = found.groups[position]
    if group.n_merged:
        return Look(NEUTRAL, "dash" if group.few else "dashdot", 1.8)
    number = int(group.name) if found.settings.by == PROFILE else position
    if number == OUTLIERS and found.settings.by == PROFILE:
        return Look(NEUTRAL, "dash" if group.few else "dot", 2.0)
    turn = _DASHES[number // len(COLOURS) % len(_DASHES)]
    return Look(COLOURS[number % len(COLOURS)], "dash" if group.few else turn, 1.5 if group.few else 2.2)


def _name(found: ObservedDurations, position: int, profiles: Mapping[int, str]) -> str:
    group = found.groups[position]
    if group.n_merged:
        return f"other ({group.n_merged} more)"
    if found.settings.by != PROFILE:
        return shortened(group.name, LONGEST_NAME)
    number = int(group.name)
    return shortened(profiles.get(number, "Outliers" if number == OUTLIERS else f"P{number}"), LONGEST_NAME)
