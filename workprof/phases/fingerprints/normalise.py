"""Counters in standard deviations: of the training runs, or of the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.arrays import Bools, Floats
from workprof.errors import NotEnoughData
from workprof.phases.runs import Run
from workprof.phases.settings import FingerprintSettings

CONSTANT = 1e-12
"""A standard deviation below this share of the mean (at least 1) is none."""

MOST_MISSING = 0.2
"""A counter that misses more of its training samples is dropped."""


@dataclass(frozen=True)
class Normaliser:
    """What is known of each counter from the training runs.

    Attributes:
        counters: names of the counters that are kept, in the order of the arrays.
        kept: (n_given,) which of the counters of the runs these are.
        mean: (n_counters,) after the logarithm, where one is taken.
        sd: (n_counters,) likewise, 0 = constant; population form.
        dropped: counters that miss more than a fifth of the training samples.
        constant: counters that never change in training: 0 everywhere.
    """

    counters: tuple[str, ...]
    kept: Bools
    mean: Floats
    sd: Floats
    dropped: tuple[str, ...]
    constant: tuple[str, ...]


@dataclass(frozen=True)
class Normalised:
    """One run in standard deviations.

    Attributes:
        for_phases: (n_counters, T) what phases are looked for in; NaN = missing.
        for_statistics: (n_counters, T) what phases are summarised on.
        missing: counters without any sample: 0 everywhere.
    """

    for_phases: Floats
    for_statistics: Floats
    missing: tuple[str, ...]


def fit_normaliser(runs: Sequence[Run], counters: tuple[str, ...], settings: FingerprintSettings) -> Normaliser:
    """Return mean and deviation of each counter over all samples of the training runs.

    Raises:
        NotEnoughData: when no counter has enough samples.
    """
    if not runs:
        raise NotEnoughData("there is no run to learn the counters from; give at least one")
    values = np.concatenate([_scaled(run.values, settings) for run in runs], axis=1)  # (n_given, all samples)
    kept: Bools = np.isnan(values).mean(axis=1) <= MOST_MISSING
    if not kept.any():
        raise NotEnoughData(f"all {len(counters)} counters miss more than {MOST_MISSING:.0%} of the training samples")
    mean, sd = np.nanmean(values[kept], axis=1), _sd(values[kept])
    names = tuple(name for name, own in zip(counters, kept, strict=True) if own)
    dropped = tuple(name for name in counters if name not in names)
    constant = tuple(name for name, own in zip(names, sd, strict=True) if own == 0)
    return Normaliser(names, kept, mean, sd, dropped, constant)


def normalised(run: Run, known: Normaliser, settings: FingerprintSettings) -> Normalised:
    """Return one run in standard deviations.

    Source:
        CWD, y = |x - mean| / sd "of time series data"; the paper leaves open of which. `settings.normalise` names the
        readings; signed values and logarithms are ours.
    """
    values = _scaled(run.values[known.kept], settings)
    empty: Bools = np.asarray(np.isnan(values).all(axis=1))
    values[empty] = np.where(known.sd > 0, known.mean, 0.0)[empty, None]
    by_train = _standard(values, known.mean, known.sd, settings)
    by_run = (
        _standard(values, np.nanmean(values, axis=1), _sd(values), settings)
        if settings.normalise != "train"
        else by_train
    )
    missing = tuple(name for name, own in zip(known.counters, empty.tolist(), strict=True) if own)
    return Normalised(by_run, by_run if settings.normalise == "run" else by_train, missing)


def _scaled(values: Floats, settings: FingerprintSettings) -> Floats:
    """Return a copy, log(1 + |x|) with the sign of x where logarithms are asked for."""
    result: Floats = np.sign(values) * np.log1p(np.abs(values)) if settings.log else values.copy()
    return result


def _sd(values: Floats) -> Floats:
    """Return the population deviation of each row, 0 where it is rounding only."""
    sd, mean = np.nanstd(values, axis=1), np.nanmean(values, axis=1)
    result: Floats = np.where(sd < CONSTANT * np.maximum(1.0, np.abs(mean)), 0.0, sd)
    return result


def _standard(values: Floats, mean: Floats, sd: Floats, settings: FingerprintSettings) -> Floats:
    moves = sd > 0
    scaled = (values - mean[:, None]) / np.where(moves, sd, 1.0)[:, None]
    scaled[~moves] = np.where(np.isnan(values[~moves]), np.nan, 0.0)
    return np.abs(scaled) if settings.absolute else scaled
