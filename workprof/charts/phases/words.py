"""Runs, counters and times of recordings as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workprof.charts.text import plotly_text

LONGEST_COUNTER = 34
STATISTIC_WORDS = {
    "mean": "mean",
    "median": "median",
    "variance": "variance",
    "adf": "ADF statistic",
    "q10": "10 % quantile",
    "q25": "25 % quantile",
    "q75": "75 % quantile",
    "q90": "90 % quantile",
}
NOT_THE_PAPER = (
    "The counters of workprof's recorder are software counters; the paper's are hardware and software counters, so "
    "only the order of things can be compared with it."
)


def counter_unit(counter: str) -> str:
    """Return what a counter is measured in, by its name: '%', 'per s', 'MB' or ''."""
    if counter.endswith("ms/s"):
        return "ms per s"
    if counter.endswith("kb/s"):
        return "kB per s"
    for ending, unit in (("/s", "per s"), ("%", "%"), ("_mb", "MB")):
        if counter.endswith(ending):
            return unit
    return ""


def counter_names(counters: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure: the ends of long ones, a number where two would look alike."""
    ends = [one if len(one) <= LONGEST_COUNTER else f"…{one[1 - LONGEST_COUNTER :]}" for one in counters]
    return [
        plotly_text(f"{end} ({place + 1})" if ends.count(end) > 1 else end, 2 * LONGEST_COUNTER)
        for place, end in enumerate(ends)
    ]


def seconds(value: float) -> str:
    """Return '12 s' or '12.5 s', 'no data' for NaN."""
    return f"{value:,.6g} s" if math.isfinite(value) else "no data"


def number(value: float) -> str:
    """Return a number with about three digits, 'no data' for NaN."""
    if not math.isfinite(value):
        return "no data"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def statistic_words(name: str) -> str:
    """Return a statistic of a phase in words."""
    return STATISTIC_WORDS.get(name, name)
