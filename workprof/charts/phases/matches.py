"""Which known workload a run is: of a finished run and of a recording in progress."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd

import workprof
from workprof.answers.recognition import (
    NONE,
    SAME,
    SCORES_NOTE,
    SIMILAR,
    live_note,
    live_sentence,
    match_sentence,
    match_table,
    near_note,
    nearest_sentence,
    verdict_kind,
    verdict_words,
)
from workprof.charts import shapes
from workprof.charts.phases.timeline import counter_names, counter_unit
from workprof.charts.shapes import (
    NEUTRAL,
    Chart,
    figure_of,
    rows_axis,
    vertical,
)
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.arrays import Floats
from workprof.core.records import to_json
from workprof.core.words import counted, plotly_text
from workprof.phases.live import SHOWN_S, LiveView
from workprof.phases.matching import Match, MatchLine

MOST_ROWS = 20
MEASURES = {"euclidean": "Euclidean distance of phases", "dtw": "DTW distance of phases (Manhattan)"}
VERDICT_COLOURS = {SAME: COLOURS[2], SIMILAR: COLOURS[1], NONE: COLOURS[4]}
"""One colour for the verdict, of the nearest workload; the others are grey."""


def scores_chart(result: Match) -> Chart | None:
    """Return the distance to every workload with the threshold; None where distances of phases alone decide."""
    if not result.scores:
        return None
    scores = sorted(result.scores.items(), key=lambda item: item[1])
    names, values = [plotly_text(name) for name, _ in scores], [value for _, value in scores]
    limit = result.verdict.limit
    inside = sum(value <= limit for value in values)
    line = [vertical(limit, dash="dash", colour=NEUTRAL)] if math.isfinite(limit) else []
    return Chart(
        name="phases-unlikeness",
        figure=figure_of(
            [_dots(result, values, names, [name for name, _ in scores])],
            x="Distance (log-odds; left = alike)",
            y={"title": "", **rows_axis(names, grid=True)},
            height=rows_height(len(names)),
            shapes=line,
        ),
        takeaway=match_sentence(result),
        shows=f"Distance to {counted(len(names), 'workload')}, {inside} of them below the threshold.",
        data=pd.DataFrame({"workload": [name for name, _ in scores], "unlikeness": values, "limit": limit}),
        note=SCORES_NOTE,
    )


def match_chart(result: Match, measure: str) -> Chart:
    """Return the nearest runs of the library by a distance; those of the nearest workload stand out."""
    lines = sorted(result.matches, key=lambda line: _distance(line, measure))
    shown = lines[:MOST_ROWS]
    names = [f"{plotly_text(line.workload, 22)}/{plotly_text(line.run, 14)}" for line in shown]
    names = [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]
    band = _band(result, measure)
    values = [_distance(line, measure) for line in shown]
    return Chart(
        name=f"phases-match-{measure}",
        figure=figure_of(
            [_dots(result, values, names, [line.workload for line in shown])],
            x={"title": MEASURES[measure], "rangemode": "tozero"},
            y={"title": "", **rows_axis(names, grid=True)},
            height=rows_height(len(names)),
            shapes=band,
        ),
        takeaway=nearest_sentence(names[0], values[0]),
        shows=f"Distances of {counted(len(shown), 'run')} of the library, the nearest first. {match_sentence(result)}",
        data=match_table(result, measure).frame(),
        note=near_note(len(shown), len(lines), shaded=bool(band)),
    )


def match_report(result: Match, settings: object, dataset_hash: str) -> bytes:
    """Return the match as JSON: verdict, distances, settings."""
    document = {
        "workprof": workprof.__version__,
        "dataset": dataset_hash,
        "settings": to_json(settings),
        "verdict_words": verdict_words(result.verdict),
        **to_json(result),
    }
    return json.dumps(document, indent=2, allow_nan=False).encode()


def _distance(line: MatchLine, measure: str) -> float:
    return line.distance_dtw if measure == "dtw" else line.distance_ed


def _band(result: Match, measure: str) -> list[dict[str, Any]]:
    """Return the accepted distances where the Euclidean distance itself decides."""
    limit = result.verdict.limit
    if result.scores or measure == "dtw" or not math.isfinite(limit):
        return []
    return [
        {
            "type": "rect",
            "xref": "x",
            "yref": "paper",
            "x0": 0,
            "x1": limit,
            "y0": 0,
            "y1": 1,
            "fillcolor": "rgba(42,143,87,0.15)",
            "line": {"width": 0},
            "layer": "below",
        }
    ]


def _dots(result: Match, values: list[float], names: list[str], workloads: list[str]) -> dict[str, Any]:
    """Return one mark per row; those of the nearest workload have the colour of the verdict."""
    verdict = result.verdict
    near = [workload == verdict.nearest for workload in workloads]
    colour = VERDICT_COLOURS[verdict_kind(verdict)]
    return shapes.points(
        values,
        names,
        colour=[colour if one else NEUTRAL for one in near],
        symbol=["circle" if one else "circle-open" for one in near],
        size=[13 if one else 9 for one in near],
        hover="%{y}: %{x:.3g}",
    )


SHOWN = 5
NEAR = 1.01
"""Steps: changes of two counters this far apart agree."""


def first_of_each_source(counters: tuple[str, ...], count: int = SHOWN) -> tuple[str, ...]:
    """Return the first counter of each source (cpu, sys, vm ...), then more: the same ones at every sample."""
    firsts: dict[str, str] = {}
    for name in counters:
        firsts.setdefault(name.partition(".")[0], name)
    rest = [name for name in counters if name not in firsts.values()]
    return tuple([*firsts.values(), *rest][:count])


def live_chart(view: LiveView, counters: tuple[str, ...], *, ended: bool = False) -> Chart:
    """Return the last two minutes of the counters; dotted lines where phases provisionally start.

    A run that has not `ended` has room for what is to come.
    """
    places = [view.counters.index(name) for name in counters]
    step = _step(view)
    start = float(view.t_s[0]) - step if len(view.t_s) else 0.0
    end = max(start + (1.0 if ended else SHOWN_S), float(view.t_s[-1]) if len(view.t_s) else 0.0)
    figure = shapes.panels(
        [
            *(
                shapes.panel_line(
                    view.t_s,
                    view.recorded[place],
                    name=plotly_text(view.counters[place]),
                    unit=counter_unit(view.counters[place]),
                    panel=panel,
                )
                for panel, place in enumerate(places)
            ),
            _strip(view, len(places), step),
        ],
        titles=counter_names(counters),
        units=[counter_unit(name) for name in counters],
        x_range=(start, end),
        marks=[
            shapes.panel_boundary(at, panel, dash="dot")
            for panel, place in enumerate(places)
            for at in view.changes_s[place]
            if at >= start
        ],
    )
    return Chart(
        name="phases-live",
        figure=figure,
        takeaway=live_sentence(view),
        shows=f"The last two minutes of {counted(len(places), 'counter')} with provisional phase boundaries.",
        data=pd.DataFrame({"t_s": view.t_s} | {name: view.recorded[view.counters.index(name)] for name in counters}),
        note=live_note(view),
    )


def _step(view: LiveView) -> float:
    return float(np.median(np.diff(view.t_s))) if len(view.t_s) > 1 else 1.0


def _strip(view: LiveView, panels: int, step: float) -> dict[str, Any]:
    at: Floats = view.t_s - step
    share = np.zeros(len(at))
    for own in view.changes_s:
        share += (np.abs(at[:, None] - np.array(own)) <= NEAR * step).any(axis=1) if own else 0.0
    return shapes.strip(at, share / max(1, len(view.counters)), step, panels)
