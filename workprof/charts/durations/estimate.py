"""How long a test of the predictors will take."""

from __future__ import annotations

from collections.abc import Sequence

from workprof.charts.estimate import STARTING_S, EarlierRun, measured_with, pace
from workprof.forecasts.estimates import EstimateEvaluationSettings

SECONDS_PER_TURN = 1.0
SECONDS_PER_ROW_AND_TURN = 1e-3
"""Taken on two cores of a small machine; earlier runs here set it right."""


def evaluation_estimate(settings: EstimateEvaluationSettings, n_rows: int, earlier: Sequence[EarlierRun] = ()) -> str:
    """Return 'About 686 rows in 10 turns: about 40 s (...)'."""
    here = pace([(guess, seconds) for _, guess, seconds in measured_with(earlier, EstimateEvaluationSettings, _work)])
    seconds = STARTING_S + here.factor * _work(settings, n_rows)
    turns = _turns(settings)
    words = f"{turns} turns" if turns > 1 else "one turn"
    return f"{n_rows:,} finished rows, {words} of training and testing: {here.words(seconds, 'test')}."


def _turns(settings: EstimateEvaluationSettings) -> int:
    return 1 if settings.estimates.split == "by_time" else settings.estimates.n_folds


def _work(settings: EstimateEvaluationSettings, n_rows: int) -> float:
    return _turns(settings) * (SECONDS_PER_TURN + SECONDS_PER_ROW_AND_TURN * n_rows)
