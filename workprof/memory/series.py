"""A series of equal time bins taken apart: season, trend, changes of level, anomalies, and the weeks to come."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workprof.core.arrays import Floats, Ints

CONFIDENCE = 0.95
FEWEST_BINS = 8
FEWEST_CYCLES = 4
"""Of a season, in the series; with fewer it cannot be told from chance."""
SEASON_LEVEL = 0.01
"""Probability, over all its phases, of a season where there is none."""
FALSE_ALARMS = 0.05
"""Anomalies expected by chance in a whole series of normal noise."""
WIDER = 1.1
"""Of the intervals of a season: in 200 draws of 12 weeks, those of plain means held 89 % of the planted effects."""
LEVEL_FLOOR = 0.1
"""Of the mean level: below it, the noise does not shrink further with the level."""
SMOOTH_SHARE = 3
"""The level is smooth over a third of the series, at least three cycles of the longest season."""
NORMAL_MAD = 1.4826
ROUNDING = 1e-9
"""Of the largest value; smaller differences are none."""
CHANGE_PENALTY = 3.5
"""Per change of level, times log n and the variance of the noise, as in `workprof.phases.segmentation`."""
SHORTEST_SHARE = 0.07
"""Of the series, and at least a week of days: a shorter stretch is an anomaly, not a level."""
CLIPPED = 3.0
"""Robust deviations beyond which a bin counts no further for levels."""


@dataclass(frozen=True)
class Season:
    """What the phases of a season add to the level, their mean being 0."""

    name: str  # 'day' or 'week'
    period: int  # bins
    effects: Floats  # (period,) in the unit of the series; phase 0 is midnight, or Monday
    reach: Floats  # (period,) half of the 95 % interval of each
    chance: float  # of such a season where there is none (Kruskal-Wallis)


@dataclass(frozen=True)
class Trend:
    """Theil-Sen slope of the series without its season."""

    per_bin: float
    low: float  # and `high`: 95 %, wider where neighbouring bins are alike
    high: float

    @property
    def sure(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Parts:
    """A series taken apart; arrays are (n,)."""

    level: Floats  # smooth, with its steps
    season: Floats  # all seasons together
    seasons: tuple[Season, ...]
    trend: Trend
    changes: Ints  # first bins of new levels
    anomalies: Ints  # bins

    @property
    def expected(self) -> Floats:
        """(n,) level and season; nothing in this house is below 0."""
        return np.maximum(self.level + self.season, 0.0)


def taken_apart(values: Floats, periods: Sequence[tuple[str, int, int]]) -> Parts:
    """Season, trend, changes and anomalies of (n,) finite values, n at least `FEWEST_BINS`.

    `periods` are names, lengths in bins, and the phase of the first bin, the shortest first. A season is looked for
    where the series has `FEWEST_CYCLES` of it, and kept where chance seldom makes one as strong.

    Sources: MSTL (Bandara, Hyndman & Bergmeir 2021; Cleveland et al. 1990) by statsmodels; Theil-Sen by scipy, its
    interval widened as Hamed & Rao (1998) do for the Mann-Kendall test; changes by PELT of ruptures.
    """
    usable = [one for one in periods if len(values) >= FEWEST_CYCLES * one[1]]
    seasons, season, level = _seasons(values, usable)
    quiet, unit = _quiet(values, level, season)
    changes = _changes(quiet, unit, values, max((one[1] for one in usable), default=FEWEST_BINS - 1))
    if len(changes):  # the smooth level has no steps: without them it is found anew
        steps = _steps(quiet, changes)
        seasons, season, level = _seasons(values - steps, usable)
        level = level + steps
    score = (values - level - season) / _unit(level + season)
    score /= _spread(score, len(values) - sum(one.period - 1 for one in seasons) - len(values) // 10)
    far = np.abs(score) > _two_sided(FALSE_ALARMS / len(values))
    far &= np.abs(values - level - season) > ROUNDING * np.abs(values).max()
    return Parts(level, season, seasons, _trend(values - season), changes, np.flatnonzero(far))


def _two_sided(chance: float) -> float:
    from scipy.stats import norm  # noqa: PLC0415  heavy

    return float(norm.isf(chance / 2))


def _unit(expected: Floats) -> Floats:
    """(n,) how the noise grows with what is expected: as the root, as sums of arrivals do."""
    middle = float(np.mean(np.abs(expected)))
    if not middle > 0:
        return np.ones(len(expected))
    return np.sqrt(np.maximum(expected / middle, LEVEL_FLOOR))


def _spread(values: Floats, freedom: int) -> float:
    """Robust deviation of values around 0, larger for what was fitted; of a series that hardly moves the plain one."""
    robust = NORMAL_MAD * float(np.median(np.abs(values))) or float(np.sqrt(np.mean(values**2)))
    return robust * math.sqrt(len(values) / max(freedom, len(values) // 2)) or 1.0


def _seasons(values: Floats, periods: Sequence[tuple[str, int, int]]) -> tuple[tuple[Season, ...], Floats, Floats]:
    """The seasons that chance seldom makes, their sum and the smooth level, (n,) each."""
    from scipy.stats import theilslopes  # noqa: PLC0415  heavy

    if not periods:
        slope, start, *_ = theilslopes(values)
        return (), np.zeros(len(values)), float(start) + float(slope) * np.arange(len(values), dtype=np.float64)
    parts, level = _decomposed(values, [one[1] for one in periods])
    rest = values - level - parts.sum(axis=0)
    found = [_season(own, rest, level, *one) for own, one in zip(parts, periods, strict=True)]
    kept = [at for at, one in enumerate(found) if one.chance < SEASON_LEVEL]
    if kept and len(kept) < len(found):
        return _seasons(values, [periods[at] for at in kept])
    whole = np.zeros(len(values))
    for at in kept:
        whole += found[at].effects[(np.arange(len(values)) + periods[at][2]) % periods[at][1]]
    return tuple(found[at] for at in kept), whole, level


def _decomposed(values: Floats, periods: Sequence[int]) -> tuple[Floats, Floats]:
    """(n_periods, n) seasons that stay the same from cycle to cycle, and the (n,) smooth level."""
    from statsmodels.tsa.seasonal import MSTL  # noqa: PLC0415  heavy

    n = len(values)
    jumps = {f"{name}_jump": max(1, max(periods) // 10) for name in ("trend", "low_pass")}
    window = max(3 * max(periods), n // SMOOTH_SHARE) // 2 * 2 + 1
    same = {
        "robust": True,
        "seasonal_deg": 0,
        "seasonal_jump": max(1, n // 20),
        "trend": window,
        **jumps,
        "outer_iter": 6,
    }
    found = MSTL(values, periods=tuple(periods), windows=(10 * n + 1,) * len(periods), stl_kwargs=same).fit()
    return np.reshape(found.seasonal, (n, len(periods))).T, np.asarray(found.trend, dtype=np.float64)


def _season(own: Floats, rest: Floats, level: Floats, name: str, period: int, first: int) -> Season:
    """The effects of a season by phase, with what the noise leaves open."""
    from scipy.stats import kruskal, t  # noqa: PLC0415  heavy

    phase = (np.arange(len(own)) + first) % period
    n = np.bincount(phase, minlength=period)
    effects = np.bincount(phase, weights=own, minlength=period) / n
    effects -= effects.mean()
    unit = _unit(level + own)
    noise = _spread(rest / unit, len(own) - period - len(own) // 10)
    wide = np.bincount(phase, weights=unit, minlength=period) / n
    around = float(np.mean(wide**2)) / period  # of the mean over phases
    spread = WIDER * noise * np.sqrt((wide**2 * (1 - 2 / period) + around) / n)
    freedom = max(len(own) - period - len(own) // 10, 2)
    whole = own + rest
    chance = (
        1.0
        if np.ptp(whole) <= ROUNDING * np.abs(level).max()
        else float(kruskal(*(whole[phase == one] for one in range(period))).pvalue)
    )
    return Season(name, period, effects, float(t.isf((1 - CONFIDENCE) / 2, freedom)) * spread, chance)


def _trend(values: Floats) -> Trend:
    from scipy.stats import norm, theilslopes  # noqa: PLC0415  heavy

    at = np.arange(len(values), dtype=np.float64)
    slope = float(theilslopes(values, at)[0])
    wider = math.sqrt(_alike(values - slope * at))
    inside = 2 * float(norm.cdf(float(norm.isf((1 - CONFIDENCE) / 2)) * wider)) - 1
    found = theilslopes(values, at, alpha=min(inside, 1 - 1e-12))
    return Trend(slope, float(found.low_slope), float(found.high_slope))


def _alike(values: Floats) -> float:
    """How much more the sum of ranks varies because neighbours are alike, at least 1 (Hamed & Rao 1998, eq. 11)."""
    from scipy.stats import rankdata  # noqa: PLC0415  heavy

    n = len(values)
    ranks = rankdata(values) - (n + 1) / 2
    square = float((ranks**2).sum())
    if not square > 0:
        return 1.0
    lags = np.arange(1, min(n - 3, max(2, n // 4)) + 1)
    alike = np.array([float((ranks[lag:] * ranks[:-lag]).sum()) for lag in lags]) / square
    alike = np.where(np.abs(alike) > 1.96 / math.sqrt(n), alike, 0.0)
    sums = float(((n - lags) * (n - lags - 1.0) * (n - lags - 2.0) * alike).sum())
    return max(1.0, 1 + 2 * sums / (n * (n - 1.0) * (n - 2.0)))


def _quiet(values: Floats, level: Floats, season: Floats) -> tuple[Floats, float]:
    """(n,) values without season, outliers drawn in; and the variance of what is left."""
    unit = _unit(level + season)
    rest = (values - level - season) / unit
    bound = CLIPPED * _spread(rest, len(rest))
    held = np.clip(rest, -bound, bound) * unit
    return level + held, float(np.mean(held**2))


def _changes(quiet: Floats, noise: float, values: Floats, least: int) -> Ints:
    """First bins of new levels: where steps explain more than one line does, though each has to pay."""
    import ruptures  # noqa: PLC0415  heavy

    n = len(quiet)
    shortest = max(least, FEWEST_BINS - 1, math.ceil(SHORTEST_SHARE * n))
    if n < 2 * shortest or not noise > 0 or np.ptp(values) == 0:
        return np.zeros(0, dtype=np.int64)
    search = ruptures.KernelCPD("linear", min_size=shortest).fit(np.ascontiguousarray(quiet[:, None]))
    ends = search.predict(pen=CHANGE_PENALTY * math.log(n) * noise * _alike(quiet - _line(quiet)))
    changes = np.array(ends[:-1], dtype=np.int64)
    steps = float(((quiet - _steps(quiet, changes)) ** 2).sum())
    line = float(((quiet - _line(quiet)) ** 2).sum())
    paid = math.log(n) * (CHANGE_PENALTY * len(changes) - 1)
    better = n * math.log(max(steps, 1e-300) / max(line, 1e-300)) + paid < 0
    return changes if better else changes[:0]


def _line(values: Floats) -> Floats:
    at = np.arange(len(values), dtype=np.float64)
    return np.asarray(np.polyval(np.polyfit(at, values, 1), at))


def _steps(values: Floats, changes: Ints) -> Floats:
    """(n,) the mean of each stretch."""
    result = np.empty(len(values))
    for own in np.split(np.arange(len(values)), changes):
        result[own] = values[own].mean()
    return result


def continued(values: Floats, periods: Sequence[tuple[str, int, int]], ahead: int) -> tuple[Floats, Floats, bool]:
    """(ahead,) the bins to come: the last level with its line and seasons; the level alone; and whether they differ.

    The level is that since the last change. A line is drawn on where its interval leaves out 0.
    """
    parts = taken_apart(values, periods)
    n = len(values)
    calm, _ = _quiet(values, parts.level, parts.season)
    last = int(parts.changes[-1]) if len(parts.changes) else 0
    own = calm[last:]
    flat = np.full(ahead, float(own.mean()))
    trend = _trend(own) if len(own) >= 2 * FEWEST_BINS else Trend(0.0, 0.0, 0.0)
    slope = trend.per_bin if trend.sure else 0.0
    middle = (n + last - 1) / 2
    result = flat + slope * (np.arange(n, n + ahead) - middle)
    phases = {name: first for name, _, first in periods}
    for one in parts.seasons:
        result = result + one.effects[(np.arange(n, n + ahead) + phases[one.name]) % one.period]
    return np.maximum(result, 0.0), flat, bool(parts.seasons or slope)


def bridged(values: Floats) -> Floats:
    """(n,) the values with gaps bridged by straight lines; there is at least one."""
    at, known = np.arange(len(values)), np.isfinite(values)
    return np.interp(at, at[known], values[known])
