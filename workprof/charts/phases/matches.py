"""Which known workload a run is: of a finished run and of a recording in progress."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pandas as pd

import workprof
from workprof.charts import shapes
from workprof.charts.phases.timeline import counter_names, counter_unit, number, seconds
from workprof.charts.shapes import (
    NEUTRAL,
    Chart,
    Headline,
    figure_of,
    rows_axis,
    vertical,
)
from workprof.charts.text import counted, plotly_text
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.arrays import Floats
from workprof.core.records import to_json
from workprof.phases.live import SHOWN_S, LiveView
from workprof.phases.matching import UNKNOWN, Match, MatchLine, Verdict

MOST_ROWS = 20
MEASURES = {"euclidean": "Euclidean distance of phases", "dtw": "DTW distance of phases (Manhattan)"}
LOOKS = {
    True: (COLOURS[2], "circle", "within the threshold of its workload"),
    False: (COLOURS[4], "x", "beyond the threshold of its workload"),
    None: (NEUTRAL, "circle-open", "too few runs for a threshold"),
}
"""Colour, symbol and words of `MatchLine.within_threshold`."""


def verdict_words(verdict: Verdict) -> str:
    """Return 'same as redis', 'similar to redis' or 'unknown'.

    Similar: nearest, and not rejected, but the measures name different workloads, or nothing is known that could
    reject it.
    """
    if verdict.workload == UNKNOWN:
        return "unknown"
    sure = verdict.agree and math.isfinite(verdict.limit)
    return f"{'same as' if sure else 'similar to'} {plotly_text(verdict.workload)}"


def match_sentence(found: Match) -> str:
    """Return the verdict with its reason in one sentence."""
    verdict = found.verdict
    name, words = plotly_text(found.unknown), verdict_words(verdict)
    nearest = f" (nearest: {plotly_text(verdict.nearest)})" if verdict.workload == UNKNOWN else ""
    doubt = "" if verdict.agree else "; the measures name different workloads, so confidence is low"
    return f"{name} is {words}{nearest}: {plotly_text(verdict.reason, 160)}{doubt}."


def match_headlines(found: Match) -> tuple[Headline, ...]:
    """Return verdict, unlikeness and confidence."""
    verdict = found.verdict
    return (
        Headline(
            "Verdict",
            verdict_words(verdict).partition(" as ")[0].partition(" to ")[0],
            "same, similar (the measures differ, or nothing is known that could reject it) or unknown.",
            f"nearest: {plotly_text(verdict.nearest)}",
        ),
        Headline(
            "Distance (log-odds)",
            number(verdict.score),
            "Of the pair model; in faithful mode the Euclidean distance. Above the limit a run is unknown.",
            f"limit {number(verdict.limit)}",
        ),
        Headline(
            "Confidence",
            f"{verdict.confidence * 100:.0f} %",
            "1 - distance to the nearest workload / distance to the second.",
            f"by DTW {verdict.confidence_dtw * 100:.0f} %",
        ),
    )


def scores_chart(found: Match) -> Chart | None:
    """Return the unlikeness to every workload with the limit; None where distances alone decide."""
    if not found.scores:
        return None
    scores = sorted(found.scores.items(), key=lambda item: item[1])
    names, values = [plotly_text(name) for name, _ in scores], [value for _, value in scores]
    limit = found.verdict.limit
    inside = sum(value <= limit for value in values)
    return Chart(
        name="phases-unlikeness",
        figure=figure_of(
            [_dots(values, names, [value <= limit if math.isfinite(limit) else None for value in values])],
            x="Distance (log-odds; left = alike)",
            y={"title": "", **rows_axis(names, grid=True)},
            height=rows_height(len(names)),
            shapes=[vertical(limit, dash="dash", colour=COLOURS[1])] if math.isfinite(limit) else [],
        ),
        takeaway=match_sentence(found),
        shows=f"Distance to {counted(len(names), 'workload')}, {inside} of them below the limit.",
        data=pd.DataFrame({"workload": [name for name, _ in scores], "unlikeness": values, "limit": limit}),
        note="Dashed: the limit, which the known runs set, each against a library that lacks it. Beyond = unknown.",
    )


def match_chart(found: Match, measure: str) -> Chart:
    """Return the nearest runs of the library by a distance; the symbol says whether the threshold holds."""
    lines = sorted(found.matches, key=lambda line: _distance(line, measure))
    shown = lines[:MOST_ROWS]
    names = [f"{plotly_text(line.workload, 22)}/{plotly_text(line.run, 14)}" for line in shown]
    names = [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]
    band = _band(found, measure)
    traces = [_dots([_distance(line, measure) for line in shown], names, [line.within_threshold for line in shown])]
    return Chart(
        name=f"phases-match-{measure}",
        figure=figure_of(
            traces,
            x={"title": MEASURES[measure], "rangemode": "tozero"},
            y={"title": "", **rows_axis(names, grid=True)},
            height=rows_height(len(names)),
            shapes=band,
        ),
        takeaway=f"The nearest run is {names[0]}, at {number(_distance(shown[0], measure))}.",
        shows=f"Distances of {counted(len(shown), 'run')} of the library, the nearest first. {match_sentence(found)}",
        data=match_table(found, measure),
        note=(
            f"{len(shown)} of {counted(len(lines), 'run')}. Circle: within mean + c sd of the Euclidean distances of "
            "its workload; cross: beyond; ring: fewer than three runs of it."
            + (" Shaded: within the threshold of the nearest workload." if band else "")
        ),
    )


def match_table(found: Match, measure: str) -> pd.DataFrame:
    """Return every run of the library with its distances, the nearest first."""
    words = {key: look[2] for key, look in LOOKS.items()}
    return pd.DataFrame(
        {
            "workload": line.workload,
            "run": line.run,
            "distance_euclidean": line.distance_ed,
            "distance_dtw": line.distance_dtw,
            "offset_phases": line.offset,
            "threshold": words[line.within_threshold],
            "same_number_of_phases": line.same_phases,
        }
        for line in sorted(found.matches, key=lambda line: _distance(line, measure))
    )


def match_report(found: Match, settings: object, dataset_hash: str) -> bytes:
    """Return the match as JSON: verdict, distances, settings."""
    document = {
        "workprof": workprof.__version__,
        "dataset": dataset_hash,
        "settings": to_json(settings),
        "verdict_words": verdict_words(found.verdict),
        **to_json(found),
    }
    return json.dumps(document, indent=2, allow_nan=False).encode()


def _distance(line: MatchLine, measure: str) -> float:
    return line.distance_dtw if measure == "dtw" else line.distance_ed


def _band(found: Match, measure: str) -> list[dict[str, Any]]:
    """Return the accepted distances where the Euclidean distance itself decides."""
    limit = found.verdict.limit
    if found.scores or measure == "dtw" or not math.isfinite(limit):
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


def _dots(values: list[float], names: list[str], within: list[bool | None]) -> dict[str, Any]:
    looks = [LOOKS[one] for one in within]
    return shapes.points(
        values,
        names,
        colour=[look[0] for look in looks],
        symbol=[look[1] for look in looks],
        size=11,
        hover="%{y}: %{x:.4g}, %{customdata}",
        customdata=[look[2] for look in looks],
    )


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
    step = _step(view)
    start = float(view.t_s[0]) - step if len(view.t_s) else 0.0
    end = max(start + SHOWN_S, float(view.t_s[-1]) if len(view.t_s) else 0.0)
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


def _strip(view: LiveView, panels: int, step: float) -> dict[str, Any]:
    at: Floats = view.t_s - step
    share = np.zeros(len(at))
    for own in view.changes_s:
        share += (np.abs(at[:, None] - np.array(own)) <= NEAR * step).any(axis=1) if own else 0.0
    return shapes.strip(at, share / max(1, len(view.counters)), step, panels)
