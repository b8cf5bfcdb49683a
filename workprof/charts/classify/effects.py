"""The SHAP values of a sample of runs, drawn from one matrix: beeswarm, bars, dependence and interactions."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.answers.classifier import (
    class_fields_sentence,
    dependence_sentence,
    interactions_note,
    interactions_sentence,
    of_words,
    own_class_sentence,
    sample_words,
)
from workprof.answers.forecasts import Naming
from workprof.charts import shapes
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, rows_height
from workprof.core.units import fold, odds_times
from workprof.core.words import counted, label, plotly_text
from workprof.forecasts.explain import GlobalExplanation

BINS = 80
WIDEST = 0.42
"""Half the height of a field's band that its dots may fill."""

MOST_DOTS = 1_000
"""Per field; the sample is in random order of the draw, so its first rows are a sample too."""

SHADES = 21
FIELD_PX = 56
FIELDS_AROUND_PX = 110


def beeswarm(result: GlobalExplanation, naming: Naming, profile: int | None = None) -> Chart:
    """Return the contributions of each field to one profile's log-odds; None = the likeliest class of each run."""
    n_dots = min(result.n_sampled, MOST_DOTS)
    rows = np.linspace(0, result.n_sampled - 1, n_dots).astype(np.int64)
    figure = figure_of(
        [_dots(result, naming, rows, place, profile) for place in range(len(result.fields))],
        x=odds_axis(result.effects_on(profile)),
        y={
            "autorange": "reversed",
            "tickvals": list(range(len(result.fields))),
            "ticktext": [label(field) for field in result.fields],
            "zeroline": False,
        },
        height=FIELDS_AROUND_PX + FIELD_PX * len(result.fields),
    )
    return Chart(
        name="shap-beeswarm",
        figure=figure,
        takeaway=own_class_sentence(result, naming, profile),
        shows=f"Dots of SHAP values of {n_dots:,} runs for {len(result.fields)} fields.",
        data=beeswarm_table(result, naming, profile),
        note=naming.note(
            f"{sample_words(result)} {n_dots:,} dots per field, {of_words(naming, profile)}. Numbers "
            "go from blue (lowest in training) to orange (highest); names, and numbers that are not given, are grey."
        ),
    )


MOST_TICKS = 3
"""On each side of none, where they are powers of ten."""


def odds_axis(effects: NDArray[np.float64]) -> dict[str, Any]:
    """An axis of log-odds whose ticks say how many times larger or smaller the odds become."""
    largest = float(np.abs(effects).max(initial=0.0))
    decades = largest / np.log(10)
    factors = [1.1, 1.25, 1.5, 2] if decades < np.log10(3) else [2, 5, 10] if decades < 2 else []
    step = max(1, int(np.ceil(int(decades) / MOST_TICKS)))
    factors = factors or [10.0**power for power in range(step, int(decades) + 1, step)]
    logs = np.log(factors)[np.log(factors) <= largest]
    ticks = [*(-logs[::-1]).tolist(), 0.0, *logs.tolist()]
    large = [f"{'×' if one > 0 else '÷'} 10<sup>{abs(one) / np.log(10):.0f}</sup>" for one in ticks]
    plain = [odds_times(one) for one in ticks]
    words = [most if step > 1 and one else few for one, few, most in zip(ticks, plain, large, strict=True)]
    return {
        "title": "Odds (× raised, ÷ lowered)",
        "zeroline": True,
        "zerolinecolor": OUTLIER_COLOUR,
        "tickvals": ticks,
        "ticktext": words,
    }


def beeswarm_table(result: GlobalExplanation, naming: Naming, profile: int | None = None) -> pd.DataFrame:
    """Return one line per sampled job: its class, and value and contribution of every field, by the fields' names.

    The strongest first would change the columns' order from month to month.
    """
    table = pd.DataFrame(
        {"row_id": result.row_ids, "class": result.chosen, "name": [naming.name(int(one)) for one in result.chosen]}
    )
    effects = result.effects_on(profile)
    for field, place in sorted((field, place) for place, field in enumerate(result.fields)):
        table[field] = _in_file(result, place)
        table[f"shap_{field}"] = effects[:, place]
    return table


def _in_file(result: GlobalExplanation, place: int) -> NDArray[Any]:
    """Return (n,) values of a field as files have them: numbers in the field's own unit, else words."""
    numbers = result.numbers[:, place]
    words: NDArray[Any] = result.shown[:, place]
    return words if np.isnan(numbers).all() else numbers


def offsets(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n,) heights that keep dots of about the same value apart: the fuller a bin, the wider."""
    span = float(values.max() - values.min()) or 1.0
    bins = np.clip(((values - values.min()) / span * BINS).astype(np.int64), 0, BINS - 1)
    order = np.argsort(bins, kind="stable")
    counts = np.bincount(bins, minlength=BINS)
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - np.repeat(first, counts)
    centred = rank - (counts[bins] - 1) / 2
    heights: NDArray[np.float64] = 2 * WIDEST * centred / max(int(counts.max()), 2)
    return heights


def _dots(
    result: GlobalExplanation, naming: Naming, rows: NDArray[np.int64], place: int, profile: int | None
) -> dict[str, Any]:
    values, positions = result.effects_on(profile)[rows, place], result.positions[rows, place]
    return shapes.points(
        values,
        place + offsets(values),
        type="scattergl",
        colour=_colours(positions),
        size=5,
        opacity=0.75,
        hover=f"{label(result.fields[place])}: odds %{{text}}",
        text=[
            f"{odds_times(value)}, row {result.row_ids[row]}, {naming.shown(int(result.chosen[row]))}: "
            f"{plotly_text(result.shown[row, place])}"
            for row, value in zip(rows, values.tolist(), strict=True)
        ],
    )


def _colours(positions: NDArray[np.float64]) -> list[str]:
    """Return a colour per dot, each visible on both pages' backgrounds; grey where there is no place in a range."""
    from plotly.colors import sample_colorscale  # noqa: PLC0415  only where a beeswarm is drawn

    scale = sample_colorscale([[0.0, COLOURS[0]], [1.0, COLOURS[1]]], np.linspace(0, 1, SHADES).tolist())
    return [scale[round(place * (SHADES - 1))] if np.isfinite(place) else OUTLIER_COLOUR for place in positions]


def profile_bars(result: GlobalExplanation, naming: Naming, profile: int | None = None) -> Chart:
    """Return mean |SHAP| per field for the odds of one profile, the strongest first."""
    means = np.abs(result.effects_on(profile)).mean(axis=0)
    order = np.argsort(-means, kind="stable")
    lines = [label(result.fields[place]) for place in order]
    trace = shapes.bars(
        means[order],
        [plotly_text(line) for line in lines],
        colour=COLOURS[0],
        hover="%{y}: %{text}",
        text=[fold(mean) for mean in means[order].tolist()],
    )
    figure = figure_of(
        [trace],
        x={
            "title": "Mean change of the odds",
            "showticklabels": False,
            "range": [0, 1.3 * float(means.max(initial=0.0)) or 1.0],
        },
        y={"autorange": "reversed", "showgrid": False, "type": "category"},
        height=rows_height(len(lines)),
    )
    return Chart(
        name="shap-of-profile",
        figure=figure,
        takeaway=class_fields_sentence(lines, means[order], naming, profile),
        shows=f"Bars of mean |SHAP| for {counted(len(lines), 'field')}.",
        data=pd.DataFrame({"field": [result.fields[place] for place in order], "mean_abs_shap": means[order]}),
        note=naming.note(f"{sample_words(result)} SHAP values (log-odds) {of_words(naming, profile)}."),
    )


MOST_VALUES = 15
"""Of a category, the most frequent; the others stand together."""
OTHERS = "(others)"
DEPENDENCE_PX = 420


def dependence(result: GlobalExplanation, naming: Naming, field: str, profile: int | None = None) -> Chart:
    """Return what a field contributes at each of its values: a dot per run."""
    place = result.fields.index(field)
    effects, numbers = result.effects_on(profile)[:, place], result.numbers[:, place]
    shown = result.shown[:, place]
    table = pd.DataFrame({"row_id": result.row_ids, field: _in_file(result, place), f"shap_{field}": effects})
    rows = np.linspace(0, result.n_sampled - 1, min(result.n_sampled, MOST_DOTS)).astype(np.int64)
    if np.isnan(numbers).all():
        names, counts = np.unique(shown, return_counts=True)
        kept = names[np.argsort(-counts, kind="stable")][:MOST_VALUES]
        at: Any = np.where(np.isin(shown, kept), shown, OTHERS)[rows]
        x: dict[str, Any] = {"title": plotly_text(label(field)), "type": "category"}
        at = [plotly_text(one) for one in at]
    else:
        at = numbers[rows]
        x = {"title": plotly_text(label(field))}
    trace = shapes.points(
        at,
        effects[rows],
        colour=COLOURS[0],
        size=6,
        opacity=0.6,
        hover="%{text}",
        text=[
            f"{plotly_text(one)}: odds {odds_times(effect)}"
            for one, effect in zip(shown[rows], effects[rows].tolist(), strict=True)
        ],
    )
    return Chart(
        name="shap-dependence",
        figure=figure_of(
            [trace],
            x=x,
            y=odds_axis(effects),
            height=DEPENDENCE_PX,
        ),
        takeaway=dependence_sentence(field, shown, effects),
        shows=f"A dot per run: {label(field)} against its SHAP value.",
        data=table,
        note=naming.note(f"{sample_words(result)} SHAP values (log-odds) {of_words(naming, profile)}."),
    )


def interaction_heatmap(result: GlobalExplanation, naming: Naming) -> Chart | None:
    """Return mean |SHAP interaction| of each pair of fields, or None where there are too many columns for any."""
    if not result.n_interactions:
        return None
    names = [plotly_text(label(field)) for field in result.fields]
    pairs = 2 * np.tril(result.interactions, -1)  # both orders of a pair
    pairs[np.triu_indices(len(names))] = np.nan
    figure = figure_of(
        [shapes.heat(pairs, names, names, hover="%{y} with %{x}: %{z:.3f}", zmin=0)],
        x={"showgrid": False, "type": "category"},
        y={"autorange": "reversed", "showgrid": False, "type": "category"},
        height=rows_height(len(names)) + 120,
    )
    rows, columns = np.tril_indices(len(names), -1)
    table = pd.DataFrame(
        {
            "field": [result.fields[row] for row in rows],
            "with": [result.fields[column] for column in columns],
            "mean_abs_interaction": pairs[rows, columns],
        }
    )
    return Chart(
        name="shap-interactions",
        figure=figure,
        takeaway=interactions_sentence(result),
        shows=f"Heat map of {counted(len(table), 'pair')} of fields.",
        data=table.sort_values("mean_abs_interaction", ascending=False, ignore_index=True),
        note=naming.note(interactions_note(result)),
    )
