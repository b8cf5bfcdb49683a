"""What the groups of a clustering are called, in which order they stand, and which definitions their numbers follow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from workprof.charts.theme import OUTLIERS
from workprof.profiles.fit import ProfileFit
from workprof.store.reports import ProfileNote

PUBLISHED = "Published definitions: features, missing values as 0 and scores as in the paper."
ORDERS = ("std", "median", "size")


def profile_names(fit: ProfileFit, notes: Mapping[int, ProfileNote] | None = None) -> dict[int, str]:
    """Return label -> 'P7', 'P7 name' or 'Outliers'."""
    given = {label: note.name.strip() for label, note in (notes or {}).items()}
    return {card.profile: _name(card.profile, given.get(card.profile, "")) for card in fit.cards}


def groups(fit: ProfileFit) -> NDArray[np.int64]:
    """Return the labels with their outliers last: (n_groups,)."""
    labels = np.array([card.profile for card in fit.cards], dtype=np.int64)
    return np.concatenate([np.sort(labels[labels != OUTLIERS]), labels[labels == OUTLIERS]])


def sizes(fit: ProfileFit) -> dict[int, int]:
    """Return label -> rows."""
    return {card.profile: card.size for card in fit.cards}


def note(fit: ProfileFit, text: str) -> str:
    """Return a chart's note, with the flag of the published definitions where they hold."""
    return f"{text} {PUBLISHED}" if fit.settings.mode == "faithful" else text


def _name(profile: int, given: str) -> str:
    if profile == OUTLIERS:
        return "Outliers"
    return f"P{profile} {given}" if given else f"P{profile}"
