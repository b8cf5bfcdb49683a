"""Quantiles and best guesses of docs/results.md, as trained and as calibrated: `python -m tests.docs.quantiles`."""

import sys
from dataclasses import replace

import numpy as np

from tests.docs.best_guess import FILES, WORDS, jobs_of, written
from workprof.forecasts.candidates import LEVELS, predict_quantiles
from workprof.forecasts.choice import mix, pinball_loss
from workprof.forecasts.encoder import usable_fields
from workprof.forecasts.errors import quantiles_at, ratio_error
from workprof.forecasts.estimates import EstimateSettings, KnownJobs, _combined, fit_scale, known_jobs, train_estimator
from workprof.forecasts.history import Past, read_cells
from workprof.forecasts.intervals import Strata, learn_shifts, validate
from workprof.forecasts.splits import make_folds, units_of

FOLDS = {"by_job": 3, "by_time": 1}
ROWS = (
    *(("PAI", "by_job", target) for target in WORDS),
    *((name, "by_time", target) for name in FILES if name != "rnaseq" for target in tuple(WORDS)[:3]),
)


def tested(known, fold, settings):
    """Return log quantiles as trained and as calibrated, needs, and errors of the point alone and kept between."""
    jobs, test = known.jobs.iloc[fold.train].reset_index(drop=True), known.jobs.iloc[fold.test]
    training = KnownJobs(jobs, known.target[fold.train], 0, known.censored[fold.train])
    fields, scale = usable_fields(jobs, settings.fields, settings.mode), fit_scale(training.target)
    past = Past(read_cells(jobs, fields), scale.to_log(training.target), units_of(jobs, settings.split))
    found = validate(jobs, past, fields, settings, lambda share: None)
    estimator = train_estimator(training, settings, validated=found)
    combination, calibration = estimator.model.combination, estimator.model.calibration
    n_levels = len(past.cells.fewest)
    of_them = mix(found.predicted, combination.weights, n_levels)
    shifts = learn_shifts(of_them, found.true, Strata(found.predicted.level, n_levels, found.keys), found.units)
    new = np.full(len(test), -1, dtype=np.int64)
    predicted = predict_quantiles(estimator.loaded, test, read_cells(test, fields, past.cells), new)
    free, *_ = _combined(predicted, replace(combination, bounded=False), calibration, n_levels)
    kept, *_ = _combined(predicted, combination, calibration, n_levels)
    moved = _combined(predicted, combination, replace(calibration, shifts=shifts), n_levels)[1]
    needed = known.target[fold.test]
    errors = [ratio_error(scale.from_log(point), needed) for point in (free, kept)]
    return mix(predicted, combination.weights, n_levels), moved, scale.to_log(needed), *errors


def row(name, split, target):
    """Return the share below p90, the pinball loss, and the errors of the best guess, before and after."""
    known, settings = known_jobs(jobs_of(name), target), EstimateSettings(target=target, split=split)
    folds = make_folds(known.jobs, split, settings.n_folds, settings.seed)[: FOLDS[split]]
    plain, moved, true, free, kept = map(
        np.concatenate, zip(*(tested(known, one, settings) for one in folds), strict=True)
    )
    at = int(np.searchsorted(LEVELS, 0.9 - 1e-9))
    below = [f"{np.mean(true <= one[:, at] + 1e-9):.0%}".replace("%", " %") for one in (plain, moved)]
    losses = [f"{pinball_loss(one, true):.4f}".removeprefix("0") for one in (plain, moved)]
    errors = [written(quantiles_at(one, np.array([0.5, 0.8, 0.9]))) for one in (free, kept)]
    cells = [name, WORDS[target], split.replace("_", " "), *below, *(", then ".join(pair) for pair in (losses, errors))]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for one in ROWS:
        if {*sys.argv[1:]} <= {*one}:
            print(row(*one), flush=True)
