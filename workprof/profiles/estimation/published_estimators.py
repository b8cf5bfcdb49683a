"""The published estimators per profile, as they are, with their flaws named (faithful mode)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from workprof.arrays import Floats, Ints

FLAWS = {
    "mean": "one long job moves it: a profile of 13 s runs with a 20 h tail gets a mean that no job has",
    "median": "says nothing about how far off it can be",
    "q05": "19 of 20 jobs need more: it makes a capped error small by promising too little",
    "iqr": "the width between the quartiles, not a level: zero for a profile of equal jobs",
    "skew_adaptive": "jumps from the median to the 5th percentile where the sample's skewness changes its sign",
}
"""Published estimator -> what is wrong with it (polarisprofiler.md, sections 4 and 7)."""


def _mean(values: Floats) -> float:
    return float(np.mean(values))


def _median(values: Floats) -> float:
    return float(np.median(values))


def _q05(values: Floats) -> float:
    return float(np.quantile(values, 0.05))


def _iqr(values: Floats) -> float:
    low, high = np.quantile(values, [0.25, 0.75])
    return float(high - low)


def _skew_adaptive(values: Floats) -> float:
    centred = values - np.mean(values)
    return _median(values) if float(np.mean(centred**3)) < 0 else _q05(values)


ESTIMATORS: dict[str, Callable[[Floats], float]] = {
    "mean": _mean,
    "median": _median,
    "q05": _q05,
    "iqr": _iqr,
    "skew_adaptive": _skew_adaptive,
}


def per_profile(name: str, values: Floats, labels: Ints, asked: Ints) -> Floats:
    """Return (n_asked,) estimates: the estimator over the training rows of each asked profile.

    A profile without training rows gets the estimator over all of them.

    Args:
        name: one of `ESTIMATORS`.
        values: (n_train,) target of the training rows.
        labels: (n_train,) their profile.
        asked: (n_asked,) predicted profiles.

    Source:
        The SOSE'23 paper ('mean') and the extended package (the others; its default is 'q05').
    """
    estimator = ESTIMATORS[name]
    found = {int(profile): estimator(values[labels == profile]) for profile in np.unique(labels)}
    whole = estimator(values)
    return np.array([found.get(int(profile), whole) for profile in asked])
