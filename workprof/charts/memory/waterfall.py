"""Where the memory goes: from the requests to what a model of bins is charged, step by step."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workprof.answers.tasks import shown
from workprof.charts.memory.models import every_model
from workprof.charts.shapes import NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.core.units import gb_h, number, saved
from workprof.memory.models import ModelResult, PredictorResult, Waterfall

HEIGHT_PX = 340
LESS, MORE = COLOURS[2], COLOURS[1]
NOW, PLANNED = "now", "planned"
MEANINGS = {
    NOW: "what the test runs request",
    "bins": "every run in its own bin, without headroom",
    "margin": "the headroom in the bins",
    "model errors": "runs that hold too large a bin",
    "retries": "runs that fail at first: failed attempts, and what they are lifted to",
    PLANNED: "charged in the replay",
}


def waterfall(result: PredictorResult) -> Chart:
    """Return the steps from now to planned of the best model by the replay."""
    best = every_model(result)[0]
    steps = best.waterfall
    rows = list(MEANINGS)
    figure = figure_of(
        [_waterfall_bars(steps, rows)],
        x={"title": f"GB·h of {counted(best.n_test, 'test run')}", "range": _range(steps), "zeroline": True},
        y=rows_axis(rows),
        height=HEIGHT_PX,
    )
    return Chart(
        name="memory-waterfall",
        figure=figure,
        takeaway=waterfall_sentence(result),
        shows=f"Waterfall of GB·h from requests to the replayed plan in {len(rows)} bars.",
        data=waterfall_table(steps),
        note=_note(best),
    )


def waterfall_sentence(result: PredictorResult) -> str:
    """Return from where to where the steps lead, and what stands between the upper bound of the bins and the plan."""
    best = every_model(result)[0]
    steps = best.waterfall
    share = 1 - steps.planned_gb_h / steps.now_gb_h if steps.now_gb_h > 0 else float("nan")
    return (
        f"{shown(result.task)}, {best.name}: {gb_h(steps.now_gb_h)} requested, {gb_h(steps.planned_gb_h)} planned "
        f"({saved(share)}); bins alone {_signed(steps.bins_gb_h)}, margin {_signed(steps.margin_gb_h)}, model errors "
        f"{_signed(steps.model_gb_h)}, retries {_signed(steps.retries_gb_h)} GB·h."
    )


def waterfall_table(steps: Waterfall) -> pd.DataFrame:
    """Return one line per step: its own GB·h, and where the bar ends."""
    changes = _changes(steps)
    ends = pd.Series(changes).cumsum().tolist()
    return pd.DataFrame(
        {
            "step": list(MEANINGS),
            "gb_h": [*changes, steps.planned_gb_h],
            "reached_gb_h": [*ends, steps.planned_gb_h],
            "meaning": list(MEANINGS.values()),
        }
    )


def _changes(steps: Waterfall) -> list[float]:
    return [steps.now_gb_h, steps.bins_gb_h, steps.margin_gb_h, steps.model_gb_h, steps.retries_gb_h]


def _waterfall_bars(steps: Waterfall, rows: list[str]) -> dict[str, Any]:
    changes = _changes(steps)
    texts = [number(steps.now_gb_h), *(_signed(value) for value in changes[1:]), number(steps.planned_gb_h)]
    return {
        "type": "waterfall",
        "orientation": "h",
        "measure": ["absolute", *["relative"] * (len(changes) - 1), "total"],
        "x": [*changes, steps.planned_gb_h],
        "y": rows,
        "text": texts,
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": [MEANINGS[row] for row in rows],
        "hovertemplate": "%{y}: %{text} GB·h<br>%{customdata}<extra></extra>",
        "increasing": {"marker": {"color": MORE}},
        "decreasing": {"marker": {"color": LESS}},
        "totals": {"marker": {"color": COLOURS[0]}},
        "connector": {"line": {"color": NEUTRAL, "width": 1, "dash": "dot"}},
    }


def _range(steps: Waterfall) -> list[float]:
    """Return an axis with room for the numbers beside the bars."""
    ends = [0.0, steps.planned_gb_h, *pd.Series(_changes(steps)).cumsum().tolist()]
    low, high = min(ends), max(ends)
    room = 0.22 * (high - low or 1.0)
    return [low - (room if low < 0 else 0.0), high + room]


def _signed(value: float) -> str:
    """Return '+1.2', '−34' or '0'."""
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{number(abs(value))}"


def _note(best: ModelResult) -> str:
    steps = best.waterfall
    words = (
        f"{counted(steps.n_too_large, 'run')} held too large a bin, {counted(steps.n_failed, 'run')} failed at first; "
        f"{gb_h(steps.used_gb_h)} were used, and no plan can be charged less. + costs, − saves."
    )
    if steps.n_unfinished:
        words += f" {counted(steps.n_unfinished, 'run')} never finished and are charged for their attempts only."
    return words
