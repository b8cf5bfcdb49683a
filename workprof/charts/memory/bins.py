"""Bins as figures and as a table."""

from __future__ import annotations

import pandas as pd

from workprof.charts.memory.tasks import gb_h
from workprof.charts.shapes import Headline
from workprof.memory.bins import Bins
from workprof.units import GB, format_share


def bin_headlines(found: Bins) -> tuple[Headline, ...]:
    """Return saving beside risk."""
    effect = found.effect
    return (
        Headline(
            "Saved at best",
            format_share(effect.time_based_saved_share),
            "Of the requested GB·h, if every run comes into its right bin.",
            f"by count {format_share(effect.saved_share)}",
        ),
        Headline(
            "Saved at best",
            gb_h(effect.saved_gb_h),
            "Requested less allotted, over this history.",
            f"{effect.n_runs:,} runs",
        ),
        Headline(
            "Over the top",
            f"{effect.n_above:,} runs",
            "Runs above the top edge. They keep their request (or get what they used) in these figures; started in the "
            "top bin they would fail.",
            f"{format_share(effect.above_hours_share)} of hours",
        ),
        Headline(
            "Over request",
            f"{effect.n_over_request:,} runs",
            "Runs that used more than they asked for already.",
            "too small now",
        ),
        Headline(
            "Thesis' optimum",
            format_share(found.time_based_optimal_improvement),
            "Against one static request for all runs (the largest), by time; the published definition.",
            f"by count {format_share(found.optimal_improvement)}",
        ),
    )


def bin_table(found: Bins) -> pd.DataFrame:
    """Return one line per bin; shares in per cent."""
    effect = found.effect
    return pd.DataFrame(
        {
            "edge_gb": [edge / GB for edge in found.edges_bytes],
            "runs": effect.bin_runs,
            "runs_percent": 100 * effect.bin_runs / max(effect.n_runs, 1),
            "hours": effect.bin_hours,
            "used_percent": 100 * effect.bin_used_share,
        }
    )
