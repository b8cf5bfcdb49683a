"""Counters of one run over time, one panel each over a shared axis, with the boundaries of their phases."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from workprof.arrays import Floats
from workprof.charts.phases.tables import phase_table
from workprof.charts.phases.words import counter_names, counter_unit, seconds
from workprof.charts.shapes import NEUTRAL, Chart, Panels, panel_domains, stacked
from workprof.charts.text import counted, plotly_text
from workprof.charts.theme import COLOURS
from workprof.phases.timeline import Timeline
from workprof.units import format_share

MOST_POINTS = 1500
"""Of one line; a longer one shows the least and the largest value of each stretch."""

BOUNDARY = COLOURS[1]
LINE = COLOURS[0]


def most_moving(found: Timeline, count: int = 6) -> tuple[str, ...]:
    """Return the counters that vary most in the run, in standard deviations of all runs; constant ones last."""
    order = np.argsort(-np.where(found.fingerprint.flags, -1.0, found.movement), kind="stable")
    return tuple(found.counters[place] for place in order[:count])


def timeline_chart(found: Timeline, counters: tuple[str, ...]) -> Chart:
    """Return the stacked series of the counters with their phase boundaries and the agreement of all counters."""
    places = [found.counters.index(name) for name in counters]
    panels = panel_domains(len(places))
    traces = [_line(found, place, panel) for panel, place in enumerate(places)]
    figure = stacked(
        [*traces, _strip(found, len(places))],
        Panels(
            titles=counter_names(counters),
            units=[counter_unit(name) for name in counters],
            domains=panels,
            x_range=(found.start_s, found.end_s),
        ),
        shapes=[shape for panel, place in enumerate(places) for shape in _boundaries(found, place, panel)],
    )
    takeaway = timeline_sentence(found)
    changes = sum(len(found.fingerprint.boundaries_of(place)) for place in places)
    return Chart(
        name="phases-timeline",
        figure=figure,
        takeaway=takeaway,
        alt=(
            f"{counted(len(places), 'counter')} over time, with a line at each of {counted(changes, 'change')}, and "
            f"below the share of counters that change together. {takeaway}"
        ),
        data=phase_table(found, counters),
        note=_note(found),
    )


def timeline_sentence(found: Timeline) -> str:
    """Return how many phases a run has and when most counters change, in one sentence."""
    name = plotly_text(found.fingerprint.name)
    usable = int((~found.fingerprint.flags).sum())
    head = f"{name}, {found.start_s:g} to {seconds(found.end_s)}"
    if not usable:
        return f"{head}: no counter can be searched for phases."
    phases = counted(found.fingerprint.phases, "phase")
    if found.edited.all():
        return f"{head}: {phases}, set by hand for every counter."
    if found.fingerprint.phases == 1:
        return f"{head}: one phase in each of {counted(usable, 'counter')}, no change."
    best = _most_agreed(found.agreement)
    at = found.start_s + best * found.step_s
    return (
        f"{head}: up to {phases} per counter; most counters change together at about {seconds(at)} "
        f"({format_share(float(found.agreement[best]))} of {counted(usable, 'counter')})."
    )


def _most_agreed(agreement: Floats) -> int:
    """Return the middle of the first stretch of samples at which most counters change."""
    first = int(np.argmax(agreement))
    after = np.flatnonzero(agreement[first:] < agreement[first])
    length = int(after[0]) if len(after) else len(agreement) - first
    return first + (length - 1) // 2


def _line(found: Timeline, place: int, panel: int) -> dict[str, Any]:
    x, y = _drawn(found.times_s, found.recorded[place], found.start_s)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "xaxis": "x",
        "yaxis": f"y{panel + 1}" if panel else "y",
        "line": {"shape": "vh", "color": LINE, "width": 1.8},
        "connectgaps": False,
        "name": plotly_text(found.counters[place]),
        "hovertemplate": f"%{{y:,.5g}} {counter_unit(found.counters[place])} at %{{x:,.5g}} s"
        f"<extra>{plotly_text(found.counters[place])}</extra>",
    }


def _drawn(times: Floats, recorded: Floats, start: float) -> tuple[Floats, Floats]:
    """Return the points of a line: each sample holds for the step before it."""
    x: Floats = np.concatenate([[start], times])
    y: Floats = np.concatenate([recorded[:1], recorded])
    if len(x) <= MOST_POINTS:
        return x, y
    edges = np.linspace(0, len(x), MOST_POINTS // 2 + 1).round().astype(np.int64)
    kept: list[int] = []
    for first, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = y[first:end]
        if np.isfinite(part).any():
            kept += sorted({first + int(np.nanargmin(part)), first + int(np.nanargmax(part))})
        else:
            kept.append(first)
    return x[kept], y[kept]


def _boundaries(found: Timeline, place: int, panel: int) -> list[dict[str, Any]]:
    """Return a line at every boundary of a panel and a shade on every other phase, so that colour is not all."""
    changes = found.boundaries_s(place).tolist()
    edges = [found.start_s, *changes, found.end_s]
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
    lines = [
        {
            "type": "line",
            "xref": "x",
            "yref": axis,
            "x0": at,
            "x1": at,
            "y0": 0,
            "y1": 1,
            "line": {"color": BOUNDARY, "width": 2, "dash": "dash" if found.edited[place] else "solid"},
        }
        for at in changes
    ]
    return [*shades, *lines]


def _strip(found: Timeline, panels: int) -> dict[str, Any]:
    """Return the share of all counters with a change near each sample, as bars."""
    at, share = _binned(found)
    return {
        "type": "bar",
        "x": at,
        "y": share,
        "width": (found.end_s - found.start_s) / max(1, len(at)),
        "xaxis": "x",
        "yaxis": f"y{panels + 1}" if panels else "y",
        "marker": {"color": NEUTRAL, "line": {"width": 0}},
        "name": "agreement",
        "hovertemplate": "%{y:.0%} of the counters change about %{x:,.5g} s<extra></extra>",
    }


def _binned(found: Timeline) -> tuple[Floats, Floats]:
    """Return at most `MOST_POINTS` bars: where a new phase would begin, and the share; of a bin its largest."""
    at: Floats = found.times_s - found.step_s
    share = found.agreement
    if len(at) <= MOST_POINTS:
        return at, share
    edges = np.linspace(0, len(at), MOST_POINTS + 1).round().astype(np.int64)[:-1]
    return at[edges], np.maximum.reduceat(share, edges)


def _note(found: Timeline) -> str:
    usable = int((~found.fingerprint.flags).sum())
    words = (
        f"{len(found.agreement):,} samples of {found.step_s:g} s. Lines: phases begin (dashed: set by hand). Lowest "
        f"panel: share of the {usable} searched counters of {len(found.counters)} that change within a sample."
    )
    if len(found.agreement) >= MOST_POINTS:
        words += " Long lines show the least and the largest value of each stretch."
    return words
