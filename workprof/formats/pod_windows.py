"""Windows of runs that do not end: how much a service used in each stretch of its time.

A service has no end at which it could be judged, but each of its windows has one. The field `windows` holds them as
JSON; `core.service_windows` reads it.
"""

import json

import numpy as np
from numpy.typing import NDArray

from workprof.core.units import DAY_S, HOUR_S, MINUTE_S
from workprof.formats.pod_series import Floats, Growth, Series

LENGTHS_S = (
    *(MINUTE_S, 2 * MINUTE_S, 5 * MINUTE_S, 10 * MINUTE_S, 30 * MINUTE_S),
    *(HOUR_S, 2 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S, DAY_S, 7 * DAY_S, 28 * DAY_S),
)
MOST, FEWEST, SAMPLES = 200, 6, 5
"""Windows of a run; samples in a window, as far as the fewest windows allow."""


def length_of(span_s: float, step_s: float) -> float:
    """The most that a run's windows last, in seconds, given its time and the time between samples.

    It follows from the run alone: a run has the same windows in one export and in many refreshes.
    """
    for samples in range(SAMPLES, 0, -1):
        enough = (each for each in LENGTHS_S if each >= samples * step_s and each * MOST >= span_s)
        result = next(enough, LENGTHS_S[-1])
        if result * FEWEST <= span_s:
            break
    return float(result)


def windows_text(memory: Series | None, cpu: Series | Growth | None, step_s: float) -> str | None:
    """The windows of a run as JSON, None where nothing is known of any; together they last as long as it.

    Memory is in bytes, CPU in cores, or seconds of CPU; the time is that between samples, infinite for one.
    """
    of_growth = isinstance(cpu, Growth) and cpu.begins.size > 0
    firsts = [one.first for one in (memory, cpu) if isinstance(one, Series) and one.times.size]
    lasts = [one.last for one in (memory, cpu) if isinstance(one, Series) and one.times.size]
    if isinstance(cpu, Growth) and of_growth:
        firsts, lasts = [*firsts, cpu.span[0]], [*lasts, cpu.span[1]]
    if not firsts or max(lasts) <= min(firsts):
        return None
    start, span = min(firsts), max(lasts) - min(firsts)
    count = max(1, int(np.ceil(span / length_of(span, step_s if np.isfinite(step_s) else 0.0))))
    length_s = span / count
    nothing = np.full(count, np.nan)
    peaks = nothing if memory is None else _folded(memory, start, length_s, np.fmax, nothing)
    if isinstance(cpu, Growth):
        cores = _cores(cpu, start, length_s, count) if of_growth else nothing
    else:
        cores = nothing if cpu is None else _means(cpu, start, length_s, nothing)
    result = {
        "start_s": start,
        "length_s": length_s,
        "peak_memory_bytes": _cells(peaks),
        "cpu_usage_percent": _cells(np.round(100 * cores, 6)),
    }
    return json.dumps(result)


def _places(series: Series, start: float, length_s: float, count: int) -> NDArray[np.intp]:
    return np.minimum(((series.times - start) // length_s).astype(np.intp), count - 1)


def _folded(series: Series, start: float, length_s: float, fold: np.ufunc, nothing: Floats) -> Floats:
    result = nothing.copy()
    fold.at(result, _places(series, start, length_s, nothing.size), series.values)
    return result


def _means(series: Series, start: float, length_s: float, nothing: Floats) -> Floats:
    places = _places(series, start, length_s, nothing.size)
    counts = np.bincount(places, minlength=nothing.size)
    sums = np.bincount(places, series.values, nothing.size)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _cores(growth: Growth, start: float, length_s: float, count: int) -> Floats:
    edges = start + length_s * np.arange(count + 1, dtype=np.float64)
    begin, end = growth.span
    covered = np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin)
    seconds = growth.between(edges)
    return np.where(covered > 0, seconds / np.where(covered > 0, covered, 1.0), np.nan)


def _cells(values: Floats) -> list[float | None]:
    return [value if known else None for value, known in zip(values.tolist(), np.isfinite(values), strict=True)]
