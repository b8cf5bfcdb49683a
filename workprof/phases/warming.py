"""Compiling before the clock starts."""

from __future__ import annotations

import numpy as np

from workprof.phases.changepoints.changepoints import change_points


def warm_change_points() -> None:
    """Compile (or load from the compiler's cache) the loops of the search for change points.

    The first time on a machine this takes some seconds, later a fraction of one.
    """
    change_points(np.random.default_rng(0).normal(size=(1, 30)))
