"""How far off a runtime on another machine may be, from how far off earlier predictions were."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats
from workprof.core.errors import NotEnoughData
from workprof.nodes.runtime_factors import DEFAULT_FACTOR, MachineScores, TaskTraits, factor_named
from workprof.nodes.runtime_models import TaskRuns, busy_share, line_or_median
from workprof.nodes.transfer import Transfer, default_predictions, scaled


@dataclass(frozen=True)
class PastErrors:
    """Errors of earlier predictions by our factor; all arrays are (n,)."""

    log_error: Floats  # ln(measured / predicted)
    from_line: Bools  # False where the median was predicted
    factor: Floats  # by which the local runtime was scaled
    workflow: NDArray[Any]  # and `target`: of each
    target: NDArray[Any]
    n_not_positive: int  # predictions at or below 0, which have no log; left out

    def only(self, chosen: Bools) -> PastErrors:
        """The errors where kept is true."""
        return replace(
            self,
            log_error=self.log_error[chosen],
            from_line=self.from_line[chosen],
            factor=self.factor[chosen],
            workflow=self.workflow[chosen],
            target=self.target[chosen],
        )


@dataclass(frozen=True)
class Coverage:
    """How often the measured runtime lay in its interval, each interval made without its workflow and its target."""

    confidence: float  # of the setting
    share: float  # that was reached, 0-1; NaN without a prediction to judge
    median_width: float  # upper end / lower end, the median
    n: int  # predictions judged
    n_without: int  # predictions with too few earlier ones
    held_out: str  # what the intervals had not seen


@dataclass(frozen=True)
class RuntimeQuery:
    """The task, size and machines that a runtime is wanted for."""

    runs: TaskRuns  # of the task on the local machine
    input_bytes: float  # of the run to predict
    local: MachineScores  # and `target`: scores of both machines
    target: MachineScores
    own_ratio: float | None = None  # and `exponent`: of the task, see `TaskTraits`
    exponent: float = 1.0


@dataclass(frozen=True)
class RuntimeForecast:
    """Runtime of a task on another machine."""

    runtime_s: float  # expected
    low_s: float  # and `high_s`: ends of the interval
    high_s: float
    confidence: float  # of the setting; what it reached before is told by `coverage`
    factor: float  # by which the local runtime was scaled
    from_line: bool  # False where the median stands in for the line
    n_past: int  # errors behind the interval
    warnings: tuple[str, ...]  # what a reader must know


def past_errors(result: Transfer) -> PastErrors:
    """The errors of our factor."""
    predicted_s, predicted = default_predictions(result), result.predicted
    positive = predicted_s > 0
    return PastErrors(
        np.log(predicted.measured_s[positive] / predicted_s[positive]),
        predicted.from_line[positive],
        predicted_s[positive] / predicted.locally_s[positive],
        predicted.workflow[positive],
        predicted.target[positive],
        int((~positive).sum()),
    )


def spread(past: PastErrors, from_line: bool, confidence: float) -> tuple[float, float]:
    """Lower and upper end of measured / predicted, among earlier predictions of the same kind.

    Raises:
        NotEnoughData: when there are too few for the confidence, so that an end would be beyond the largest error.

    Source: split conformal intervals with both tails, (n + 1) rule; the kind is line or median.
    """
    errors = past.log_error[past.from_line == from_line]
    tail = (1 - confidence) / 2
    fewest = math.ceil(1 / tail - 1e-9) - 1
    if len(errors) < fewest:
        kind = "lines" if from_line else "medians"
        raise NotEnoughData(
            f"an interval of {confidence:.0%} needs {fewest} earlier predictions from {kind}, here are {len(errors)}"
        )
    low, high = np.exp(np.percentile(errors, [100 * tail, 100 * (1 - tail)], method="weibull"))
    return float(low), float(high)


def coverage(past: PastErrors, confidence: float) -> Coverage:
    """How often intervals hold that were made without the workflow and the target that they are for.

    With one target only, it is seen; runs of one workflow are alike, so leaving out less would overstate the method.
    """
    many_targets = len(np.unique(past.target)) > 1
    inside: list[bool] = []
    widths: list[float] = []
    for workflow, target, from_line in sorted(set(zip(past.workflow, past.target, past.from_line, strict=True))):
        judged = (past.workflow == workflow) & (past.target == target) & (past.from_line == from_line)
        seen = past.workflow != workflow
        if many_targets:
            seen &= past.target != target
        try:
            low, high = np.log(spread(past.only(seen), bool(from_line), confidence))
        except NotEnoughData:
            continue
        errors = past.log_error[judged]
        inside += ((errors >= low) & (errors <= high)).tolist()
        widths += [float(np.exp(high - low))] * len(errors)
    share, width = (float(np.mean(inside)), float(np.median(widths))) if inside else (math.nan, math.nan)
    held_out = "workflow and target" if many_targets else "workflow"
    return Coverage(confidence, share, width, len(inside), len(past.log_error) - len(inside), held_out)


def forecast(query: RuntimeQuery, past: PastErrors, confidence: float = 0.9) -> RuntimeForecast:
    """Runtime of a task on another machine with its interval, of confidence 0.5 to 0.99.

    The spread of the factor is in the past errors, whose targets had other factors; best they are of other machines.

    Raises:
        NotEnoughData: for too few earlier predictions, or no score in common.
    """
    runs = query.runs
    if not len(runs):
        raise NotEnoughData("the task has no run on the local machine")
    local = line_or_median(runs, query.input_bytes)
    machines = query.local, query.target
    traits = TaskTraits(busy_share(runs), query.own_ratio, query.exponent)
    times = scaled(factor_named(DEFAULT_FACTOR), machines, local.from_line, traits)
    warnings = _warnings(query, local.from_line, times, past)
    runtime_s = local.runtime_s * times
    if not runtime_s > 0:
        raise NotEnoughData(
            f"the line through the runs gives {runtime_s:.3g} s at {query.input_bytes:,.0f} bytes; measure nearer sizes"
        )
    low, high = spread(past, local.from_line, confidence)
    n_past = int((past.from_line == local.from_line).sum())
    return RuntimeForecast(
        runtime_s, runtime_s * low, runtime_s * high, confidence, times, local.from_line, n_past, warnings
    )


def _warnings(query: RuntimeQuery, from_line: bool, times: float, past: PastErrors) -> tuple[str, ...]:
    warnings = []
    smallest, largest = query.runs.input_bytes.min(), query.runs.input_bytes.max()
    if query.input_bytes > largest:
        warnings.append(f"the input is {query.input_bytes / largest:.1f} times the largest measured one")
    if query.input_bytes < smallest:
        warnings.append(f"the input is {query.input_bytes / smallest:.2g} times the smallest measured one")
    if not from_line:
        warnings.append("runtime does not follow input size here: the median runtime stands for every size")
    if len(past.factor) and not past.factor.min() <= times <= past.factor.max():
        seen = f"{past.factor.min():.2f} to {past.factor.max():.2f}"
        warnings.append(f"the factor {times:.2f} lies outside {seen}, the factors whose errors are known")
    return tuple(warnings)
