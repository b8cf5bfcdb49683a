"""Running totals as rates per second; a total that fell was reset, and its cell is empty."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.formats.measured import Check


@dataclass(frozen=True)
class Rated:
    """Rates under `<name>/s`; the first row of a run has none. `checks` counts resets."""

    frame: pd.DataFrame
    checks: tuple[Check, ...]


def rated(totals: pd.DataFrame, t_s: NDArray[np.float64]) -> Rated:
    """Return the rates of totals between one time and the next."""
    steps = np.diff(t_s, prepend=np.nan)
    steps[~(steps > 0)] = np.nan
    grown = totals.diff()
    fell = grown < 0
    rates = grown.mask(fell).div(steps, axis=0)
    resets = int(fell.to_numpy().sum())
    told = f"{resets:,} totals fell: they were reset, and the rate over that interval is empty"
    checks = (Check("resets", "warning", resets, told),) if resets else ()
    return Rated(rates.rename(columns=lambda name: f"{name}/s"), checks)
