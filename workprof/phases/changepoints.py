"""Where the phases of a run begin: Bayesian change points of every counter, or of all counters together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import NotEnoughData
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent

if TYPE_CHECKING:
    from workprof.phases.segmentation import Segmentation  # numba


SHORTEST_SERIES = 4
"""Fewer samples have no change."""
LEAST_HAZARD_SAMPLES = {"corrected": 30.0, "faithful": 15.0}
HAZARD_SHARE = 0.25
PRUNE_FROM_SAMPLES = 4000
PRUNE_BELOW = 1e-3
"""An hour keeps every run length; from 4,000 samples on the less probable ones are dropped unless told otherwise: those
below a thousandth of a fresh change, which is a millionth of all where a change is expected every 1,000 samples."""
READOUT = {"corrected": "exact", "faithful": "path"}
FAITHFUL_KAPPA0 = 1.0
ALPHA0 = {"corrected": 4.0, "faithful": 1.0}
FAITHFUL_BETA0 = 0.1
NARROWEST_LEVELS = 5.0
"""Corrected priors and read-out are those that did best on drawn steps of 3 noise sd, none, one and two in 30 samples;
half and twice of alpha0 and of the levels' width did about as well. The tests of planted steps keep the figures."""
NEAR_SAMPLES = 1
"""Changes of two counters this far apart agree."""
MOSTLY = 0.5
"""Counters with a larger share of missing samples have no change."""
CONSTANT_SHARE = 1e-12
METHOD_WORDS = {
    **{"bcpd": "Bayesian", "pelt": "PELT", "binseg": "Binary segmentation"},
    **{"kernel": "Kernel", "window": "Window"},
}


MOST_PRIOR = 1e12
"""A prior beyond is one by mistake: its gamma function is no number any more."""


@settings
class ChangePointSettings:
    """A search for change points. None = the mode's own value."""

    method: Annotated[
        str,
        Setting(
            "How change points are searched for.",
            choices={
                "bcpd": "Bayesian online detection",
                "pelt": "exact, with a penalty, by ruptures",
                "binseg": "binary segmentation, with a penalty, by ruptures",
                "kernel": "of a kernel, with a penalty, by ruptures",
                "window": "a sliding window, with a penalty, by ruptures",
            },
            shown=METHOD_WORDS,
            label="Change points",
        ),
    ] = "bcpd"
    readout: Annotated[
        str | None,
        Setting(
            "How the Bayesian search reads the phases; by mode: exact, as published the path.",
            choices={
                "path": "follows the most probable run lengths back from the end",
                "exact": "the most probable segmentation of the whole run",
                "drop": "what was seen on-line",
            },
            shown={"auto": "By mode", "path": "Run-length path", "exact": "Exact", "drop": "On-line"},
            named={"auto": None},
            label="Read-out",
        ),
    ] = None
    phases: Annotated[
        str,
        Setting(
            "Whose phases.",
            choices={"per_counter": "each counter has its own", "joint": "one set of phases for all counters together"},
            shown={"per_counter": "Per counter", "joint": "Joint"},
        ),
    ] = "per_counter"
    hazard_samples: Annotated[
        float | None,
        Setting(
            "Expected length of a phase; the hazard is 1 over it. By length: a quarter of the run, at least 30 "
            "samples (as published: 15).",
            unit="samples",
            above=1,
            flag="--hazard",
            key="phases_hazard",
            label="Expected phase",
            empty="by length",
        ),
    ] = None
    min_samples: Annotated[
        int,
        Setting(
            "Shorter phases join the neighbour with the closer mean.",
            unit="samples",
            least=1,
            key="phases_least",
            label="Shortest phase",
        ),
    ] = 2
    max_phases: Annotated[
        int,
        Setting(
            "Most phases of a counter; the weakest changes beyond are dropped and counted.",
            least=1,
            label="Most phases",
        ),
    ] = 8
    penalty: Annotated[
        float | None,
        Setting(
            "Of the methods of ruptures, per change.",
            above=0,
            label="Penalty per change",
            empty="by the rule and the run's length",
        ),
    ] = None
    mu0: Annotated[
        float | None,
        Setting("Prior mean of a phase.", least=-MOST_PRIOR, most=MOST_PRIOR, label="Prior mean", empty="the median"),
    ] = None
    kappa0: Annotated[
        float | None,
        Setting(
            "Weight of the prior mean; without one by how far the counter strays from it (as published: 1).",
            unit="samples",
            above=0,
            most=MOST_PRIOR,
            label="Weight of the prior mean",
            empty="by the counter",
        ),
    ] = None
    alpha0: Annotated[
        float | None,
        Setting(
            "Shape of the prior of a phase's variance.",
            above=0,
            most=MOST_PRIOR,
            label="Shape of the prior",
            empty="4, as published 1",
        ),
    ] = None
    beta0: Annotated[
        float | None,
        Setting(
            "Scale of the prior of a phase's variance.",
            above=0,
            most=MOST_PRIOR,
            label="Scale of the prior",
            empty="by the noise, as published 0.1",
        ),
    ] = None
    prune: Annotated[
        float | None,
        Setting(
            "Run lengths less probable than this times the hazard are dropped; 0 keeps all, and so do runs below 4,000 "
            "samples; longer ones drop those below 0.001.",
            least=0,
            most=0.1,
            label="Dropped run lengths",
            empty="by length",
        ),
    ] = None
    mode: Annotated[
        str,
        Setting(
            "Priors and read-out of the search.",
            choices={"corrected": "workprof's own", "faithful": "plain priors and the path; the paper names neither"},
            shown={"corrected": "Default", "faithful": "As published"},
            flag="--search-mode",
            key="phases_search_mode",
            label="Mode of the search",
        ),
    ] = "corrected"
    rule: Annotated[
        str,
        Setting(
            "Rule of the penalty where none is given.",
            choices={
                "calibrated": "1 % of runs of pure noise show a change (costs l2 and rbf; else as bic)",
                "bic": "Bayesian: parameters of a phase x log of the samples",
                "aic": "Akaike: parameters of a phase x 2",
            },
            shown={"calibrated": "Calibrated", "bic": "BIC", "aic": "AIC"},
            label="Rule of the penalty",
        ),
    ] = "calibrated"
    cost: Annotated[
        str | None,
        Setting(
            "What pelt, binseg and window take a phase to be, by its name in ruptures; kernel is always rbf.",
            choices={
                "l2": "a mean",
                "l1": "a median",
                "normal": "a mean and a covariance",
                "rank": "a mean of ranks",
                "rbf": "a distribution",
            },
            shown={
                "auto": "By method",
                "l2": "Mean (l2)",
                "l1": "Median (l1)",
                "normal": "Mean and covariance (normal)",
                "rank": "Ranks (rank)",
                "rbf": "Distribution (rbf)",
            },
            named={"auto": None},
            label="Cost",
        ),
    ] = None

    @property
    def chosen_readout(self) -> str:
        """The read-out that was chosen, or the mode's."""
        return READOUT[self.mode] if self.readout is None else self.readout

    def hazard_for(self, n_samples: int) -> float:
        """The expected length of a phase of a series, in samples."""
        if self.hazard_samples is not None:
            return self.hazard_samples
        return max(LEAST_HAZARD_SAMPLES[self.mode], HAZARD_SHARE * n_samples)

    def prune_for(self, n_samples: int) -> float:
        """Below which share of the hazard run lengths are dropped, 0 = none."""
        if self.prune is not None:
            return self.prune
        return PRUNE_BELOW if n_samples >= PRUNE_FROM_SAMPLES else 0.0


DEFAULT = ChangePointSettings()


@dataclass(frozen=True)
class ChangePoints:
    """Changes of the counters of one run. A change is the 0-based number of the first sample of a new phase."""

    n_samples: int  # T
    starts: Ints  # (n_changes,) changes of counter 0, then of counter 1, and so on, each rising
    offsets: Ints  # (n_counters + 1,) where each counter's changes begin in `starts`
    constant: Bools  # (n_counters,) all samples equal: one phase
    mostly_missing: Bools  # (n_counters,) more than half of the samples missing: one phase
    short: Bools  # (n_counters,) fewer than 4 samples present: one phase
    n_missing: Ints  # (n_counters,) samples that were missing
    n_merged: Ints  # (n_counters,) changes taken back because a phase was too short
    n_weakest: Ints  # (n_counters,) changes left out because there were more phases than `max_phases`
    agreement: Floats  # (T,) share of the counters without a flag that have a change within one sample, 0-1
    # (n_counters,) of the series as given, all segmentations together; NaN where nothing was looked for and with the
    # methods of ruptures. With joint phases the evidence of all counters, at each of them
    log_evidence: Floats
    noise_sd: Floats  # (n_counters,) from sample to sample
    hazard_samples: float  # expected length of a phase that was assumed
    prune: float  # share of the hazard below which run lengths were dropped, 0 = none
    seconds: float  # it took

    @property
    def n_phases(self) -> Ints:
        """(n_counters,) phases of each counter, at least 1."""
        result: Ints = np.diff(self.offsets) + 1
        return result

    @property
    def changes(self) -> tuple[Ints, ...]:
        """(n,) changes of each counter."""
        return tuple(self.boundaries_of(counter) for counter in range(len(self.offsets) - 1))

    @property
    def flags(self) -> Bools:
        """(n_counters,) counters in which no change can be looked for."""
        result: Bools = self.constant | self.mostly_missing | self.short
        return result

    def boundaries_of(self, counter: int) -> Ints:
        """The changes of a counter (n,)."""
        return self.starts[self.offsets[counter] : self.offsets[counter + 1]]


def change_points(values: Floats, settings: ChangePointSettings = DEFAULT, progress: Progress = silent) -> ChangePoints:
    """Where the phases of each counter begin.

    `values` are (n_counters, T) on a grid of equal steps, normalised or not: in corrected mode neither the level nor
    the unit of a counter matters. NaN = missing: such samples are not scored; with joint phases they are bridged by
    straight lines, as a counter's gap is no gap of the run. `progress` is told after every counter; what it raises ends
    the search.

    Raises NotEnoughData when `values` is not a table.

    Source: CWD, equations 1-4, with the priors of the settings; alternatives from ruptures. CWD says nothing of gaps; a
    bridged gap is quieter than noise, and would be a phase of its own.
    """
    started = time.perf_counter()
    series = standard_series(values, settings)
    n_samples = series.values.shape[1]
    each = _segmentations(series, settings, progress)
    changes = [one.changes for one in each]
    starts, offsets = joined(changes)
    n_scored = n_samples if settings.phases == "joint" else np.count_nonzero(series.present, axis=1)
    units = n_scored * np.where(series.usable, np.log(series.scale), 0.0)  # evidence in the unit of the values given
    log_evidence = np.array([one.log_evidence for one in each])
    return ChangePoints(
        n_samples=n_samples,
        starts=starts,
        offsets=offsets,
        constant=series.constant,
        mostly_missing=series.mostly_missing,
        short=series.short,
        n_missing=series.n_missing,
        n_merged=np.array([one.n_merged for one in each], dtype=np.int64),
        n_weakest=np.array([one.n_weakest for one in each], dtype=np.int64),
        agreement=agreement_of([one for one, usable in zip(changes, series.usable, strict=True) if usable], n_samples),
        log_evidence=log_evidence - (units.sum() if settings.phases == "joint" else units),
        noise_sd=series.noise_sd,
        hazard_samples=settings.hazard_for(n_samples),
        prune=settings.prune_for(n_samples),
        seconds=time.perf_counter() - started,
    )


def _segmentations(series: StandardSeries, settings: ChangePointSettings, progress: Progress) -> list[Segmentation]:
    """The segmentation of each counter. Joint phases are those of the run: every counter has them."""
    from workprof.core.compiled import share_out  # noqa: PLC0415  numba
    from workprof.phases.segmentation import ONE_PHASE, search_changes  # noqa: PLC0415  numba

    usable, n_samples = np.flatnonzero(series.usable), series.values.shape[1]
    result = [ONE_PHASE] * len(series.values)
    progress(0.0, f"change points of {len(usable)} counters")

    def report(share: float) -> None:
        done = f"change points: {round(share * len(usable))} of {len(usable)} counters"
        progress(share, f"joint phases of {len(usable)} counters" if settings.phases == "joint" else done)

    def work(first: int, last: int) -> None:
        for i in usable[first:last]:
            ticks = np.flatnonzero(series.present[i])
            alone = search_changes(series.values[i : i + 1, ticks], settings, n_samples, lambda share: None)
            result[i] = replace(alone, changes=ticks[alone.changes])

    if settings.phases != "joint":
        share_out(work, len(usable), 1, report)
    elif len(usable):
        result = len(result) * [search_changes(series.values[usable], settings, n_samples, report)]
    return result


def joined(changes: Sequence[Ints]) -> tuple[Ints, Ints]:
    """The changes of all counters one after the other, and where each counter's begin (n_counters + 1,)."""
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in changes])]).astype(np.int64)
    return np.concatenate([np.zeros(0, np.int64), *changes]), offsets


def agreement_of(changes: Sequence[Ints], n_samples: int) -> Floats:
    """The share of the counters with a change within `NEAR_SAMPLES` of each sample (T,)."""
    total = np.zeros(n_samples)
    for one in changes:
        near = one[:, None] + np.arange(-NEAR_SAMPLES, NEAR_SAMPLES + 1)
        total[np.unique(near[(near >= 0) & (near < n_samples)])] += 1
    return total / max(1, len(changes))


@dataclass(frozen=True)
class StandardSeries:
    """Counters ready for the search."""

    # (n_counters, T) finite, less `level`, over `scale`; missing samples lie on straight lines between their neighbours
    values: Floats
    present: Bools  # (n_counters, T) where there was a sample
    level: Floats  # (n_counters,) the prior mean of a phase
    scale: Floats  # (n_counters,) the noise sd where the prior follows it, else 1
    noise_sd: Floats  # (n_counters,) in the unit of the values given
    constant: Bools  # (n_counters,) all samples equal, up to rounding
    mostly_missing: Bools  # (n_counters,) more than half of the samples missing
    short: Bools  # (n_counters,) fewer than 4 samples present

    @property
    def n_missing(self) -> Ints:
        """(n_counters,) samples that are missing."""
        result: Ints = np.count_nonzero(~self.present, axis=1).astype(np.int64)
        return result

    @property
    def usable(self) -> Bools:
        """(n_counters,) counters in which a change can be looked for."""
        result: Bools = ~(self.constant | self.mostly_missing | self.short)
        return result


def standard_series(values: Floats, settings: ChangePointSettings) -> StandardSeries:
    """The counters ready for the search; infinite samples count as missing.

    Raises NotEnoughData when `values` is not a table of counters by samples.
    """
    if values.ndim != 2:
        raise NotEnoughData(f"change points need counters by samples, got an array of {values.ndim} dimensions")
    present = np.isfinite(values)
    series = _bridged(np.asarray(values, dtype=np.float64), present)
    n_samples = series.shape[1]
    medians = [np.median(row[seen]) if seen.any() else 0.0 for row, seen in zip(series, present, strict=True)]
    level = np.array(medians) if settings.mu0 is None else np.full(len(series), float(settings.mu0))
    constant = np.ones(len(series), dtype=bool)
    if n_samples:
        constant = series.std(axis=1) < CONSTANT_SHARE * np.maximum(1.0, np.abs(series.mean(axis=1)))
    sd = _noise(series, present)
    scale = np.where(sd > 0, sd, 1.0) if follows_noise(settings) else np.ones(len(series))
    return StandardSeries(
        values=(series - level[:, None]) / scale[:, None],
        present=present,
        level=level,
        scale=scale,
        noise_sd=sd,
        constant=constant,
        mostly_missing=np.count_nonzero(present, axis=1) < MOSTLY * n_samples,
        short=np.count_nonzero(present, axis=1) < SHORTEST_SERIES,
    )


def _bridged(values: Floats, present: Bools) -> Floats:
    """The values with gaps bridged by straight lines, ends repeated; counters without any sample are 0."""
    series = np.where(present, values, 0.0)
    ticks = np.arange(values.shape[1])
    for i in np.flatnonzero(~present.all(axis=1) & present.any(axis=1)):
        series[i] = np.interp(ticks, ticks[present[i]], values[i, present[i]])
    return series


def _noise(series: Floats, present: Bools) -> Floats:
    """The noise sd of the samples that are there; bridges have none."""
    if series.shape[1] < 2:
        return np.zeros(len(series))
    sd = noise_sd(series)
    for i in np.flatnonzero(~present.all(axis=1)):
        seen = series[i : i + 1, present[i]]
        sd[i] = noise_sd(seen)[0] if seen.shape[1] > 1 else 0.0
    return sd


CENTRAL_SHARE = 0.9
"""Of the differences, the smallest; the rest may be steps or spikes."""
_CENTRAL_MEAN_SQUARE = 0.6230
"""Mean square of a standard normal variable within its central 90 %."""
FLOOR_SHARE = 0.1
"""Of the noise that all differences together show. It decides where nearly all samples are equal."""


def noise_sd(series: Floats) -> Floats:
    """The noise sd of each counter, in its own unit; 0 for a constant one.

    Successive differences of a phase have twice the variance of its noise, and a step spoils only one of them. So the
    noise is the root mean square of the smallest 90 % of the differences, made to be right for normal noise. A counter
    that hardly ever moves (a count that is nearly always 0) would have no noise then, and each spike would be a phase:
    its noise is at least a tenth of what all differences say.

    Source: Difference-based variance (von Neumann); CWD leaves the scale of its prior open.
    """
    squares = np.sort(np.diff(series, axis=1) ** 2, axis=1)
    n_central = max(1, round(CENTRAL_SHARE * squares.shape[1]))
    inner = np.sqrt(squares[:, :n_central].mean(axis=1) / _CENTRAL_MEAN_SQUARE / 2)
    whole = np.sqrt(squares.mean(axis=1) / 2)
    result: Floats = np.maximum(inner, FLOOR_SHARE * whole)
    return result


@dataclass(frozen=True)
class Prior:
    """What is believed before the first sample of a phase; the prior mean is 0."""

    kappa0: float  # weight of the prior mean, in samples
    alpha0: float  # shape of the variance
    beta0: float  # scale of the variance
    hazard_samples: float  # expected length of a phase
    prune: float = 0.0  # stretches less probable than this times the hazard are dropped, 0 = none


def follows_noise(settings: ChangePointSettings) -> bool:
    """Whether the prior scales with the noise of each counter: in corrected mode, unless beta0 is given."""
    return settings.mode == "corrected" and settings.beta0 is None


def prior_of(settings: ChangePointSettings, n_samples: int, spread: float) -> Prior:
    """The prior of a series, in units of `StandardSeries.scale`.

    The levels of phases are expected as far from the prior mean as the counter strays from it, and a bit further. With
    one width for all, a counter that rises to a hundred times its noise would have to be noisy up there (the two are
    coupled in this prior), and its smaller steps would be missed.

    `spread` is the mean square of the standard values; of several counters together, its mean.
    """
    alpha0 = ALPHA0[settings.mode] if settings.alpha0 is None else settings.alpha0
    kappa0, beta0 = settings.kappa0, settings.beta0
    if kappa0 is None:
        kappa0 = FAITHFUL_KAPPA0 if settings.mode == "faithful" else 1 / (NARROWEST_LEVELS + spread)
    if beta0 is None:
        beta0 = alpha0 if follows_noise(settings) else FAITHFUL_BETA0
    return Prior(
        kappa0=kappa0,
        alpha0=alpha0,
        beta0=beta0,
        hazard_samples=settings.hazard_for(n_samples),
        prune=settings.prune_for(n_samples),
    )
