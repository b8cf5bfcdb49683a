"""Runtime of a task from its input size, learned from a few runs on one machine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workprof.arrays import Floats
from workprof.nodes.transfer.task_runs import TaskRuns
from workprof.units import DURATION_FACTORS

CORRELATED = 0.8
"""Pearson's r from which on input size tells runtime (perona.md 5.2, point 3)."""

KS_CONFIDENCE = 0.9
"""Of the critical value in Online-P: .369 at n = 10 is the tabulated one of this confidence."""


@dataclass(frozen=True)
class LocalRuntime:
    """What a model says of the machine that it learned from.

    Attributes:
        runtime_s: predicted.
        from_line: True = the line through the runs, False = their median, because size does not tell runtime.
    """

    runtime_s: float
    from_line: bool


def correlation(runs: TaskRuns) -> float:
    """Return Pearson's r of input size and runtime; NaN where one of them never changes or there is one run."""
    if len(runs) < 2 or not np.ptp(runs.input_bytes) > 0 or not np.ptp(runs.runtime_s) > 0:
        return float("nan")
    return float(np.corrcoef(runs.input_bytes, runs.runtime_s)[0, 1])


def naive(runs: TaskRuns, input_bytes: float) -> float:
    """Return mean(runtime / size) times the size, in seconds.

    Source: perona.md 5.2, point 3; ours differs in nothing.
    """
    return float(np.mean(runs.runtime_s / runs.input_bytes) * input_bytes)


def online_m(runs: TaskRuns, input_bytes: float) -> float:
    """Return the runtime per byte of the run nearest in size times the size, or the median runtime, in seconds.

    Source: perona.md 5.2, point 3 (the first of equally near runs; r above, not at, 0.8); ours differs in nothing.
    """
    if correlation(runs) > CORRELATED:
        nearest = int(np.argmin(np.abs(runs.input_bytes - input_bytes)))
        return float(runs.runtime_s[nearest] / runs.input_bytes[nearest] * input_bytes)
    return float(np.median(runs.runtime_s))


def online_p(runs: TaskRuns, input_bytes: float, rng: np.random.Generator, n_draws: int) -> Floats:
    """Return (n_draws,) runtimes in seconds as `online_m`, but draws from a fitted distribution in place of the median.

    Source: perona.md 5.2, point 3. The published comparison of a p-value with the critical value of the distance is a
    slip, and a gamma of shape = mean (in milliseconds, scale 1) hardly ever fits; both are kept. Ours differs in the
    draws, and computes the critical value instead of looking it up.
    """
    if correlation(runs) > CORRELATED or len(runs) < 2 or not np.ptp(runs.runtime_s) > 0:
        return np.full(n_draws, online_m(runs, input_bytes))
    from scipy import stats  # noqa: PLC0415  heavy

    millisecond = DURATION_FACTORS["ms"]
    runtimes_ms = runs.runtime_s / millisecond
    mean, spread = float(runtimes_ms.mean()), float(runtimes_ms.std(ddof=1))
    critical = float(stats.kstwo.ppf(KS_CONFIDENCE, len(runs)))
    if stats.kstest(runtimes_ms, stats.norm(mean, spread).cdf).pvalue > critical:
        return rng.normal(mean, spread, n_draws) * millisecond
    if stats.kstest(runtimes_ms, stats.gamma(mean).cdf).pvalue > critical:
        return rng.gamma(mean, size=n_draws) * millisecond
    return np.full(n_draws, np.median(runs.runtime_s))


def line_or_median(runs: TaskRuns, input_bytes: float) -> LocalRuntime:
    """Return the least-squares line at this size, or the median runtime where r is below 0.8.

    Source: Lotaru's model (perona.md 5.2, point 3); ours differs in nothing. The line may be negative far outside.
    """
    if not correlation(runs) >= CORRELATED:
        return LocalRuntime(float(np.median(runs.runtime_s)), from_line=False)
    size, time = runs.input_bytes, runs.runtime_s
    apart = size - size.mean()
    slope = float(apart @ (time - time.mean()) / (apart @ apart))
    return LocalRuntime(float(time.mean() + slope * (input_bytes - size.mean())), from_line=True)


def busy_share(runs: TaskRuns) -> float:
    """Return the share (0-1) of the runtime in which the task computes, as its largest run shows it.

    A core or more in use counts as computing all the time; below that, the rest is waiting. The largest run stands
    for the larger one that is predicted: start-up, when a task waits, weighs less there. 1 where use is not known.
    """
    known: Floats = runs.cpu_percent[np.isfinite(runs.cpu_percent)]
    return float(np.clip(known[-1] / 100, 0.0, 1.0)) if len(known) else 1.0
