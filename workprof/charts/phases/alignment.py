"""Two runs laid over each other: which second of one goes with which second of the other."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workprof.charts.phases.timeline import number, seconds
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.text import counted, plotly_text
from workprof.charts.theme import COLOURS
from workprof.phases.timeline import AlignedRuns


def alignment_chart(found: AlignedRuns, offset: int) -> Chart:
    """Return the warping path of two runs beside the diagonal; `offset` is that of their phases."""
    path = found.alignment.path
    x, y = (path[:, 0] + 1) * found.step_s, (path[:, 1] + 1) * found.step_s
    end = float(max(x[-1], y[-1]))
    first, second = plotly_text(found.first), plotly_text(found.second)
    takeaway = (
        f"{first} and {second} go together at most {seconds(float(np.abs(x - y).max()))} apart, "
        f"{number(found.alignment.mean_cost)} sd per counter and step."
    )
    return Chart(
        name="phases-alignment",
        figure=figure_of(
            [
                {
                    "type": "scatter",
                    "mode": "lines",
                    "x": [0, end],
                    "y": [0, end],
                    "name": "at the same time",
                    "line": {"color": NEUTRAL, "dash": "dot", "width": 1.4},
                    "hoverinfo": "skip",
                },
                {
                    "type": "scatter",
                    "mode": "lines+markers",
                    "x": x,
                    "y": y,
                    "name": "goes together",
                    "line": {"color": COLOURS[0], "width": 2},
                    "marker": {"size": 5},
                    "hovertemplate": "%{x:g} s goes with %{y:g} s<extra></extra>",
                },
            ],
            x={"title": f"{first} (s)", "rangemode": "tozero"},
            y={"title": f"{second} (s)", "rangemode": "tozero"},
            height=440,
            showlegend=True,
        ),
        takeaway=takeaway,
        alt=f"Warping path of two runs against the diagonal. {takeaway}",
        data=pd.DataFrame({"first_s": x, "second_s": y}),
        note=(
            f"Dynamic time warping of {counted(found.n_counters, 'counter')} with Manhattan distance. By phases, the "
            f"shorter of both runs begins {counted(offset, 'phase')} into the longer one."
        ),
    )
