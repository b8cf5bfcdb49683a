"""Times as tools write them - epoch, ISO date, clock - as seconds since the start of a run; running totals as rates."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.core.errors import TraceError
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S
from workprof.formats import values
from workprof.store.reports import Check

Seconds = NDArray[np.float64]

CLOCK = re.compile(r"(\d{1,2}):([0-5]\d):((?:[0-5]\d|60)(?:\.\d+)?)(?:\s*([AaPp])[Mm])?", re.ASCII)
ZONE = re.compile(r":\d\d[\d.]*(?:Z|[+-]\d\d(?::?\d\d)?| (?P<name>(?!AM|PM)[A-Z]{2,5}))$")
"""The zone of a time; times of one zone are as far apart whatever its name means."""

HALF_DAY_H = 12
EPOCH_S, EPOCH_MS, EPOCH_US, EPOCH_NS = 1e8, 1e11, 1e14, 1e17
"""A number above the first is no elapsed time but seconds since 1970 (March 1973 at least), above others ms, µs, ns."""


def seconds_of(texts: Sequence[str], origin: str, runs: Sequence[int] | None = None) -> Seconds:
    """(n,) seconds of times written in one way: numbers, dates, or clock times (past midnight they go on).

    `runs` numbers the run of each, where there are several: each has a midnight of its own.

    Raises TraceError when one is none of these, or numbers count in several units.
    """
    result = [text.strip() for text in texts]
    numbers = _as_numbers(result)
    if numbers is not None:
        if not np.isfinite(numbers).all():
            raise TraceError(f"{origin}: {result[int(np.argmin(np.isfinite(numbers)))]!r} is no time; write numbers")
        kinds = np.searchsorted((EPOCH_S, EPOCH_MS, EPOCH_US, EPOCH_NS), numbers)
        if np.ptp(kinds) if kinds.size else 0:
            first = result[int(np.argmin(numbers))], result[int(np.argmax(numbers))]
            raise TraceError(
                f"{origin}: the times are of several kinds, such as {first[0]!r} and {first[1]!r}; write all of them "
                f"in seconds, or give the unit of t in the mapping"
            )
        finer = max(int(kinds[0]) - 1, 0) if kinds.size else 0
        return np.asarray(numbers / 1000.0**finer, dtype=np.float64)
    clocks = [CLOCK.fullmatch(text) for text in result]
    if all(clocks):
        clock_s = pd.Series([_clock_seconds(match) for match in clocks if match], dtype=np.float64)
        by_run = clock_s.groupby(np.zeros(len(clock_s)) if runs is None else np.asarray(runs), sort=False)
        return np.asarray(by_run.transform(lambda one: past_midnight(one.to_numpy())), dtype=np.float64)
    return _dates(result, origin)


def past_midnight(of_day_s: Seconds) -> Seconds:
    """Clock times as seconds that go on after midnight; where most of them fall, the newest stands first."""
    steps = np.diff(of_day_s)
    near = steps[np.abs(steps) < DAY_S / 2]
    if np.sum(near < 0) > np.sum(near > 0):
        return past_midnight(of_day_s[::-1])[::-1]
    fell = np.diff(of_day_s, prepend=of_day_s[:1]) < -DAY_S / 2
    return np.asarray(of_day_s + DAY_S * np.cumsum(fell), dtype=np.float64)


def of_day(texts: Sequence[str], origin: str) -> Seconds:
    """(n,) seconds of the day of clock times or dates."""
    return seconds_of(texts, origin) % DAY_S


def since_start(at_s: Seconds) -> Seconds:
    """Seconds since the start of the run: the earliest sample ends the first interval of the usual length."""
    if at_s.size == 0:
        return at_s
    return np.asarray(at_s - at_s.min() + usual_step(np.sort(at_s)), dtype=np.float64)


def usual_step(at_s: Seconds) -> float:
    """The (lower) median of the positive steps, 0 where there is none."""
    return usual_of(np.diff(at_s))


def usual_of(steps: Seconds) -> float:
    """The lower median of those steps that are positive, 0 where none is."""
    return float(np.quantile(steps[steps > 0], 0.5, method="lower")) if np.any(steps > 0) else 0.0


def is_epoch(at_s: Seconds) -> bool:
    """Tell whether seconds count from 1970 rather than from the start of the run."""
    return bool(at_s.size and np.nanmin(at_s) > EPOCH_S)


def _as_numbers(texts: list[str]) -> Seconds | None:
    try:
        return np.array(texts, dtype=np.float64)
    except ValueError:
        return None


def _clock_seconds(match: re.Match[str]) -> float:
    hours = int(match[1])
    if match[4]:
        hours = hours % HALF_DAY_H + (HALF_DAY_H if match[4].lower() == "p" else 0)
    return hours * HOUR_S + int(match[2]) * MINUTE_S + float(match[3])


def _dates(texts: list[str], origin: str) -> Seconds:
    zones = [ZONE.search(text) for text in texts]
    names = [zone["name"] if zone else "no zone" for zone in zones]
    if len(set(names)) > 1:
        other = names.index(next(name for name in names if name != names[0]))
        raise TraceError(f"{origin}: {texts[0]!r} and {texts[other]!r} are of unlike zones; write all times in one way")
    named = any(zone and zone["name"] for zone in zones)
    plain = pd.Series([text.rpartition(" ")[0] if named else text for text in texts], dtype="str")
    try:
        moments = pd.to_datetime(plain, errors="coerce", utc=True, format="ISO8601")
        seconds = (moments - pd.Timestamp(0, tz="UTC")).dt.total_seconds().to_numpy(np.float64)
    except (ValueError, OverflowError) as error:  # a year beyond reach
        raise TraceError(
            f"{origin}: the times are no dates ({str(error)[:100]}); write seconds or ISO dates"
        ) from error
    if np.isnan(seconds).any() and {*names} == {"no zone"}:
        seconds = _other_dates(texts, origin)
    if np.isnan(seconds).any():
        wrong = texts[int(np.flatnonzero(np.isnan(seconds))[0])]
        raise TraceError(f"{origin}: {wrong!r} is no time; write seconds, an ISO date with its time, or HH:MM:SS")
    return np.asarray(seconds, dtype=np.float64)


FRACTION = re.compile(r"(:\d\d)(\.\d+)(?=$| [AaPp][Mm]$)")


def _other_dates(texts: list[str], origin: str) -> Seconds:
    """Seconds of dates as `values.MOMENTS` has them, NaN where one is none of these.

    Within one day, elapsed times are the same whether the day or the month is first.

    Raises TraceError where several days do not tell which is first.
    """
    whole = [FRACTION.sub(r"\1", text) for text in texts]
    fractions = np.array([float(found[2]) if (found := FRACTION.search(text)) else 0.0 for text in texts])
    order = values.order_of_days(whole)
    if order == "either" and len({text.partition(" ")[0] for text in whole}) > 1:
        order = values.order_of_samples(whole)
        if order == "either":
            raise TraceError(
                f"{origin}: times such as {texts[0]!r} may begin with the day or with the month, and none of them "
                "tells; write them as 2026-01-31 10:00:00"
            )
    quantity = values.TIME_DAY_FIRST if order == "first" else values.TIME
    return np.asarray(np.array(values.numbers(whole, quantity), dtype=np.float64) + fractions, dtype=np.float64)


@dataclass(frozen=True)
class Rated:
    """Rates under `<name>/s`; the first row of a run has none. `checks` counts resets."""

    frame: pd.DataFrame
    checks: tuple[Check, ...]


def rated(totals: pd.DataFrame, t_s: NDArray[np.float64]) -> Rated:
    """The rates of totals between one time and the next."""
    steps = np.diff(t_s, prepend=np.nan)
    steps[~(steps > 0)] = np.nan
    grown = totals.diff()
    fell = grown < 0
    rates = grown.mask(fell).div(steps, axis=0)
    resets = int(fell.to_numpy().sum())
    text = f"{resets:,} totals fell: they were reset, and the rate over that interval is empty"
    checks = (Check("resets", "warning", resets, text),) if resets else ()
    return Rated(rates.rename(columns=lambda name: f"{name}/s"), checks)
