"""The known runs: how far apart they are, and from where on a run belongs to none of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workprof.charts.phases.timeline import number
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.text import counted, plotly_text
from workprof.charts.theme import SCALE, SMALLEST_PX
from workprof.phases.library import LibraryView

ROW_PX, MOST_PX = 13, 900
MEASURE = {"euclidean": "ed", "dtw": "dtw"}


def distance_matrix(found: LibraryView, measure: str) -> Chart:
    """Return the distances between all runs of the library, sorted by workload, with lines between workloads."""
    distances = found.distances(MEASURE[measure])
    names = [f"{plotly_text(own, 22)}/{plotly_text(run, 12)}" for own, run in _runs(found)]
    names = [f"{name} ({place + 1})" if names.count(name) > 1 else name for place, name in enumerate(names)]
    off = ~np.eye(len(names), dtype=bool)
    lowest, highest = np.percentile(distances[off], [2, 98]).tolist() if off.any() else (0.0, 1.0)
    places = list(range(len(names)))
    middles, labels = _middles(found)
    ticks = {"tickvals": middles, "ticktext": labels, "showgrid": False, "zeroline": False}
    figure = figure_of(
        [
            {
                "type": "heatmap",
                "z": np.where(off, distances, np.nan),
                "x": places,
                "y": places,
                "colorscale": SCALE,
                "reversescale": True,
                "zmin": lowest,
                "zmax": max(highest, lowest + 1e-9),
                "hoverongaps": False,
                "colorbar": {"title": {"text": "distance", "side": "top"}, "thickness": 12},
                "customdata": [[f"{one} and {other}" for other in names] for one in names],
                "hovertemplate": "%{customdata}: %{z:.4g}<extra></extra>",
            }
        ],
        x={"title": "Run of the library", **ticks, "tickangle": -60},
        y={"title": "", **ticks, "autorange": "reversed"},
        height=min(MOST_PX, max(SMALLEST_PX + 100, 160 + ROW_PX * len(names))),
        shapes=_between(found),
    )
    takeaway = library_sentence(found, measure)
    table = pd.DataFrame(distances, columns=names)
    table.insert(0, "run", names)
    return Chart(
        name=f"phases-library-{measure}",
        figure=figure,
        takeaway=takeaway,
        alt=f"Distance matrix of {counted(len(names), 'run')} of {counted(len(labels), 'workload')}. {takeaway}",
        data=table,
        note=f"{found.n_counters} counters. Bright squares along the diagonal: runs of one workload are alike.",
    )


def library_sentence(found: LibraryView, measure: str) -> str:
    """Return how often the nearest other run is of the same workload, in one sentence."""
    distances, labels = found.distances(MEASURE[measure]).copy(), np.array(found.workloads)
    if len(labels) < 2:
        return "The library holds one run; distances need two."
    np.fill_diagonal(distances, np.inf)
    same = int((labels[distances.argmin(axis=1)] == labels).sum())
    words = "Euclidean" if measure == "euclidean" else "DTW"
    return f"The nearest other run by {words} distance is of the same workload for {same} of {len(labels)} runs."


def threshold_table(found: LibraryView) -> pd.DataFrame:
    """Return one line per workload: runs, distances among them, and up to which a run is accepted."""
    lines = []
    for ed, dtw in zip(found.thresholds["ed"], found.thresholds["dtw"], strict=True):
        lines.append(
            {
                "workload": ed.workload,
                "runs": ed.n_runs,
                "phases": _phases_of(found, ed.workload),
                "euclidean_mean": ed.mean,
                "euclidean_sd": ed.sd,
                "euclidean_limit": ed.mean + found.c["ed"] * ed.sd,
                "dtw_mean": dtw.mean,
                "dtw_sd": dtw.sd,
                "dtw_limit": dtw.mean + found.c["dtw"] * dtw.sd,
            }
        )
    return pd.DataFrame(lines)


def threshold_note(found: LibraryView) -> str:
    """Return what the limits are made of."""
    return (
        f"Limit = mean + c sd, with c = {number(found.c['ed'])} (Euclidean) and {number(found.c['dtw'])} (DTW). A "
        "workload of fewer than three runs has no limit: it can be the nearest only."
    )


def _runs(found: LibraryView) -> list[tuple[str, str]]:
    return list(zip(found.workloads, found.names, strict=True))


def _phases_of(found: LibraryView, workload: str) -> str:
    own = [int(n) for n, label in zip(found.n_phases, found.workloads, strict=True) if label == workload]
    return f"{min(own)}" if min(own) == max(own) else f"{min(own)} to {max(own)}"


def _starts(found: LibraryView) -> list[int]:
    labels = found.workloads
    return [place for place in range(len(labels)) if place == 0 or labels[place] != labels[place - 1]]


def _middles(found: LibraryView) -> tuple[list[float], list[str]]:
    starts = _starts(found)
    ends = [*starts[1:], len(found.workloads)]
    return (
        [(first + end - 1) / 2 for first, end in zip(starts, ends, strict=True)],
        [plotly_text(found.workloads[first], 22) for first in starts],
    )


def _between(found: LibraryView) -> list[dict[str, object]]:
    last = len(found.workloads) - 0.5
    shapes: list[dict[str, object]] = []
    for first in _starts(found)[1:]:
        at = first - 0.5
        line = {"color": "#ffffff", "width": 1.4}
        shapes.append({"type": "line", "x0": at, "x1": at, "y0": -0.5, "y1": last, "line": line})
        shapes.append({"type": "line", "x0": -0.5, "x1": last, "y0": at, "y1": at, "line": line})
    return shapes
