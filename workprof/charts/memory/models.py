"""Models of a run's bin: the table, what they look at, the confusion of bins, the learning curve, published tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.tasks import shown
from workprof.charts import shapes
from workprof.charts.memory.policies import OURS, policy_name
from workprof.charts.shapes import LEGEND_ABOVE, LEGEND_BELOW, NEUTRAL, Chart, Headline, figure_of, rows_axis
from workprof.charts.text import column_words, counted
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.arrays import Ints
from workprof.core.table import Column, frame
from workprof.core.units import GB, format_share, gb_h, number, saved
from workprof.memory.model_data import InputFact
from workprof.memory.model_tables import PredictorTables
from workprof.memory.models import ModelResult, PredictorResult
from workprof.memory.policy_figures import PolicyFigures
from workprof.memory.replay import ReplayResult


def every_model(result: PredictorResult) -> tuple[ModelResult, ...]:
    """Return all models, the one that saves most by the replay first; equals in the order they were made."""
    models = (*result.models, *result.cheapest, result.constant, result.cheapest_constant)
    return tuple(sorted(models, key=lambda model: -model.replayed_improvement))


MODEL_COLUMNS = (
    Column("model", "name", heading="model", pinned=True),
    Column(
        "over_sampling",
        lambda model: (
            model.sampling_done
            if model.sampling_done == model.sampling
            else f"{model.sampling_done} (requested: {model.sampling})"
        ),
        heading="over-sampling",
    ),
    Column("u_score", heading="u-score", form="%.1f %%", help="Lower is better."),
    Column("accuracy", lambda model: 100 * model.accuracy, form="%.1f %%"),
    Column("u_rate", lambda model: 100 * model.u_rate, heading="under-estimates", form="%.1f %%"),
    Column(
        "u_rate_low",
        lambda model: 100 * model.u_rate_interval.low,
        heading="from",
        form="%.1f %%",
        help="95 % Wilson interval of the under-estimates.",
    ),
    Column("u_rate_high", lambda model: 100 * model.u_rate_interval.high, heading="to", form="%.1f %%"),
    Column("estimated", lambda model: 100 * model.estimated_improvement, form="%.1f %%", help="The thesis' formula."),
    Column(
        "replayed",
        lambda model: 100 * model.replayed_improvement,
        form="%.1f %%",
        help="Every test run replayed, failures charged.",
    ),
    Column("saved_of_requested", lambda model: 100 * model.saved_share, heading="saved of requests", form="%.1f %%"),
    Column("failures", heading="failed attempts"),
    Column("never_finished", "n_never_finished", heading="never finished"),
    Column("charged_gb_h", heading="charged (GB·h)", form="%,.2f"),
    Column("remark", lambda model: "no better than chance: answers as a constant" if model.fell_back else ""),
)
"""A line per model."""


def model_table(result: PredictorResult) -> pd.DataFrame:
    """Return one line per model, the best by the replay first; shares and scores in per cent."""
    return frame(MODEL_COLUMNS, every_model(result))


def model_headlines(result: PredictorResult) -> tuple[Headline, ...]:
    """Return what the best model by the replay saves and breaks."""
    best = every_model(result)[0]
    return (*_savings(result, best), *_risks(result, best))


def model_sentence(result: PredictorResult) -> str:
    """Return which model to take, and what it saves and breaks."""
    best = every_model(result)[0]
    gain = best.replayed_improvement - max(
        result.constant.replayed_improvement, result.cheapest_constant.replayed_improvement
    )
    more = f"{gain * 100:.1f} percentage points better than one bin for every run"
    if gain <= 0:
        more = "no better than one bin for every run, so no model is needed"
    return (
        f"For {shown(result.task)}, {best.name} holds {saved(best.replayed_improvement)} than one static size "
        f"({saved(best.saved_share)} than requested), {more}; "
        f"{counted(best.failures, 'attempt')} failed in the replay of {counted(best.n_test, 'test run')}."
    )


def ranking_warning(result: PredictorResult) -> str:
    """Return where estimate and replay disagree; '' where they agree."""
    ranking = result.ranking
    if not result.ranks_differ:
        return ""
    words = (
        f"The thesis' estimate and the replay order {ranking.n_turned} of {ranking.n_pairs} pairs of models differently"
    )
    if ranking.best_by_estimate != ranking.best_by_replay:
        words += f": by the estimate {ranking.best_by_estimate} is best, by the replay {ranking.best_by_replay}"
    return f"{words}. The replay charges every failed attempt; go by it."


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
        data=model_table(result),
        note=f"{result.n_train:,} runs to learn, {result.n_validation:,} to tune, {result.n_test:,} to test, seed "
        f"{result.settings.seed}. With so few errors small differences mean nothing: read the intervals.",
    )


def input_words(result: PredictorResult) -> str:
    """Return what the models see, and what they were not shown."""
    seen = ", ".join(_input(fact) for fact in result.inputs) or "nothing"
    unused = f" Not shown: {', '.join(column_words(name) for name in result.unused[:12])}" if result.unused else ""
    more = f" and {len(result.unused) - 12} more" if len(result.unused) > 12 else ""
    return f"The models see {seen}.{unused}{more}{'.' if unused else ''}"


def _input(fact: InputFact) -> str:
    return fact.column if fact.known != "after the run" else f"{fact.column} (after the run)"


def importance_table(result: PredictorResult) -> pd.DataFrame:
    """Return the inputs of the best model, the most important first."""
    return pd.DataFrame(
        [
            {"input": fact.column, "known": fact.known, "u-score lost (%)": fact.u_score_lost}
            for fact in result.importance
        ]
    )


def _marks(name: str, x: list[float], rows: list[str], look: tuple[str, str]) -> dict[str, Any]:
    colour, symbol = look
    return shapes.points(
        x, rows, name=name, colour=colour, symbol=symbol, size=11, outline=2, hover=f"%{{y}}: %{{x:.1%}} {name}"
    )


def _savings(result: PredictorResult, best: ModelResult) -> tuple[Headline, ...]:
    return (
        Headline(
            "Replayed",
            format_share(best.replayed_improvement),
            f"Saved against one static size, failures charged, by {best.name} on {counted(best.n_test, 'test run')}; "
            f"{format_share(best.saved_share)} of what these runs requested. Upper bound: every run in its right bin.",
            f"upper bound {format_share(result.optimal_improvement)}",
        ),
        Headline(
            "Estimated",
            format_share(best.estimated_improvement),
            "The thesis' formula: optimum × accuracy − under-estimates. It charges no retry.",
            "thesis' formula",
        ),
    )


def _risks(result: PredictorResult, best: ModelResult) -> tuple[Headline, ...]:
    low, high = best.u_rate_interval.low, best.u_rate_interval.high
    return (
        Headline(
            "Failed attempts",
            f"{best.failures:,}",
            f"In the replay of {counted(best.n_test, 'test run')}; {gb_h(best.charged_gb_h)} charged in all. "
            f"Under-estimates {format_share(best.u_rate)}, with a 95 % interval.",
            f"{low * 100:.1f}–{high * 100:.1f} % of runs",
        ),
        Headline(
            "u-score",
            f"{best.u_score:.1f} %",
            f"(over-estimates + {result.settings.penalty:g} × under-estimates) / runs; lower is better.",
            f"penalty {result.settings.penalty:g}",
        ),
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
    under = int(np.tril(counts, -1).sum())
    table = pd.DataFrame(counts, columns=[f"predicted {name} GB" for name in names])
    table.insert(0, "true bin (GB)", names)
    return Chart(
        name=f"memory-confusion-{model.model}-{model.sampling or 'one'}",
        figure=figure,
        takeaway=f"{counted(under, 'test run')} of {model.n_test:,} ({format_share(model.u_rate)}) are predicted too "
        f"small (outlined); {format_share(model.accuracy)} are right.",
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
    best = min(lines, key=lambda one: one.wasted_gb_h)
    takeaway = f"After {counted(result.n_test, 'run')} {policy_name(best.policy)} has wasted least: "
    takeaway += f"{gb_h(best.wasted_gb_h)}."
    cold = f" The first runs of each task ({result.n_cold:,} in all) start at their request." if result.n_cold else ""
    return Chart(
        name="memory-learning",
        figure=figure,
        takeaway=takeaway,
        shows=f"Lines of cumulative waste of {len(lines)} policies.",
        data=pd.concat([_table(one) for one in lines], ignore_index=True),
        note=f"Each run is sized from the runs before it, then added to them.{cold} The {len(lines)} policies of "
        "interest; the table above has all.",
    )


def _lines(result: ReplayResult) -> list[PolicyFigures]:
    every = sorted(result.policies.values(), key=lambda one: one.wasted_gb_h)
    wanted = [one for one in every if one.policy.startswith(OURS) or one.policy == "preset"]
    others = [one for one in every if one not in wanted]
    return sorted([*wanted, *others[: max(MOST_LINES - len(wanted), 0)]], key=lambda one: one.wasted_gb_h)


def _trace(one: PolicyFigures, place: int) -> dict[str, Any]:
    ours = one.policy.startswith(OURS)
    colour = NEUTRAL if one.policy == "preset" else COLOURS[place % len(COLOURS)]
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


def best_models_table(result: PredictorTables) -> pd.DataFrame:
    """Return Tables 7 and 8: per number of bins and model the sampling with the lowest u-score; shares in per cent."""
    rows = [
        {"bins": one.k, "model": one.model, "over_sampling": one.sampling, "accuracy": 100 * one.accuracy}
        | {"u_score": one.u_score}
        for one in result.models
    ]
    return pd.DataFrame(rows)


def samplings_table(result: PredictorTables) -> pd.DataFrame:
    """Return Tables 9 and 10: the u-score of every model and sampling."""
    rows = [
        {"bins": one.k, "model": one.model, "over_sampling": one.sampling, "done": one.done, "u_score": one.u_score}
        for one in result.samplings
    ]
    return pd.DataFrame(rows)


def binnings_table(result: PredictorTables) -> pd.DataFrame:
    """Return Table 11 with the replay beside it; shares in per cent, edges in GB."""
    rows = [
        {
            "bins": one.k,
            "edges_gb": ", ".join(f"{edge / GB:.3g}" for edge in one.edges_bytes),
            "model": one.model,
            "optimal": 100 * one.optimal_improvement,
            "accuracy": 100 * one.accuracy,
            "u_rate": 100 * one.u_rate,
            "u_rate_low": 100 * one.u_rate_interval.low,
            "u_rate_high": 100 * one.u_rate_interval.high,
            "estimated": 100 * one.estimated_improvement,
            "replayed": 100 * one.replayed_improvement,
        }
        for one in result.binnings
    ]
    return pd.DataFrame(rows)


def binnings_sentence(result: PredictorTables) -> str:
    """Return which number of bins the estimate and the replay prefer."""
    if result.best_k_by_estimate == result.best_k_by_replay:
        return f"Estimate and replay both prefer {result.best_k_by_replay} bins."
    return (
        f"The thesis' estimate prefers {result.best_k_by_estimate} bins, the replay {result.best_k_by_replay}: trust "
        "the replay, which charges what a failure costs."
    )
