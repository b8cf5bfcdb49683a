"""How far off a runtime on another machine may be, from how far off earlier predictions were."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats
from workprof.core.errors import NotEnoughData
from workprof.nodes.transfer import Transfer, default_predictions


@dataclass(frozen=True)
class PastErrors:
    """Errors of earlier predictions by our factor; all arrays are (n,)."""

    log_error: Floats  # ln(measured / predicted)
    from_line: Bools  # False where the median was predicted
    workflow: NDArray[Any]  # and `target`: of each
    target: NDArray[Any]
    n_not_positive: int  # predictions at or below 0, which have no log; left out

    def only(self, chosen: Bools) -> PastErrors:
        """The errors where kept is true."""
        return replace(
            self,
            log_error=self.log_error[chosen],
            from_line=self.from_line[chosen],
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


def past_errors(result: Transfer) -> PastErrors:
    """The errors of our factor."""
    predicted_s, predicted = default_predictions(result), result.predicted
    positive = predicted_s > 0
    return PastErrors(
        np.log(predicted.measured_s[positive] / predicted_s[positive]),
        predicted.from_line[positive],
        predicted.workflow[positive],
        predicted.target[positive],
        int((~positive).sum()),
    )


def spread(past: PastErrors, from_line: bool, confidence: float) -> tuple[float, float]:
    """Lower and upper end of measured / predicted, among earlier predictions of the same kind.

    Raises NotEnoughData when there are too few for the confidence, so that an end would be beyond the largest error.

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
