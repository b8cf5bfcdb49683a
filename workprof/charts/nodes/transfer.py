"""Runtimes predicted on other machines: how far off each method is, and predicted against measured."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd

from workprof.charts.shapes import NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, rows_height
from workprof.nodes.runtime_intervals import Coverage
from workprof.nodes.transfer import Transfer
from workprof.units import format_share


def transfer_table(found: Transfer) -> pd.DataFrame:
    """Return one line per method, the smallest median error first; errors are shares of the measured runtime."""
    lines = [
        {
            "method": name + (" (ours)" if name == found.default else ""),
            "median_error": one.median,
            "p90_error": one.p90,
            "p95_error": one.p95,
            "predictions": one.n,
        }
        for name, one in found.methods.items()
    ]
    return pd.DataFrame(lines).sort_values("median_error", kind="stable")


def transfer_bars(found: Transfer) -> Chart:
    """Return the median error of every method, smallest first."""
    table = transfer_table(found)
    rows = [str(name) for name in table["method"]]
    errors = [float(value) for value in table["median_error"]]
    takeaway = transfer_sentence(found)
    return Chart(
        name="node-transfer",
        figure=figure_of(
            [_bars(rows, errors)],
            x={
                "title": "Median error (share of the measured runtime)",
                "tickformat": ".0%",
                "range": [0, 1.15 * max(errors)],
            },
            y=rows_axis(rows),
            height=rows_height(len(rows)),
        ),
        takeaway=takeaway,
        alt=f"Median error of {len(rows)} methods. {takeaway}",
        data=table,
        note="Error = |predicted - measured| / measured. Our factor was picked with sight of the errors on the public "
        "reports: there its row is in-sample.",
    )


def transfer_sentence(found: Transfer) -> str:
    """Return how far off our method is, beside no scaling at all."""
    ours, plain = found.methods.get(found.default), found.methods.get("none")
    if ours is None:
        return f"Our factor could not be computed: {found.left_out.get(found.default, 'it was not asked for')}."
    rest = f", without scaling {format_share(plain.median)}" if plain else ""
    return f"Half of {ours.n:,} predictions are within {format_share(ours.median)} of the measured runtime{rest}."


def interval_sentence(told: Coverage | None) -> str:
    """Return how often the intervals held; '' where there are none."""
    if told is None or not told.n or not math.isfinite(told.share):
        return ""
    return (
        f"Intervals of {format_share(told.confidence, 0)} held {format_share(told.share)} of {told.n:,} runtimes whose "
        f"{told.held_out} they had not seen; upper end / lower end {told.median_width:.2f}."
    )


def _bars(rows: list[str], errors: list[float]) -> dict[str, Any]:
    return {
        "type": "bar",
        "orientation": "h",
        "x": errors,
        "y": rows,
        "marker": {"color": [COLOURS[0] if name.endswith("(ours)") else NEUTRAL for name in rows]},
        "text": [format_share(value) for value in errors],
        "textposition": "outside",
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
