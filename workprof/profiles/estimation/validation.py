"""Rows that the candidates did not see: what the combination is chosen on and the interval calibrated on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.profiles.classifier.splits import Fold, holdout, make_folds
from workprof.profiles.classifier.weighted_samples import effective_size
from workprof.profiles.estimation.candidates import Answers, ask, train_candidates
from workprof.profiles.estimation.cells import Past, take_cells
from workprof.profiles.estimation.settings import EstimateSettings

if TYPE_CHECKING:
    import pandas as pd

VALIDATION_FOLDS = 5
VALIDATION_SHARE = 0.25
FEW_UNITS = 1_000
"""Up to so many units (rows, jobs or groups, as the split keeps them together; of equal size, or worth as much), every
past job takes its turn as a validation row; above, a quarter of them is enough."""


@dataclass(frozen=True)
class Validated:
    """What candidates say of rows that they were not trained on.

    Attributes:
        answers: of each candidate.
        true: (n_rows,) log values.
        rows: (n_rows,) their positions among the past jobs.
        units: (n_rows,) what the split keeps together.
    """

    answers: Answers
    true: Floats
    rows: Ints
    units: Ints


def validate(
    jobs: pd.DataFrame,
    past: Past,
    fields: tuple[str, ...],
    settings: EstimateSettings,
    report: Callable[[float], None],
) -> Validated:
    """Return what candidates say of rows that they were not trained on."""
    found = []
    folds = _validation_folds(jobs, past.units, settings)
    for turn, fold in enumerate(folds):
        report(turn / len(folds))
        known = Past(take_cells(past.cells, fold.train), past.targets[fold.train], past.units[fold.train])
        loaded = train_candidates(jobs.iloc[fold.train], known, fields, settings.seed)
        found.append(ask(loaded, jobs.iloc[fold.test], take_cells(past.cells, fold.test), past.units[fold.test]))
    answers = Answers(
        np.concatenate([answer.quantiles for answer in found], axis=1),
        np.concatenate([answer.level for answer in found]),
        np.concatenate([answer.count for answer in found]),
    )
    rows = np.concatenate([fold.test for fold in folds])
    return Validated(answers, past.targets[rows], rows, past.units[rows])


def _validation_folds(jobs: pd.DataFrame, units: Ints, settings: EstimateSettings) -> tuple[Fold, ...]:
    if settings.split == "by_time" or effective_size(np.ones(len(units)), units) > FEW_UNITS:
        return (holdout(jobs, settings.split, VALIDATION_SHARE, settings.seed),)
    return make_folds(jobs, settings.split, VALIDATION_FOLDS, settings.seed)
