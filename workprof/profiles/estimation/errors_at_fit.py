"""Errors of an estimator on the jobs that it was chosen and calibrated on: how wrong it was when it was new."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.profiles.classifier.splits import units_of
from workprof.profiles.classifier.submit_time import usable_fields
from workprof.profiles.estimation.cells import Past, read_cells
from workprof.profiles.estimation.combination import choose, mix, point_of
from workprof.profiles.estimation.known import KnownJobs
from workprof.profiles.estimation.settings import EstimateSettings
from workprof.profiles.estimation.target import fit_scale
from workprof.profiles.estimation.validation import validate


@dataclass(frozen=True)
class ErrorsAtFit:
    """One target at the fit.

    Attributes:
        floor: of its logarithmic scale, in the target's unit.
        logs: (n_rows,) log values.
        errors: (n_rows,) log of value over estimate, for rows that the candidates had not seen; NaN for the others.
    """

    floor: float
    logs: Floats
    errors: Floats


def errors_at_fit(known: KnownJobs, settings: EstimateSettings) -> ErrorsAtFit:
    """Return the errors of the validation rows that `train_estimator` chooses and calibrates on, found again.

    Raises:
        As `train_estimates`.
    """
    fields = usable_fields(known.jobs, settings.fields, settings.mode)
    scale = fit_scale(known.target)
    logs = scale.to_log(known.target)
    past = Past(read_cells(known.jobs, fields), logs, units_of(known.jobs, settings.split))
    validated = validate(known.jobs, past, fields, settings, lambda share: None)
    n_levels = len(past.cells.fewest)
    chosen = choose(validated.answers, validated.true, n_levels)
    point = point_of(mix(validated.answers, chosen.weights, n_levels), chosen.caution)
    errors = np.full(len(logs), np.nan)
    errors[validated.rows] = validated.true - scale.to_log(scale.from_log(point))
    return ErrorsAtFit(scale.floor, logs, errors)
