"""A recording in progress: the last two minutes, phases so far, the nearest known workload so far."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workprof.arrays import Floats
from workprof.charts.phases.matches import verdict_words
from workprof.charts.phases.timeline import BOUNDARY, LINE, counter_names, counter_unit, seconds
from workprof.charts.shapes import NEUTRAL, Chart, Headline, Panels, panel_domains, stacked
from workprof.charts.text import counted, plotly_text
from workprof.phases.live import SHOWN_S, LiveView

SHOWN = 6
NEAR = 1.01
"""Steps: changes of two counters this far apart agree."""


def first_of_each_source(counters: tuple[str, ...], count: int = SHOWN) -> tuple[str, ...]:
    """Return the first counter of each source (cpu, sys, vm ...), then more: the same ones at every sample."""
    firsts: dict[str, str] = {}
    for name in counters:
        firsts.setdefault(name.partition(".")[0], name)
    rest = [name for name in counters if name not in firsts.values()]
    return tuple([*firsts.values(), *rest][:count])


def live_chart(view: LiveView, counters: tuple[str, ...]) -> Chart:
    """Return the last two minutes of the counters; lines where phases begin as far as is known yet."""
    places = [view.counters.index(name) for name in counters]
    panels = panel_domains(len(places))
    step = _step(view)
    start = float(view.t_s[0]) - step if len(view.t_s) else 0.0
    end = max(start + SHOWN_S, float(view.t_s[-1]) if len(view.t_s) else 0.0)
    figure = stacked(
        [
            *(_line(view, place, panel) for panel, place in enumerate(places)),
            _strip(view, len(places), step),
        ],
        Panels(counter_names(counters), [counter_unit(name) for name in counters], panels, (start, end)),
        shapes=[shape for panel, place in enumerate(places) for shape in _boundaries(view, place, panel, start)],
    )
    takeaway = live_sentence(view)
    return Chart(
        name="phases-live",
        figure=figure,
        takeaway=takeaway,
        alt=f"The last two minutes of {counted(len(places), 'counter')} with provisional phase boundaries. {takeaway}",
        data=pd.DataFrame({"t_s": view.t_s} | {name: view.recorded[view.counters.index(name)] for name in counters}),
        note=(
            f"Dotted lines: phases begin, provisional: later samples may refute them. {counted(view.n_missed, 'step')} "
            "without a sample. Counters of perf stat come at the end of a recording only."
        ),
    )


def live_headlines(view: LiveView) -> tuple[Headline, ...]:
    """Return how long, what it is like so far, and how much changes just now."""
    phases = max((len(own) + 1 for own in view.changes_s), default=1)
    found = view.match
    changing = int((view.recent > 0.5).sum())
    return (
        Headline("Recorded", seconds(round(_length_s(view))), "Since following began."),
        Headline(
            "Verdict so far",
            verdict_words(found.verdict).partition(" as ")[0].partition(" to ")[0] if found else "too early",
            "By the phases so far: same, similar or unknown.",
            f"nearest: {plotly_text(found.verdict.nearest)}" if found else "",
        ),
        Headline("Phases so far", f"{phases}", "Of the counter that has most."),
        Headline(
            "Changing now",
            f"{changing} of {len(view.counters)}",
            "Counters whose last 3 samples probably hold a change.",
        ),
    )


def live_sentence(view: LiveView) -> str:
    """Return what the run is taken for so far, in one sentence."""
    head = f"{seconds(round(_length_s(view)))} so far"
    if view.match is None:
        return f"{head}: too early to compare with known workloads."
    verdict = view.match.verdict
    nearest = f" (nearest: {plotly_text(verdict.nearest)})" if verdict.workload != verdict.nearest else ""
    return f"{head}: {verdict_words(verdict)}{nearest}; {plotly_text(verdict.reason, 160)}."


def _length_s(view: LiveView) -> float:
    return float(view.t_s[-1]) - view.from_s if len(view.t_s) else 0.0


def _step(view: LiveView) -> float:
    return float(np.median(np.diff(view.t_s))) if len(view.t_s) > 1 else 1.0


def _axis(panel: int) -> str:
    return f"y{panel + 1}" if panel else "y"


def _line(view: LiveView, place: int, panel: int) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": view.t_s,
        "y": view.recorded[place],
        "xaxis": "x",
        "yaxis": _axis(panel),
        "line": {"shape": "vh", "color": LINE, "width": 1.8},
        "connectgaps": False,
        "name": plotly_text(view.counters[place]),
        "hovertemplate": f"%{{y:,.5g}} {counter_unit(view.counters[place])} at %{{x:,.5g}} s<extra></extra>",
    }


def _boundaries(view: LiveView, place: int, panel: int, start: float) -> list[dict[str, Any]]:
    return [
        {
            "type": "line",
            "xref": "x",
            "yref": f"{_axis(panel)} domain",
            "x0": at,
            "x1": at,
            "y0": 0,
            "y1": 1,
            "line": {"color": BOUNDARY, "width": 2, "dash": "dot"},
        }
        for at in view.changes_s[place]
        if at >= start
    ]


def _strip(view: LiveView, panels: int, step: float) -> dict[str, Any]:
    at: Floats = view.t_s - step
    share = np.zeros(len(at))
    for own in view.changes_s:
        share += (np.abs(at[:, None] - np.array(own)) <= NEAR * step).any(axis=1) if own else 0.0
    return {
        "type": "bar",
        "x": at,
        "y": share / max(1, len(view.counters)),
        "width": step,
        "xaxis": "x",
        "yaxis": _axis(panels),
        "marker": {"color": NEUTRAL, "line": {"width": 0}},
        "name": "agreement",
        "hovertemplate": "%{y:.0%} of the counters change about %{x:,.5g} s<extra></extra>",
    }
