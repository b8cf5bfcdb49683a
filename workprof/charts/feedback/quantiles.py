"""What jobs of each profile need now, beside the fit."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from workprof.charts.text import shortened
from workprof.forecasts.feedback.assignment import OUTLIER
from workprof.forecasts.feedback.drift import FeedbackNow


def quantile_table(now: FeedbackNow, target: str, names: Mapping[int, str] | None = None) -> pd.DataFrame:
    """Return one line per profile: quantiles of one target now and at the fit, in the target's unit."""
    given = {OUTLIER: "Outliers", **(names or {})}
    lines = []
    for name, targets in now.quantiles.items():
        one = targets[target]
        line: dict[str, object] = {"profile": shortened(given.get(int(name), f"P{name}"))}
        for level, value, before in zip(one.levels, one.now, one.at_fit, strict=True):
            line[f"p{level * 100:g} now"], line[f"p{level * 100:g} at the fit"] = value, before
        lines.append(line | {"independent jobs": round(one.effective, 1)})
    return pd.DataFrame(lines)
