"""A part of a run: what it is taken for as it goes on, and how soon runs are recognised."""

import numpy as np
import pandas as pd

from workprof.answers.partial import course_note, course_sentence, early_note, early_sentence
from workprof.charts import shapes
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.theme import COLOURS
from workprof.core.words import counted, plotly_text
from workprof.phases.early import Early
from workprof.phases.matching import UNKNOWN
from workprof.phases.partial import Course

MOST_LINES = 5
HEIGHT = 380
SHARES = {"range": [-0.02, 1.04], "tickformat": ".0%"}


def course_chart(result: Course) -> Chart:
    """Return the probability of each likely workload over time; hollow marks where the run is unknown so far."""
    at = [one.seconds for one in result.points]
    order = np.argsort(-result.probabilities.max(axis=0), kind="stable")[:MOST_LINES]
    traces = []
    for place, column in enumerate(order.tolist()):
        name, colour = plotly_text(result.workloads[column], 40), COLOURS[place % len(COLOURS)]
        out = [one.workload == UNKNOWN and one.nearest == result.workloads[column] for one in result.points]
        hover = f"%{{y:.1%}} at %{{x:,.5g}} s<extra>{name}</extra>"
        traces.append(
            shapes.line(
                at, result.probabilities[:, column], name=name, colour=colour, hover=hover, mode="lines+markers"
            )
            | {"marker": {"symbol": ["circle-open" if one else "circle" for one in out], "size": 8}}
        )
    return Chart(
        name="phases-course",
        figure=figure_of(
            traces,
            x={"title": "Seen of the run (s)", "range": [0, at[-1] * 1.03]},
            y={"title": "Probability", **SHARES},
            height=HEIGHT,
            showlegend=True,
        ),
        takeaway=course_sentence(result),
        shows=f"Probabilities of {counted(len(order), 'workload')} by what is seen of a run.",
        data=pd.DataFrame(result.probabilities, columns=pd.Index(result.workloads, name="workload")).assign(
            seen_s=at, taken_for=[one.workload for one in result.points]
        ),
        note=f"{course_note(result)} Hollow: unknown so far.",
    )


def early_chart(result: Early) -> Chart:
    """Return what is recognised and rejected by what is seen of a run, with intervals."""
    at = [one.seconds for one in result.points]
    lines = {
        "recognised, from the start": ([(one.right, one.right_interval) for one in result.points], COLOURS[0], "solid"),
        "recognised, any part": (
            [(one.right_anywhere, one.anywhere_interval) for one in result.points],
            COLOURS[2],
            "dash",
        ),
        "unknown rejected": (
            [(one.unknown_rejected, one.unknown_interval) for one in result.points],
            COLOURS[1],
            "dot",
        ),
        "known rejected": ([(one.known_rejected, one.known_interval) for one in result.points], COLOURS[4], "dashdot"),
    }
    traces, table = [], {"seen_s": at}
    for name, (own, colour, dash) in lines.items():
        shares = [share for share, _ in own]
        if not np.isfinite(shares).any():
            continue
        low, high = [ends.low for _, ends in own], [ends.high for _, ends in own]
        hover = f"%{{y:.1%}} {name} at %{{x:,.5g}} s"
        traces.append(
            shapes.line(at, shares, name=name, colour=colour, dash=dash, hover=hover)
            | {"error_y": shapes.interval(shares, low, high, colour=colour, width=1)}
        )
        column = name.replace(", ", "_").replace(" ", "_")
        table |= {column: shares, f"{column}_low": low, f"{column}_high": high}
    return Chart(
        name="phases-early",
        figure=figure_of(
            traces,
            x={"title": "Seen of the run (s)", "range": [0, at[-1] * 1.03]},
            y={"title": "Share of the runs", **SHARES},
            height=HEIGHT,
            showlegend=True,
        ),
        takeaway=early_sentence(result),
        shows=f"{counted(len(traces), 'line')} by what is seen of a run, with 95 % intervals.",
        data=pd.DataFrame(table),
        note=early_note(result),
    )
