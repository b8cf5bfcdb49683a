"""One train and test split, drawn so that the largest job or group may stand on either side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workprof.profiles.classifier.splits import Fold, make_folds

if TYPE_CHECKING:
    import pandas as pd


def drawn_holdout(jobs: pd.DataFrame, split: str, share: float, seed: int = 0) -> Fold:
    """Return a turn that tests about `share` of the rows, drawn from all turns; by time the one there is.

    The turns are balanced by dealing out the largest jobs or groups first, so the first turn always tests the very
    largest, and a model would never be trained on it.

    Raises:
        As `make_folds`.
    """
    turns = make_folds(jobs, split, max(2, round(1 / share)), seed)
    return turns[int(np.random.default_rng(seed).integers(len(turns)))]
