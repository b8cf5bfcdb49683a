"""Fingerprints of phases, and two runs aligned."""

import itertools
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.phase_words import characterising, characters_sentence, spans
from workprof.answers.phases import (
    apart_sentence,
    moved_sentence,
    overlay_note,
    statistic_words,
    warping_note,
)
from workprof.charts import shapes
from workprof.charts.phases.timeline import counter_names, counter_unit
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, DIVERGING, rows_height
from workprof.core.arrays import Floats
from workprof.core.words import counted, plotly_text
from workprof.phases.timeline import AlignedRuns, Timeline

EVERY = "all"
NO_PHASE = "no phase"
MOST_SHOWN = 98.0
"""Percentile at which the colours end: one extreme cell would leave the others alike."""


def fingerprint_chart(result: Timeline, statistic: str, counters: tuple[str, ...]) -> Chart:
    """Return the heat map of one statistic, or of all side by side within each phase."""
    rows = [result.counters.index(name) for name in counters]
    names = list(result.statistics) if statistic == EVERY else [statistic]
    table = _columns(result, rows, names)
    labels = counter_names(counters)
    figure = figure_of(
        [_cells(table, labels, _title(statistic)), _crossed(table, labels)],
        x={
            "title": _x_title(statistic),
            "type": "category",
            "tickangle": -90 if statistic == EVERY else 0,
            "showgrid": False,
        },
        y={"title": "", **rows_axis(labels)},
        height=rows_height(len(rows)),
        showlegend=True,
    )
    padded = int(np.isnan(table.to_numpy()).sum())
    return Chart(
        name="phases-fingerprint",
        figure=figure,
        takeaway=characters_sentence(spans(result)),
        shows=f"Heat map of {_title(statistic)} by counter and phase, {counted(padded, 'cell')} marked {NO_PHASE}.",
        data=_data(result, rows, names),
        note=(
            "Values in standard deviations of the counter over all runs. "
            f"Crossed cells ({NO_PHASE}): the counter has fewer phases. Phases of the same number may lie at different "
            "times."
        ),
    )


def characters_chart(result: Timeline) -> Chart:
    """Return the heat map of the counters that characterise the phases of the run as a whole."""
    found = spans(result)
    counters = characterising(result, found)
    places, labels = [result.counters.index(name) for name in counters], counter_names(counters)
    columns = [f"{place + 1}: {one.range}" for place, one in enumerate(found)]
    table = pd.DataFrame({name: one.levels[places] for name, one in zip(columns, found, strict=True)})
    return Chart(
        name="phases-characters",
        figure=figure_of(
            [_cells(table, labels, "mean")],
            x={"title": "Phase", "type": "category", "showgrid": False},
            y={"title": "", **rows_axis(labels)},
            height=rows_height(len(places)),
        ),
        takeaway=characters_sentence(found),
        shows=f"Heat map of {counted(len(places), 'counter')} by phase.",
        data=pd.DataFrame(
            {
                "counter": name,
                "phase": phase + 1,
                "from_s": one.start_s,
                "to_s": one.end_s,
                "is": one.words,
                "mean": float(one.levels[place]),
            }
            for name, place in zip(counters, places, strict=True)
            for phase, one in enumerate(found)
        ),
        note="Standard deviations from the mean of the counter over all runs: 0 is average.",
    )


def _columns(result: Timeline, rows: list[int], names: list[str]) -> pd.DataFrame:
    """Return the cells (rows x columns), NaN where a counter has no such phase."""
    own, columns = result.fingerprint, {}
    for phase in range(own.phases):
        real = own.n_phases[rows] > phase
        for name in names:
            label = f"phase {phase + 1}" if len(names) == 1 else f"{phase + 1} · {statistic_words(name)}"
            columns[label] = np.where(real, result.statistic(name)[rows, phase], np.nan)
    return pd.DataFrame(columns)


def _cells(table: pd.DataFrame, labels: list[str], words: str) -> dict[str, Any]:
    values = table.to_numpy()
    low, high = _limits(values)
    return shapes.heat(
        values,
        list(table.columns),
        labels,
        hover=f"%{{y}}, %{{x}}: {plotly_text(words)} %{{z:.3g}}",
        colorscale=[list(stop) for stop in DIVERGING],
        zmin=low,
        zmax=high,
        hoverongaps=False,
        colorbar={"title": {"text": "sd", "side": "top"}, "thickness": 12},
    )


def _limits(values: Floats) -> tuple[float, float]:
    """Return where the colours begin and end, alike on both sides of 0; values beyond have the last colour."""
    known = values[np.isfinite(values)]
    if not len(known):
        return -1.0, 1.0
    end = float(np.percentile(np.abs(known), MOST_SHOWN)) or 1.0
    return -end, end


def _crossed(table: pd.DataFrame, labels: list[str]) -> dict[str, Any]:
    row, column = np.nonzero(np.isnan(table.to_numpy()))
    names = [str(name) for name in table.columns]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [names[place] for place in column],
        "y": [labels[place] for place in row],
        "name": NO_PHASE,
        "showlegend": True,
        "marker": {"symbol": "line-ne-open", "size": 13, "color": NEUTRAL, "line": {"width": 2, "color": NEUTRAL}},
        "hovertemplate": f"%{{y}}, %{{x}}: {NO_PHASE}<extra></extra>",
    }


def _title(statistic: str) -> str:
    return "all statistics" if statistic == EVERY else statistic_words(statistic)


def _x_title(statistic: str) -> str:
    return "Phase and statistic" if statistic == EVERY else f"Phase of the counter ({_title(statistic)})"


def _data(result: Timeline, rows: list[int], names: list[str]) -> pd.DataFrame:
    own = result.fingerprint
    return pd.DataFrame(
        {
            "counter": result.counters[row],
            "phase": phase + 1,
            "statistic": name,
            "value": float(result.statistic(name)[row, phase]),
            "padding": bool(phase >= own.n_phases[row]),
        }
        for row in rows
        for phase in range(own.phases)
        for name in names
    )


MOST_OVERLAID = 4


def overlay_chart(result: AlignedRuns, counters: tuple[str, ...] = ()) -> Chart:
    """Return two runs drawn over each other, the second one moved to the times of the first that it goes with.

    Without `counters` those with the largest lasting changes in the first are drawn.
    """
    names = tuple(name for name in counters if name in result.counters) or result.counters[:MOST_OVERLAID]
    places = [result.counters.index(name) for name in names]
    samples = result.first_recorded.shape[1]
    x = np.arange(samples + 1) * result.step_s  # a sample holds for the step before it
    own, other = (np.column_stack([one[:, :1], one]) for one in (result.first_recorded, _moved(result, samples)))
    first, second = plotly_text(result.first), plotly_text(result.second)
    traces = []
    for panel, place in enumerate(places):
        unit = counter_unit(result.counters[place])
        look: dict[str, Any] = {"unit": unit, "panel": panel, "showlegend": panel == 0}
        traces += [
            shapes.panel_line(x, other[place], name=second, colour=NEUTRAL, width=3.2, legendgroup="second", **look),
            shapes.panel_line(x, own[place], name=first, legendgroup="first", **look),
        ]
    table = pd.DataFrame({"time_s": x})
    for name, place in zip(names, places, strict=True):
        table[f"{name} of {result.first}"] = own[place]
        table[f"{name} of {result.second}"] = other[place]
    return Chart(
        name="phases-overlay",
        figure=shapes.panels(
            traces,
            titles=counter_names(names),
            units=[counter_unit(name) for name in names],
            x_range=(0.0, float(x[-1])),
            overlaid=True,
        ),
        takeaway=apart_sentence(result),
        shows=f"{counted(len(names), 'counter')} of two runs over time, one over the other.",
        data=table,
        note=overlay_note(result),
    )


def _moved(result: AlignedRuns, samples: int) -> Floats:
    """Return (n_counters, T) the second run at the times of the first: the mean of the samples that go with each."""
    path = result.alignment.path
    moved = np.full((len(result.counters), samples), np.nan)
    first_of = np.searchsorted(path[:, 0], np.arange(samples + 1))
    for at, (begin, end) in enumerate(itertools.pairwise(first_of.tolist())):
        own = result.second_recorded[:, path[begin:end, 1]]
        known = np.isfinite(own).any(axis=1)
        moved[known, at] = np.nanmean(own[known], axis=1)
    return moved


def alignment_chart(result: AlignedRuns, offset: int) -> Chart:
    """Return the warping path of two runs beside the diagonal; `offset` is that of their phases."""
    path = result.alignment.path
    x, y = (path[:, 0] + 1) * result.step_s, (path[:, 1] + 1) * result.step_s
    end = float(max(x[-1], y[-1]))
    first, second = plotly_text(result.first), plotly_text(result.second)
    return Chart(
        name="phases-alignment",
        figure=figure_of(
            [
                shapes.line([0, end], [0, end], name="at the same time", colour=NEUTRAL, width=1.4, dash="dot"),
                shapes.line(
                    x,
                    y,
                    name="aligned",
                    colour=COLOURS[0],
                    width=2,
                    mode="lines+markers",
                    hover="%{x:g} s aligned with %{y:g} s",
                    marker={"size": 5},
                ),
            ],
            x={"title": f"{first} (s)", "rangemode": "tozero"},
            y={"title": f"{second} (s)", "rangemode": "tozero"},
            height=440,
            showlegend=True,
        ),
        takeaway=moved_sentence(result),
        shows="Warping path of two runs against the diagonal.",
        data=pd.DataFrame({"first_s": x, "second_s": y}),
        note=warping_note(result, offset),
    )
