"""Models of a run's bin in figures: estimate and replay, the confusion of bins, the learning curve."""

from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.models import (
    STEPS,
    changes_of,
    confusion_sentence,
    every_model,
    learned_note,
    models_answer,
    ranking_warning,
    signed,
    waterfall_note,
    waterfall_sentence,
)
from workprof.answers.policies import OURS, learning_note, learning_sentence, policy_name
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, LEGEND_BELOW, NEUTRAL, Chart, figure_of, rows_axis
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.answer import to_frame
from workprof.core.arrays import Ints
from workprof.core.units import GB, format_share, number
from workprof.core.words import counted
from workprof.memory.models import ModelResult, PredictorResult, Waterfall
from workprof.memory.policy_figures import REQUESTS, PolicyFigures
from workprof.memory.replay import ReplayResult


def estimated_and_replayed(result: PredictorResult) -> Chart:
    """Return estimate and replay of every model as two marks on one line."""
    models = result.models
    rows = [model.name for model in models]
    figure = figure_of(
        [
            shapes.line(
                [result.optimal_improvement] * len(rows),
                rows,
                name="upper bound",
                colour=NEUTRAL,
                width=2,
                dash="dot",
                hover=f"upper bound {format_share(result.optimal_improvement)}",
            ),
            *(
                shapes.line(
                    [model.estimated_improvement, model.replayed_improvement],
                    [row, row],
                    colour=NEUTRAL,
                    width=1.4,
                    showlegend=False,
                )
                for model, row in zip(models, rows, strict=True)
            ),
            _marks("estimated", [m.estimated_improvement for m in models], rows, (COLOURS[1], "circle-open")),
            _marks("replayed", [m.replayed_improvement for m in models], rows, (COLOURS[0], "diamond")),
        ],
        x={"title": "Saved against one static size", "tickformat": ".0%"},
        y=rows_axis(rows),
        height=rows_height(len(rows)) + 20,
        **LEGEND_ABOVE,
    )
    return Chart(
        name="memory-models",
        figure=figure,
        takeaway=ranking_warning(result) or "Estimate and replay put the models in the same order.",
        shows=f"Estimated and replayed saving of {counted(len(models), 'model')}.",
        data=to_frame(models_answer(result)),
        note=learned_note(result),
    )


def _marks(name: str, x: list[float], rows: list[str], look: tuple[str, str]) -> dict[str, Any]:
    colour, symbol = look
    return shapes.points(
        x, rows, name=name, colour=colour, symbol=symbol, size=11, outline=2, hover=f"%{{y}}: %{{x:.1%}} {name}"
    )


HEIGHT_PX = 300


def bin_confusion(result: PredictorResult, model: ModelResult) -> Chart:
    """Return the confusion matrix of a model's bins; colour = share of the true bin's test runs.

    Source: the load-aware provisioning thesis, Figures 15 and 16.
    """
    counts = model.confusion
    names = [f"≤ {number(edge / GB)}" for edge in result.edges_bytes]
    shares = shapes.row_shares(counts)
    positions = list(range(len(names)))
    figure = figure_of(
        [_cells(counts, shares, names)],
        x={"title": "Predicted bin (GB)", "tickvals": positions, "ticktext": names, "showgrid": False},
        y={
            "title": "True bin (GB)",
            "tickvals": positions,
            "ticktext": names,
            "autorange": "reversed",
            "showgrid": False,
        },
        height=HEIGHT_PX,
        shapes=[under_outline(len(names))] if len(names) > 1 else [],
        annotations=shapes.cell_words([[f"{runs:,}" if runs else "" for runs in line] for line in counts], shares),
    )
    table = pd.DataFrame(counts, columns=[f"predicted {name} GB" for name in names])
    table.insert(0, "true bin (GB)", names)
    return Chart(
        name=f"memory-confusion-{model.model}-{model.sampling or 'one'}",
        figure=figure,
        takeaway=confusion_sentence(model),
        shows=f"Heat map of true against predicted bins of {model.name}.",
        data=table,
    )


def _cells(counts: Ints, shares: np.ndarray[Any, Any], names: list[str]) -> dict[str, Any]:
    positions = list(range(len(names)))
    return shapes.heat(
        shares,
        positions,
        positions,
        scale=False,
        hover="%{customdata}",
        zmin=0,
        zmax=1,
        customdata=[
            [
                f"true {truth} GB, predicted {predicted} GB: {counted(int(counts[i, j]), 'run')}"
                + (" (too small: fails)" if j < i else "")
                for j, predicted in enumerate(names)
            ]
            for i, truth in enumerate(names)
        ],
    )


def under_outline(bins: int) -> dict[str, Any]:
    """Return the outline of the cells whose predicted bin (x) is below the true one (y)."""
    steps = ["M -0.5,0.5"]
    for place in range(1, bins):
        steps.append(f"L {place - 0.5},{place - 0.5}")
        steps.append(f"L {place - 0.5},{place + 0.5}")
    steps.append(f"L -0.5,{bins - 0.5} Z")
    return {
        "type": "path",
        "xref": "x",
        "yref": "y",
        "path": " ".join(steps),
        "line": {"color": COLOURS[4], "width": 3},
    }


MOST_LINES = 6
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def learning_curve(result: ReplayResult) -> Chart:
    """Return waste so far against runs so far: ours, the request of now, and the best of the others."""
    lines = _lines(result)
    figure = figure_of(
        [_trace(one, place) for place, one in enumerate(lines)],
        x={"title": "Runs so far", "rangemode": "tozero"},
        y={"title": "Wasted so far (GB·h)", "rangemode": "tozero"},
        height=400,
        **LEGEND_BELOW,
    )
    return Chart(
        name="memory-learning",
        figure=figure,
        takeaway=learning_sentence(result),
        shows=f"Lines of cumulative waste of {len(lines)} policies.",
        data=pd.concat([_table(one) for one in lines], ignore_index=True),
        note=learning_note(result, len(lines)),
    )


def _lines(result: ReplayResult) -> list[PolicyFigures]:
    every = sorted(result.policies.values(), key=lambda one: one.wasted_gb_h)
    wanted = [one for one in every if one.policy.startswith(OURS) or one.policy == REQUESTS]
    others = [one for one in every if one not in wanted]
    return sorted([*wanted, *others[: max(MOST_LINES - len(wanted), 0)]], key=lambda one: one.wasted_gb_h)


def _trace(one: PolicyFigures, place: int) -> dict[str, Any]:
    ours = one.policy.startswith(OURS)
    colour = NEUTRAL if one.policy == REQUESTS else COLOURS[place % len(COLOURS)]
    return shapes.line(
        one.curve.runs_seen,
        one.curve.wasted_gb_h,
        name=policy_name(one.policy),
        colour=colour,
        width=2.8 if ours else 1.6,
        dash=DASHES[place % len(DASHES)],
        hover="%{fullData.name}: %{y:,.4g} GB·h after %{x:,} runs",
    )


def _table(one: PolicyFigures) -> pd.DataFrame:
    curve = one.curve
    return pd.DataFrame(
        {"policy": policy_name(one.policy), "runs_seen": curve.runs_seen, "wasted_gb_h": curve.wasted_gb_h}
    )


WATERFALL_PX = 340
LESS, MORE = COLOURS[2], COLOURS[1]


def waterfall(result: PredictorResult) -> Chart:
    """Return the steps from now to planned of the best model by the replay."""
    best = every_model(result)[0]
    steps = best.waterfall
    changes, ends = changes_of(steps), np.cumsum(changes_of(steps)).tolist()
    figure = figure_of(
        [_waterfall_bars(steps)],
        x={"title": f"GB·h of {counted(best.n_test, 'test run')}", "range": _range(steps), "zeroline": True},
        y=rows_axis(list(STEPS)),
        height=WATERFALL_PX,
    )
    data = {"gb_h": [*changes, steps.planned_gb_h], "reached_gb_h": [*ends, steps.planned_gb_h]}
    return Chart(
        name="memory-waterfall",
        figure=figure,
        takeaway=waterfall_sentence(result),
        shows=f"Waterfall of GB·h from requests to the replayed plan in {len(STEPS)} bars.",
        data=pd.DataFrame({"step": list(STEPS), **data, "meaning": list(STEPS.values())}),
        note=waterfall_note(steps),
    )


def _waterfall_bars(steps: Waterfall) -> dict[str, Any]:
    changes = changes_of(steps)
    texts = [number(steps.now_gb_h), *(signed(value) for value in changes[1:]), number(steps.planned_gb_h)]
    return {
        "type": "waterfall",
        "orientation": "h",
        "measure": ["absolute", *["relative"] * (len(changes) - 1), "total"],
        "x": [*changes, steps.planned_gb_h],
        "y": list(STEPS),
        "text": texts,
        "textposition": "outside",
        "cliponaxis": False,
        "customdata": list(STEPS.values()),
        "hovertemplate": "%{y}: %{text} GB·h<br>%{customdata}<extra></extra>",
        "increasing": {"marker": {"color": MORE}},
        "decreasing": {"marker": {"color": LESS}},
        "totals": {"marker": {"color": COLOURS[0]}},
        "connector": {"line": {"color": NEUTRAL, "width": 1, "dash": "dot"}},
    }


def _range(steps: Waterfall) -> list[float]:
    """Return an axis with room for the numbers beside the bars."""
    ends = [0.0, steps.planned_gb_h, *np.cumsum(changes_of(steps)).tolist()]
    low, high = min(ends), max(ends)
    room = 0.22 * (high - low or 1.0)
    return [low - (room if low < 0 else 0.0), high + room]
