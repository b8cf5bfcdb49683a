"""How much every further bin saves, under the bound that no number of bins can beat."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workprof.arrays import Floats
from workprof.charts.memory.tasks import saved
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.memory.bin_search import COUNT
from workprof.memory.bins import ImprovementCurve, NoBins
from workprof.units import GB, format_share

NOTE = (
    "Exact use known: every run gets just what it used, which no one can know. No bins: every run gets what it used "
    "with headroom and step; many bins end near it. Against the requests of the runs, "
)


def improvement_chart(found: ImprovementCurve, k: int) -> Chart:
    """Return the saving against the number of bins, the chosen number marked, with bound and no-bin line."""
    by_count = found.settings.weight == COUNT
    share = found.saved_share if by_count else found.time_based_saved_share
    oracle, continuous = (_bound(bound, by_count=by_count) for bound in (found.oracle, found.continuous))
    chosen = found.k.index(k)
    figure = figure_of(
        [
            _line("exact use known", oracle, len(found.k), (NEUTRAL, "solid")),
            _line("no bins, with headroom", continuous, len(found.k), (COLOURS[2], "dot")),
            _curve(found, share),
            _mark(k, float(share[chosen])),
        ],
        x={"title": "Number of bins", "dtick": 1, "range": [0.6, len(found.k) + 0.4]},
        y={"title": "Saved at best", "tickformat": ".0%", "range": _range(share, oracle)},
        height=380,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=True,
        legend={"orientation": "h", "y": -0.2, "yanchor": "top", "x": 0},
    )
    takeaway = _sentence(found, share, chosen, oracle)
    return Chart(
        name="memory-improvement",
        figure=figure,
        takeaway=takeaway,
        alt=f"Line of the saving against one to {len(found.k)} bins, with the bound and the no-bin line. {takeaway}",
        data=_table(found),
        note=NOTE + ("every run counting as one." if by_count else "by hours."),
    )


def _bound(bound: NoBins, *, by_count: bool) -> float:
    return bound.saved_share if by_count else bound.time_based_saved_share


def _line(name: str, level: float, bins: int, look: tuple[str, str]) -> dict[str, Any]:
    colour, dash = look
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [0.6, bins + 0.4],
        "y": [level, level],
        "name": f"{name}: {format_share(level)}",
        "line": {"color": colour, "dash": dash, "width": 1.6},
        "hoverinfo": "skip",
    }


def _curve(found: ImprovementCurve, share: Floats) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": list(found.k),
        "y": share,
        "name": "best edges",
        "line": {"color": COLOURS[0], "width": 2.2},
        "marker": {"size": 8},
        "hovertemplate": "%{x} bins: %{y:.1%} saved at best<extra></extra>",
    }


def _mark(k: int, share: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [k],
        "y": [share],
        "name": "chosen",
        "marker": {"symbol": "diamond-open", "size": 16, "color": COLOURS[1], "line": {"width": 2.4}},
        "hovertemplate": "chosen: %{x} bins, %{y:.1%}<extra></extra>",
    }


def _range(share: Floats, oracle: float) -> list[float]:
    """Return an axis that holds curve and bound; one bin that costs far more than now may leave it below."""
    low = min(0.0, float(share[1:].min()))
    return [max(low, -1.0) - 0.05, max(oracle, float(share.max())) + 0.08]


def _sentence(found: ImprovementCurve, share: Floats, chosen: int, oracle: float) -> str:
    here = f"{counted(found.k[chosen], 'bin')}: {saved(float(share[chosen]))} than requested, at best"
    if chosen + 1 < len(share):
        gain = 100 * float(share[chosen + 1] - share[chosen])
        here += f"; one more bin would add {gain:.1f} percentage points"
    return f"{here}; no number of bins can save more than {format_share(oracle)}."


def _table(found: ImprovementCurve) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "bins": found.k,
            "edges_gb": [", ".join(f"{edge / GB:.4g}" for edge in edges) for edges in found.edges_bytes],
            "saved_by_time": found.time_based_saved_share,
            "saved_by_count": found.saved_share,
            "thesis_by_time": found.time_based_optimal_improvement,
            "thesis_by_count": found.optimal_improvement,
        }
    )
