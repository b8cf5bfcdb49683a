"""Models of bins side by side: scores with their intervals, the thesis' estimate beside the replay."""

from __future__ import annotations

from typing import Any

import pandas as pd

from workprof.charts.memory.tasks import gb_h, saved, shown
from workprof.charts.shapes import NEUTRAL, Chart, Headline, figure_of, rows_axis
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS, rows_height
from workprof.memory.model_data import InputFact
from workprof.memory.models import ModelResult, PredictorResult
from workprof.units import format_share


def every_model(found: PredictorResult) -> tuple[ModelResult, ...]:
    """Return all models, the one that saves most by the replay first; equals in the order they were made."""
    models = (*found.models, *found.cheapest, found.constant, found.cheapest_constant)
    return tuple(sorted(models, key=lambda model: -model.replayed_improvement))


def model_table(found: PredictorResult) -> pd.DataFrame:
    """Return one line per model, the best by the replay first; shares and scores in per cent."""
    return pd.DataFrame([_line(model) for model in every_model(found)])


def model_headlines(found: PredictorResult) -> tuple[Headline, ...]:
    """Return what the best model by the replay saves and breaks."""
    best = every_model(found)[0]
    return (*_savings(found, best), *_risks(found, best))


def model_sentence(found: PredictorResult) -> str:
    """Return which model to take, and what it saves and breaks."""
    best = every_model(found)[0]
    gain = best.replayed_improvement - max(
        found.constant.replayed_improvement, found.cheapest_constant.replayed_improvement
    )
    more = f"{gain * 100:.1f} percentage points better than one bin for every run"
    if gain <= 0:
        more = "no better than one bin for every run, so no model is needed"
    return (
        f"For {shown(found.task)}, {best.name} holds {saved(best.replayed_improvement)} than one static size "
        f"({saved(best.saved_share)} than requested), {more}; "
        f"{counted(best.failures, 'attempt')} failed in the replay of {counted(best.n_test, 'test run')}."
    )


def ranking_warning(found: PredictorResult) -> str:
    """Return where estimate and replay disagree; '' where they agree."""
    ranking = found.ranking
    if not found.ranks_differ:
        return ""
    words = (
        f"The thesis' estimate and the replay order {ranking.n_turned} of {ranking.n_pairs} pairs of models differently"
    )
    if ranking.best_by_estimate != ranking.best_by_replay:
        words += f": by the estimate {ranking.best_by_estimate} is best, by the replay {ranking.best_by_replay}"
    return f"{words}. The replay charges every failed attempt; go by it."


def estimated_and_replayed(found: PredictorResult) -> Chart:
    """Return estimate and replay of every model as two marks on one line."""
    models = found.models
    rows = [model.name for model in models]
    figure = figure_of(
        [
            _best(found.optimal_improvement, rows),
            *(_bridge(model, row) for model, row in zip(models, rows, strict=True)),
            _marks("estimated", [m.estimated_improvement for m in models], rows, (COLOURS[1], "circle-open")),
            _marks("replayed", [m.replayed_improvement for m in models], rows, (COLOURS[0], "diamond")),
        ],
        x={"title": "Saved against one static size", "tickformat": ".0%"},
        y=rows_axis(rows),
        height=rows_height(len(rows)) + 20,
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        showlegend=True,
    )
    takeaway = ranking_warning(found) or "Estimate and replay put the models in the same order."
    return Chart(
        name="memory-models",
        figure=figure,
        takeaway=takeaway,
        alt=f"Estimated and replayed saving of {counted(len(models), 'model')}. {takeaway}",
        data=model_table(found),
        note=f"{found.n_train:,} runs to learn, {found.n_validation:,} to tune, {found.n_test:,} to test, seed "
        f"{found.settings.seed}. With so few errors small differences mean nothing: read the intervals.",
    )


def input_words(found: PredictorResult) -> str:
    """Return what the models see, and what they were not shown."""
    seen = ", ".join(_input(fact) for fact in found.inputs) or "nothing"
    unused = f" Not shown: {', '.join(found.unused[:12])}" if found.unused else ""
    more = f" and {len(found.unused) - 12} more" if len(found.unused) > 12 else ""
    return f"The models see {seen}.{unused}{more}{'.' if unused else ''}"


def _input(fact: InputFact) -> str:
    return fact.column if fact.known != "after the run" else f"{fact.column} (after the run)"


def importance_table(found: PredictorResult) -> pd.DataFrame:
    """Return the inputs of the best model, the most important first."""
    return pd.DataFrame(
        [
            {"input": fact.column, "known": fact.known, "u-score lost (%)": fact.u_score_lost}
            for fact in found.importance
        ]
    )


def _line(model: ModelResult) -> dict[str, object]:
    asked, done = model.sampling, model.sampling_done
    return {
        "model": model.name,
        "over_sampling": done if done == asked else f"{done} (asked: {asked})",
        "u_score": model.u_score,
        "accuracy": 100 * model.accuracy,
        "u_rate": 100 * model.u_rate,
        "u_rate_low": 100 * model.u_rate_interval.low,
        "u_rate_high": 100 * model.u_rate_interval.high,
        "estimated": 100 * model.estimated_improvement,
        "replayed": 100 * model.replayed_improvement,
        "saved_of_requested": 100 * model.saved_share,
        "failures": model.failures,
        "never_finished": model.n_never_finished,
        "charged_gb_h": model.charged_gb_h,
        "remark": "no better than chance: answers as a constant" if model.fell_back else "",
    }


def _marks(name: str, x: list[float], rows: list[str], look: tuple[str, str]) -> dict[str, Any]:
    colour, symbol = look
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x,
        "y": rows,
        "name": name,
        "marker": {"color": colour, "symbol": symbol, "size": 11, "line": {"width": 2}},
        "hovertemplate": f"%{{y}}: %{{x:.1%}} {name}<extra></extra>",
    }


def _best(share: float, rows: list[str]) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [share] * len(rows),
        "y": rows,
        "name": "at best",
        "line": {"color": NEUTRAL, "dash": "dot", "width": 2},
        "hovertemplate": f"at best {format_share(share)}<extra></extra>",
    }


def _bridge(model: ModelResult, row: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": [model.estimated_improvement, model.replayed_improvement],
        "y": [row, row],
        "line": {"color": NEUTRAL, "width": 1.4},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _savings(found: PredictorResult, best: ModelResult) -> tuple[Headline, ...]:
    return (
        Headline(
            "Replayed",
            format_share(best.replayed_improvement),
            f"Saved against one static size, failures charged, by {best.name} on {counted(best.n_test, 'test run')}.",
            "failures charged",
        ),
        Headline(
            "Of requests",
            format_share(best.saved_share),
            "Saved of what the test runs asked for, failures charged; below 0: it costs more than now.",
            "saved, replayed",
        ),
        Headline(
            "Estimated",
            format_share(best.estimated_improvement),
            "The thesis' formula: optimum × accuracy − under-estimates. It charges no retry.",
            "thesis' formula",
        ),
        Headline(
            "At best",
            format_share(found.optimal_improvement),
            "If every run came into its right bin.",
            "all in their bins",
        ),
    )


def _risks(found: PredictorResult, best: ModelResult) -> tuple[Headline, ...]:
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
            f"(over-estimates + {found.settings.penalty:g} × under-estimates) / runs; lower is better.",
            f"penalty {found.settings.penalty:g}",
        ),
    )
