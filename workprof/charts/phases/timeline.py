"""Phases of a run over time: the panels of its counters, and its files."""

import io
import itertools
import json
from collections.abc import Sequence
from typing import Any

import numpy as np

import workprof
from workprof.answers.phases import lines_note, phase_table, timeline_sentence
from workprof.charts import shapes
from workprof.charts.shapes import Chart
from workprof.core.arrays import Floats
from workprof.core.records import to_json
from workprof.core.words import counted, plotly_text
from workprof.phases.timeline import Timeline

LONGEST_COUNTER = 34


def counter_unit(counter: str) -> str:
    """Return what a counter is measured in, by its name: '%', 'per s', 'MB' or ''."""
    if counter.endswith("ms/s"):
        return "ms per s"
    if counter.endswith("kb/s"):
        return "kB per s"
    for ending, unit in (("/s", "per s"), ("%", "%"), ("_mb", "MB")):
        if counter.endswith(ending):
            return unit
    return ""


def counter_names(counters: Sequence[str]) -> list[str]:
    """Return names for the rows of a figure: the ends of long ones, a number where two would look alike."""
    ends = [one if len(one) <= LONGEST_COUNTER else f"…{one[1 - LONGEST_COUNTER :]}" for one in counters]
    return [
        plotly_text(f"{end} ({place + 1})" if ends.count(end) > 1 else end, 2 * LONGEST_COUNTER)
        for place, end in enumerate(ends)
    ]


def fingerprint_json(result: Timeline, dataset_hash: str) -> bytes:
    """Return the fingerprint as JSON, with the names of its axes and the true number of phases."""
    document = {
        "workprof": workprof.__version__,
        "dataset": dataset_hash,
        "workload": result.fingerprint.workload,
        "run": result.fingerprint.run,
        "start_s": result.start_s,
        "end_s": result.end_s,
        "step_s": result.step_s,
        "counters": list(result.counters),
        "statistics": list(result.statistics),
        "fingerprint": to_json(result.fingerprint),
        "notes": list(result.notes),
    }
    return json.dumps(document, indent=2, allow_nan=False).encode()


def fingerprint_npz(result: Timeline) -> bytes:
    """Return the fingerprint as NPZ: values (counters, phases, statistics) and what tells padding from phases."""
    target, own = io.BytesIO(), result.fingerprint
    np.savez_compressed(
        target,
        values=np.stack([result.statistic(name) for name in result.statistics], axis=-1),
        n_phases=own.n_phases,
        starts=own.starts,
        offsets=own.offsets,
        flags=own.flags,
        counters=np.array(result.counters),
        statistics=np.array(result.statistics),
        workload=np.array(own.workload),
        run=np.array(own.run),
        start_s=np.array(result.start_s),
        step_s=np.array(result.step_s),
    )
    return target.getvalue()


MOST_POINTS = 1500
"""Of one line; a longer one shows the least and the largest value of each stretch."""


ALIKE = 0.97
"""Correlation from which on two counters draw the same line."""


def strength(result: Timeline) -> Floats:
    """Return (n_counters,) how far the phases of a counter lie apart, in standard deviations of it over all runs.

    It is the standard deviation between phases, each weighing its length: 0 without a change.
    """
    own = result.fingerprint
    mean = result.statistic("mean")
    between = np.zeros(len(result.counters))
    for place in range(len(result.counters)):
        edges = np.array([0, *own.boundaries_of(place).tolist(), own.n_samples])
        levels, lengths = mean[place, : len(edges) - 1], np.diff(edges)
        if len(levels) > 1 and not own.flags[place]:
            between[place] = np.sqrt(np.average((levels - np.average(levels, weights=lengths)) ** 2, weights=lengths))
    return between


def most_moving(result: Timeline, count: int = 5) -> tuple[str, ...]:
    """Return the counters that change most from phase to phase; one that draws the line of another comes after these.

    Then come those without a change that vary most, constant ones last.
    """
    movement, between = np.where(result.fingerprint.flags, -1.0, result.movement), strength(result)
    order = np.lexsort((-movement, -between)).tolist()
    values = np.nan_to_num(result.recorded)
    distinct: list[int] = []
    for place in (place for place in order if between[place] > 0):
        if not any(_correlation(values[place], values[other]) > ALIKE for other in distinct):
            distinct.append(place)
        if len(distinct) == count:
            break
    chosen = [*distinct, *(place for place in order if place not in distinct)]
    return tuple(result.counters[place] for place in chosen[:count])


def _correlation(one: Floats, other: Floats) -> float:
    spread = float(one.std() * other.std())
    return abs(float(((one - one.mean()) * (other - other.mean())).mean())) / spread if spread > 0 else 0.0


def timeline_chart(result: Timeline, counters: tuple[str, ...]) -> Chart:
    """Return the stacked series of the counters with their phase boundaries and the agreement of all counters."""
    places = [result.counters.index(name) for name in counters]
    traces = [_line(result, place, panel) for panel, place in enumerate(places)]
    figure = shapes.panels(
        [*traces, _strip(result, len(places))],
        titles=counter_names(counters),
        units=[counter_unit(name) for name in counters],
        x_range=(result.start_s, result.end_s),
        marks=[shape for panel, place in enumerate(places) for shape in _boundaries(result, place, panel)],
    )
    changes = sum(len(result.fingerprint.boundaries_of(place)) for place in places)
    return Chart(
        name="phases-timeline",
        figure=figure,
        takeaway=timeline_sentence(result),
        shows=f"{counted(len(places), 'counter')} over time, with a line at each of {counted(changes, 'change')}, and "
        "below the share of counters that change together.",
        data=phase_table(result, counters).frame(),
        note=lines_note(result, thinned=len(result.agreement) >= MOST_POINTS),
    )


def _line(result: Timeline, place: int, panel: int) -> dict[str, Any]:
    x, y = _drawn(result.times_s, result.recorded[place], result.start_s)
    name = plotly_text(result.counters[place])
    return shapes.panel_line(x, y, name=name, unit=counter_unit(result.counters[place]), panel=panel)


def _drawn(times: Floats, recorded: Floats, start: float) -> tuple[Floats, Floats]:
    """Return the points of a line: each sample holds for the step before it."""
    x: Floats = np.concatenate([[start], times])
    y: Floats = np.concatenate([recorded[:1], recorded])
    if len(x) <= MOST_POINTS:
        return x, y
    edges = np.linspace(0, len(x), MOST_POINTS // 2 + 1).round().astype(np.int64)
    drawn: list[int] = []
    for first, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = y[first:end]
        if np.isfinite(part).any():
            drawn += sorted({first + int(np.nanargmin(part)), first + int(np.nanargmax(part))})
        else:
            drawn.append(first)
    return x[drawn], y[drawn]


def _boundaries(result: Timeline, place: int, panel: int) -> list[dict[str, Any]]:
    """Return a line at every boundary of a panel and a shade on every other phase, so that colour is not all."""
    changes = result.boundaries_s(place).tolist()
    edges = [result.start_s, *changes, result.end_s]
    axis = f"y{panel + 1} domain" if panel else "y domain"
    shades = [
        {
            "type": "rect",
            "xref": "x",
            "yref": axis,
            "x0": first,
            "x1": end,
            "y0": 0,
            "y1": 1,
            "fillcolor": "rgba(123,130,140,0.13)",
            "line": {"width": 0},
            "layer": "below",
        }
        for first, end in list(itertools.pairwise(edges))[1::2]
    ]
    dash = "dash" if result.edited[place] else "solid"
    return [*shades, *(shapes.panel_boundary(at, panel, dash=dash) for at in changes)]


def _strip(result: Timeline, panels: int) -> dict[str, Any]:
    """Return the share of all counters with a change near each sample, as bars."""
    at, share = _binned(result)
    return shapes.strip(at, share, (result.end_s - result.start_s) / max(1, len(at)), panels)


def _binned(result: Timeline) -> tuple[Floats, Floats]:
    """Return at most `MOST_POINTS` bars: where a new phase would begin, and the share; of a bin its largest."""
    at: Floats = result.times_s - result.step_s
    share = result.agreement
    if len(at) <= MOST_POINTS:
        return at, share
    edges = np.linspace(0, len(at), MOST_POINTS + 1).round().astype(np.int64)[:-1]
    return at[edges], np.maximum.reduceat(share, edges)
