"""What one job will need: a dot and an interval per target, each on an axis of its own unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.classify.naming import Naming
from workprof.charts.shapes import Chart
from workprof.charts.text import formatted, label, plotly_text, title
from workprof.charts.theme import COLOURS, laid_out
from workprof.forecasts.estimates import Estimates
from workprof.units import DAY_S, GIB, HOUR_S, KIB, MIB, MINUTE_S, format_share

LINE_PX = 96
AROUND_PX = 40
ROW_SHARE = 0.55
"""Of a row's height: the marks and their words; below stand the ticks."""

ZERO_SHARE = 0.1
"""Of the smallest positive value: where a true zero stands on a logarithmic axis."""

LOWEST_SHARE = 1e-6
"""Of the largest end: smaller values stand at the end of the axis."""


TICKS = {
    "s": (
        *(1, 2, 5, 10, 30),
        *(MINUTE_S * n for n in (1, 2, 5, 10, 30)),
        *(HOUR_S * n for n in (1, 2, 5, 12)),
        *(DAY_S * n for n in (1, 2, 5, 10, 30, 100)),
    ),
    "bytes": tuple(size * n for size in (KIB, MIB, GIB) for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    "percent": tuple(10.0**power * n for power in range(-3, 5) for n in (1, 2, 5)),
}
MOST_TICKS = 4


def estimate_rows(said: Mapping[str, Estimates], row: int, nominal: float, naming: Naming) -> Chart:
    """Return the estimates of one job: point, middle half and interval per target.

    Args:
        said: target -> estimates.
        row: of the job.
        nominal: coverage that the intervals were calibrated for, 0-1.
        naming: for the flag of the published definitions.
    """
    table = _table(said, row)
    figure = _figure([line for _, line in table.iterrows()])
    laid_out(figure, x="", y="", height=AROUND_PX + LINE_PX * max(1, len(table)))
    return Chart(
        name="estimates",
        figure=figure,
        takeaway=_takeaway(table),
        alt=f"One row per target with point and interval. {' '.join(_sentence(line) for _, line in table.iterrows())}",
        data=table,
        note="Dot: best guess; thick line: middle half; thin line: interval meant to hold "
        f"{format_share(nominal, 0)} of jobs, calibrated on jobs kept apart. Logarithmic axes. The estimates do not "
        "depend on the mode.",
    )


def _figure(lines: Sequence[pd.Series]) -> go.Figure:
    """Return one row of marks per target, each on an axis of its own; one specification, since every answer has it."""
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {"annotations": []}
    share = 1 / max(1, len(lines))
    for place, line in enumerate(lines):
        axis = str(place + 1) if place else ""
        data += [mark | {"xaxis": f"x{axis}", "yaxis": f"y{axis}"} for mark in _marks(line)]
        top = 1 - place * share
        layout[f"xaxis{axis}"] = _axis(line) | {"anchor": f"y{axis}"}
        layout[f"yaxis{axis}"] = {
            "visible": False,
            "range": [-1, 1.6],
            "fixedrange": True,
            "anchor": f"x{axis}",
            "domain": [top - share * ROW_SHARE, top],
        }
        layout["annotations"].append(
            {"text": _words(line), "x": 0, "y": 1.25, "xref": f"x{axis} domain", "yref": f"y{axis}", "xanchor": "left"}
            | {"showarrow": False}
        )
    return go.Figure({"data": data, "layout": layout})


def _axis(line: pd.Series) -> dict[str, Any]:
    low, high = _ends(line)
    target = str(line["target"])
    ticks = _ticks(target, low, high)
    return {
        "type": "log",
        "range": [float(np.log10(low)), float(np.log10(high))],
        "tickvals": ticks,
        "ticktext": [_tick_text(target, tick) for tick in ticks],
    }


def _table(said: Mapping[str, Estimates], row: int) -> pd.DataFrame:
    lines = []
    for target, found in said.items():
        p5, p10, p25, p50, p75, p90, p95 = found.quantiles[row].tolist()
        lines.append(
            {
                "target": target,
                "point": float(found.point[row]),
                "low": float(found.low[row]),
                "high": float(found.high[row]),
                "p5": p5,
                "p10": p10,
                "p25": p25,
                "p50": p50,
                "p75": p75,
                "p90": p90,
                "p95": p95,
                "past_jobs": int(found.count[row]),
                "history_level": int(found.level[row]),
            }
        )
    return pd.DataFrame(lines)


def _marks(line: pd.Series) -> list[dict[str, Any]]:
    lowest = _ends(line)[0]
    thin = [max(line["low"], lowest), max(line["high"], lowest)]
    thick = [max(line["p25"], lowest), max(line["p75"], lowest)]
    drawn = {"type": "scatter", "y": [0, 0], "hovertemplate": f"{plotly_text(_sentence(line), 300)}<extra></extra>"}
    return [
        drawn | {"x": thin, "mode": "lines", "line": {"color": COLOURS[0], "width": 2}},
        drawn | {"x": thick, "mode": "lines", "line": {"color": COLOURS[0], "width": 8}},
        drawn
        | {"x": [max(line["point"], lowest)], "y": [0], "mode": "markers"}
        | {"marker": {"color": COLOURS[1], "size": 14, "symbol": "diamond"}},
    ]


def _ends(line: pd.Series) -> tuple[float, float]:
    """Return the ends of a row's axis, both above zero."""
    high = max(float(line["high"]), float(line["p75"]), 1e-9)
    values = [float(line[name]) for name in ("low", "p25", "point")]
    low = min([value for value in values if value > 0], default=high * ZERO_SHARE)
    low = low * ZERO_SHARE if min(values) <= 0 else low
    return max(low, high * LOWEST_SHARE) / 1.5, high * 1.5


def _ticks(target: str, low: float, high: float) -> list[float]:
    """Return round values on the axis, at most four; where not even two fit, its ends."""
    kind = "s" if target.endswith("_s") else "bytes" if target.endswith("_bytes") else "percent"
    inside = [float(tick) for tick in TICKS[kind] if low * 1.1 <= tick <= high / 1.1]
    if len(inside) < 2:
        return [low * 1.1, high / 1.1]
    return inside[:: -(-len(inside) // MOST_TICKS)]


def _tick_text(target: str, tick: float) -> str:
    """Return a tick's value without the zeros behind a round duration."""
    text = formatted(target, tick)
    for zeros in (" 00 s", " 00 min", " 0 h"):
        text = text.removesuffix(zeros)
    return text


def _words(line: pd.Series) -> str:
    target = str(line["target"])
    point, low, high = (formatted(target, float(line[name])) for name in ("point", "low", "high"))
    return f"<b>{title(target, '')}: {point}</b>, interval {low} to {high}"


def _sentence(line: pd.Series) -> str:
    target = str(line["target"])
    point, low, high = (formatted(target, float(line[name])) for name in ("point", "low", "high"))
    return f"{title(target, '')} {point} (interval {low} to {high}, from {int(line['past_jobs']):,} past jobs alike)."


def _takeaway(table: pd.DataFrame) -> str:
    if table.empty:
        return "Nothing can be estimated for this dataset."
    parts = [
        f"{label(str(line['target']))} {formatted(str(line['target']), line['point'])}" for _, line in table.iterrows()
    ]
    return f"Expected: {', '.join(parts)}."
