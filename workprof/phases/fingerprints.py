"""The fingerprint of a run: counters x phases x statistics."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.phases.changepoints import ChangePointSettings, change_points, joined
from workprof.phases.runs import Run, Runs


@settings
class FingerprintSettings:
    """How runs are normalised, and what their fingerprints hold."""

    normalise: Annotated[
        str,
        Setting(
            "Mean and deviation of a counter.",
            choices={
                "train": "of all training runs",
                "run": "of the run itself, the literal reading of the paper: levels are erased",
                "mixed": "phases are searched for by the run, summarised over the training runs",
            },
            shown={"train": "Training runs", "run": "The run itself", "mixed": "Mixed"},
            label="Normalisation",
        ),
    ] = "train"
    absolute: Annotated[
        bool,
        Setting(
            "Take |z|, as published. It hides changes: a step with equal halves has the same |z| on both sides.",
            key="phases_abs",
            label="Absolute values",
        ),
    ] = False
    log: Annotated[
        bool, Setting("Take log(1 + x) of a counter first: rates span orders of magnitude.", label="Logarithm first")
    ] = True
    distribution: Annotated[
        str,
        Setting(
            "Statistics of a phase after mean, median, variance and ADF.",
            choices={"quantiles": "10, 25, 75 and 90 %", "hist": "shares in five bins"},
            shown={"quantiles": "Quantiles", "hist": "Histogram"},
        ),
    ] = "quantiles"
    change_points: ChangePointSettings = field(default_factory=ChangePointSettings)


CONSTANT = 1e-12
"""A standard deviation below this share of the mean (at least 1) is none."""
MOST_MISSING = 0.2
"""A counter that misses more of its training samples is dropped; steps in which nothing was sampled are no samples."""


@dataclass(frozen=True)
class Normaliser:
    """What is known of each counter from the training runs."""

    counters: tuple[str, ...]  # names of the counters that are kept, in the order of the arrays
    kept: Bools  # (n_given,) which of the counters of the runs these are
    mean: Floats  # (n_counters,) after the logarithm, where one is taken
    sd: Floats  # (n_counters,) likewise, 0 = constant; population form
    dropped: tuple[str, ...]  # counters that miss more than a fifth of the training samples
    constant: tuple[str, ...]  # counters that never change in training: 0 everywhere


@dataclass(frozen=True)
class Normalised:
    """One run in standard deviations."""

    for_phases: Floats  # (n_counters, T) what phases are looked for in; NaN = missing
    for_statistics: Floats  # (n_counters, T) what phases are summarised on
    missing: tuple[str, ...]  # counters without any sample: 0 everywhere


def fit_normaliser(runs: Sequence[Run], counters: tuple[str, ...], settings: FingerprintSettings) -> Normaliser:
    """Mean and deviation of each counter over all samples of the training runs.

    Raises NotEnoughData when no counter has enough samples.
    """
    if not runs:
        raise NotEnoughData("there is no run to learn the counters from; give at least one")
    values = np.concatenate([_scaled(run.values, settings) for run in runs], axis=1)  # (n_given, all samples)
    values = values[:, ~np.isnan(values).all(axis=0)]
    usable: Bools = np.isnan(values).sum(axis=1) <= MOST_MISSING * values.shape[1]
    if not (values.size and usable.any()):
        raise NotEnoughData(f"all {len(counters)} counters miss more than {MOST_MISSING:.0%} of the training samples")
    mean, sd = np.nanmean(values[usable], axis=1), _sd(values[usable])
    names = tuple(name for name, own in zip(counters, usable, strict=True) if own)
    dropped = tuple(name for name in counters if name not in names)
    constant = tuple(name for name, own in zip(names, sd, strict=True) if own == 0)
    return Normaliser(names, usable, mean, sd, dropped, constant)


def normalised(run: Run, normaliser: Normaliser, settings: FingerprintSettings) -> Normalised:
    """One run in standard deviations.

    Source: CWD, y = |x - mean| / sd "of time series data"; the paper leaves open of which. `settings.normalise` names
    the readings; signed values and logarithms are ours.
    """
    values = _scaled(run.values[normaliser.kept], settings)
    empty: Bools = np.asarray(np.isnan(values).all(axis=1))
    values[empty] = np.where(normaliser.sd > 0, normaliser.mean, 0.0)[empty, None]
    by_train = _standard(values, normaliser.mean, normaliser.sd, settings)
    by_run = (
        _standard(values, np.nanmean(values, axis=1), _sd(values), settings)
        if settings.normalise != "train"
        else by_train
    )
    missing = tuple(name for name, own in zip(normaliser.counters, empty.tolist(), strict=True) if own)
    return Normalised(by_run, by_run if settings.normalise == "run" else by_train, missing)


def _scaled(values: Floats, settings: FingerprintSettings) -> Floats:
    """A copy, log(1 + |x|) with the sign of x where logarithms are chosen."""
    result: Floats = np.sign(values) * np.log1p(np.abs(values)) if settings.log else values.copy()
    return result


def _sd(values: Floats) -> Floats:
    """The population deviation of each row, 0 where it is rounding only."""
    sd, mean = np.nanstd(values, axis=1), np.nanmean(values, axis=1)
    result: Floats = np.where(sd < CONSTANT * np.maximum(1.0, np.abs(mean)), 0.0, sd)
    return result


def _standard(values: Floats, mean: Floats, sd: Floats, settings: FingerprintSettings) -> Floats:
    moves = sd > 0
    scaled = (values - mean[:, None]) / np.where(moves, sd, 1.0)[:, None]
    scaled[~moves] = np.where(np.isnan(values[~moves]), np.nan, 0.0)
    return np.abs(scaled) if settings.absolute else scaled


MOMENTS = ("mean", "median", "variance", "adf")
QUANTILES = (0.10, 0.25, 0.75, 0.90)
BINS = (0.0, 0.25, 0.5, 1.0, 2.0, np.inf)
STATISTICS = {
    "quantiles": (*MOMENTS, *(f"q{share * 100:.0f}" for share in QUANTILES)),
    "hist": (*MOMENTS, *(f"share {low:g} to {high:g}" for low, high in itertools.pairwise(BINS))),
}
"""Names by the choice of distribution, in the order of the arrays."""
MEAN, VARIANCE, ADF = (MOMENTS.index(name) for name in ("mean", "variance", "adf"))


def phase_statistics(series: Floats, changes: Ints, distribution: str = "quantiles") -> Floats:
    """The statistics of each phase (n_phases, 8; 9 with 'hist'); NaN of the series (T,) are left out.

    A phase without a sample is 0 throughout. `changes` (n_phases - 1,) are first samples of the phases after the first.
    'hist' gives the shares of |y| in 0 - .25 - .5 - 1 - 2 - inf.

    Source: CWD: mean, median, variance, ADF statistic, "the distribution". Four quantiles stand for that: they are
    defined from two samples on. Variance in population form.
    """
    edges = [0, *changes.tolist(), len(series)]
    return np.array([_summary(series[a:b], distribution) for a, b in itertools.pairwise(edges)])


def _summary(phase: Floats, distribution: str) -> Floats:
    values = phase[~np.isnan(phase)]
    if not len(values):
        return np.zeros(len(STATISTICS[distribution]))
    moments = [values.mean(), float(np.median(values)), values.var(), adf_statistic(values)]
    if distribution == "quantiles":
        return np.array([*moments, *_quantiles(values)])
    return np.array([*moments, *(np.histogram(np.abs(values), BINS)[0] / len(values))])


def _quantiles(values: Floats) -> Floats:
    """The quantiles by straight lines between the sorted values, as np.quantile has them, in less time."""
    ordered = np.sort(values)
    result: Floats = np.interp(np.array(QUANTILES) * (len(ordered) - 1), np.arange(len(ordered)), ordered)
    return result


SHORTEST = 5
FLAT_X = 1e-12
FLAT_RESIDUAL = 1e-18
BOUND = 10.0
"""Else the statistic of one counter would rule every distance."""


def adf_statistic(values: Floats) -> float:
    """The augmented Dickey-Fuller statistic of a series (n,) with a constant and no lag, within ±10.

    Fewer than 5 samples, a constant series and one that follows its own past exactly give 0.

    Source: Closed form of statsmodels' adfuller(maxlag=0, regression='c', autolag=None); phases are too short for lags.
    The bounds and the zeros are ours.
    """
    if len(values) < SHORTEST:
        return 0.0
    steps = np.diff(values)
    before = values[:-1] - values[:-1].mean()
    power = float(before @ before)
    if power < FLAT_X:
        return 0.0
    slope = float(before @ steps) / power
    residuals = steps - steps.mean() - slope * before
    variance = float(residuals @ residuals) / (len(steps) - 2)
    if variance < FLAT_RESIDUAL:
        return 0.0
    return float(np.clip(slope * np.sqrt(power / variance), -BOUND, BOUND))


@dataclass(frozen=True)
class Fingerprint:
    """One run in numbers."""

    workload: str  # label, '' where unknown
    run: str  # name within the workload
    values: Floats  # (n_counters, q, k) statistics, zero beyond a counter's own phases; q = the run's most phases
    n_phases: Ints  # (n_counters,) true number of phases: tells padding from a phase whose statistics are zero
    starts: Ints  # (n_changes,) changes of all counters, see `ChangePoints`
    offsets: Ints  # (n_counters + 1,) where each counter's changes begin in `starts`
    flags: Bools  # (n_counters,) no phases could be looked for: constant, mostly missing or too short
    missing: tuple[str, ...]  # counters that the run lacks; zero throughout
    n_samples: int  # T

    @property
    def name(self) -> str:
        """Name for people."""
        return f"{self.workload}/{self.run}" if self.workload else self.run

    @property
    def phases(self) -> int:
        """Phases of the run: the most that any counter has."""
        return int(self.values.shape[1])

    def boundaries_of(self, counter: int) -> Ints:
        """The changes of a counter (n,), as numbers of samples."""
        return self.starts[self.offsets[counter] : self.offsets[counter + 1]]

    def weights_of(self, counter: int) -> Floats:
        """The share of the run that each phase of a counter takes (n_phases,)."""
        result: Floats = np.diff([0, *self.boundaries_of(counter).tolist(), self.n_samples]) / self.n_samples
        return result


@dataclass(frozen=True)
class Fingerprints:
    """Fingerprints of runs that were normalised alike."""

    normaliser: Normaliser  # counters, means and deviations of the training runs
    prints: tuple[Fingerprint, ...]  # one per run


def fingerprint(
    run: Run, normaliser: Normaliser, settings: FingerprintSettings, progress: Progress = silent
) -> Fingerprint:
    """The fingerprint of a run.

    Source: CWD, section on fingerprints: n counters x q phases x k statistics, padded with zeros. The paper's "q <= p"
    is read as q >= p.
    """
    series = normalised(run, normaliser, settings)
    phases = change_points(series.for_phases, settings.change_points, progress)
    return fingerprint_of_phases(run, series, phases.changes, phases.flags, settings.distribution)


def fingerprint_of_phases(
    run: Run, series: Normalised, changes: Sequence[Ints], flags: Bools, distribution: str
) -> Fingerprint:
    """The fingerprint of a run whose phases are known already: found, seen live, or set by hand.

    `changes` are of each counter the first samples of the phases after the first; `flags` (n_counters,) tell in which
    no change can be looked for.
    """
    summaries = [
        phase_statistics(one, own, distribution) for one, own in zip(series.for_statistics, changes, strict=True)
    ]
    n_phases = np.array([len(summary) for summary in summaries], dtype=np.int64)
    values = np.zeros((len(summaries), int(n_phases.max()), summaries[0].shape[1]))
    for row, summary in zip(values, summaries, strict=True):
        row[: len(summary)] = summary
    starts, offsets = joined(changes)
    return Fingerprint(
        workload=run.workload,
        run=run.run,
        values=values,
        n_phases=n_phases,
        starts=starts,
        offsets=offsets,
        flags=flags,
        missing=series.missing,
        n_samples=run.values.shape[1],
    )


def fingerprints_of(runs: Runs, settings: FingerprintSettings, progress: Progress = silent) -> Fingerprints:
    """The fingerprints of runs that are all training runs."""
    normaliser = fit_normaliser(runs.runs, runs.counters, settings)
    return Fingerprints(normaliser, prints_of(runs.runs, normaliser, settings, progress))


def prints_of(
    runs: Sequence[Run], normaliser: Normaliser, settings: FingerprintSettings, progress: Progress = silent
) -> tuple[Fingerprint, ...]:
    """The fingerprints of runs in the order given."""

    def progress_of(done: int) -> Progress:
        return lambda share, _: progress((done + (share or 0.0)) / len(runs), f"fingerprint {done + 1} of {len(runs)}")

    return tuple(fingerprint(run, normaliser, settings, progress_of(done)) for done, run in enumerate(runs))


@dataclass(frozen=True)
class Stretches:
    """One run as the stretches in which no counter changes its phase; or several runs, one after the other."""

    states: Floats  # (n, 2 n_counters) mean of every counter in the phase it is in, then its deviation there
    starts: Ints  # (n,) first sample of each stretch, from the run's start
    ends: Ints  # (n,) the sample after its last one
    of: Ints  # (n,) samples of the run that it belongs to
    digest: Floats  # (2 n_counters,) mean of every counter, then its deviation, over the whole run
    there: Bools  # (2 n_counters,) False for counters that the run lacks


def stretches_of(one: Fingerprint) -> Stretches:
    """A run as its stretches: what the phases of its counters are at every time."""
    edges = np.unique(np.concatenate([[0], one.starts, [one.n_samples]]))
    levels, deviations = np.empty((2, len(edges) - 1, len(one.n_phases)))
    means, spread = np.zeros((2, len(one.n_phases)))
    for counter, n in enumerate(one.n_phases):
        own, weights = one.values[counter, :n], one.weights_of(counter)
        means[counter] = weights @ own[:, MEAN]
        between = weights @ (own[:, MEAN] - means[counter]) ** 2
        spread[counter] = np.sqrt(weights @ own[:, VARIANCE] + between)
        phase = np.searchsorted(one.boundaries_of(counter), edges[:-1], side="right")
        levels[:, counter], deviations[:, counter] = own[phase, MEAN], np.sqrt(own[phase, VARIANCE])
    there = np.ones(len(one.n_phases), dtype=np.bool_)
    if one.missing and one.values.any():
        there = np.asarray(one.values.any(axis=(1, 2)))  # what is constant in training is zero as well, and no loss
    return Stretches(
        states=np.concatenate([levels, deviations], axis=1),
        starts=edges[:-1],
        ends=edges[1:],
        of=np.full(len(edges) - 1, one.n_samples),
        digest=np.concatenate([means, spread]),
        there=np.tile(there, 2),
    )


class RenormalisedRuns:
    """Runs whose fingerprints are needed under the normaliser of one training part after another.

    Signed statistics move with mean and deviation, and the corrected search for phases depends on neither: such
    fingerprints are made once in the counters' own units and then moved. All others are made again each time.
    """

    def __init__(self, runs: Runs, settings: FingerprintSettings, progress: Progress = silent) -> None:
        self._runs, self._settings = runs, settings
        self._raw = None
        if can_renormalise(settings):
            n = len(runs.counters)
            own_units = Normaliser(runs.counters, np.ones(n, dtype=np.bool_), np.zeros(n), np.ones(n), (), ())
            self._raw = prints_of(runs.runs, own_units, settings, progress)

    def of(self, train: Sequence[int], test: Sequence[int]) -> tuple[Fingerprints, tuple[Fingerprint, ...]]:
        """The fingerprints of the training runs, and of further runs under the same normaliser."""
        runs = self._runs.runs
        normaliser = fit_normaliser([runs[i] for i in train], self._runs.counters, self._settings)
        return Fingerprints(normaliser, self._made(train, normaliser)), self._made(test, normaliser)

    def _made(self, which: Sequence[int], normaliser: Normaliser) -> tuple[Fingerprint, ...]:
        if self._raw is None:
            return prints_of([self._runs.runs[i] for i in which], normaliser, self._settings)
        return tuple(renormalised_fingerprint(self._raw[i], normaliser) for i in which)


def can_renormalise(settings: FingerprintSettings) -> bool:
    """Tell whether fingerprints depend on mean and deviation only by shift and scale."""
    search = settings.change_points
    free = search.mode == "corrected" and search.mu0 is None and search.beta0 is None and search.phases == "per_counter"
    return settings.normalise == "train" and not settings.absolute and settings.distribution == "quantiles" and free


def renormalised_fingerprint(raw: Fingerprint, normaliser: Normaliser) -> Fingerprint:
    """A fingerprint made in the counters' own units as it is under a normaliser."""
    rows = np.flatnonzero(normaliser.kept)
    still = (normaliser.sd == 0) | np.isin(np.array(normaliser.counters), np.array(raw.missing, dtype=str))
    sd = np.where(normaliser.sd > 0, normaliser.sd, 1.0)[:, None, None]
    values = raw.values[rows]
    result = (values - normaliser.mean[:, None, None]) / sd
    result[:, :, VARIANCE] = values[:, :, VARIANCE] / sd[:, :, 0] ** 2
    result[:, :, ADF] = values[:, :, ADF]
    n_phases = np.where(still, 1, raw.n_phases[rows])
    own = (np.arange(raw.phases) < n_phases[:, None]) & ~still[:, None]
    changes = [
        np.zeros(0, np.int64) if fixed else raw.boundaries_of(int(i)) for i, fixed in zip(rows, still, strict=True)
    ]
    starts, offsets = joined(changes)
    return replace(
        raw,
        values=(result * own[..., None])[:, : int(n_phases.max())],
        n_phases=n_phases,
        starts=starts,
        offsets=offsets,
        flags=raw.flags[rows] | still,
        missing=tuple(name for name in raw.missing if name in normaliser.counters),
    )
