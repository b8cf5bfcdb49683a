"""What sets profiles apart: boxes of their features, and a heat map of users, workloads and nodes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.answers.profiles import PURE_FROM, boxes_note, pure_sentence, rests_on, spread_sentence, spread_words
from workprof.answers.tasks import TASK_COLUMN, task_labels
from workprof.charts import shapes
from workprof.charts.durations.observed import value_axis
from workprof.charts.profiles.overview import sizes
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.theme import COLOURS, LIGHT_SCALE, OUTLIER_COLOUR, WIDE_ONLY, rows_height
from workprof.core.words import begun, distinct, label, plotly_text, shortened, unit
from workprof.profiles.features import FittedTransform, scale_values
from workprof.profiles.fit import ProfileFit
from workprof.profiles.metadata import Heatmap
from workprof.profiles.names import OUTLIERS

ROUNDING = 1e-9
"""A standard deviation below this is that of equal values."""
ROOM_FOR_WORDS = 0.2
"""Share of the data's width kept free at the right for the annotations."""


UNITS = ("own", "scaled")
"""Of the axis of boxes: the feature's own, or that of the distances between runs."""
WIDE = 100.0
"""From this ratio of the largest to the smallest value on, an axis is logarithmic."""


def feature_boxes(
    fit: ProfileFit, names: Mapping[int, str], feature: str, order: str = "std", units: str = UNITS[0]
) -> Chart:
    """Return box plots of a feature per profile, ordered by 'std', 'median' or 'size', outliers last; see `UNITS`.

    Source: the paper's Fig. 4 (profiles by standard deviation; smallest, mean and largest marked).
    """
    table = _table(fit, names, feature, order)
    extremes = _extremes(table)
    axis = (_own_axis if units == UNITS[0] else _scaled_axis)(table, feature)
    figure = _figure(table, feature, axis)
    for position, words in extremes.items():
        _annotate(figure, table, position, words, axis)
    inside = table[table["profile"] != OUTLIERS]
    return Chart(
        name=f"spread-{feature}",
        figure=figure,
        takeaway=_boxes_takeaway(inside, feature),
        shows=f"Box plots of {label(feature)} for {len(table)} groups ordered by {_ORDER_WORDS[order]}. "
        + "; ".join(f"{table['name'].iloc[i]}: {words}" for i, words in extremes.items())
        + ".",
        data=table,
        note=rests_on(fit, boxes_note(fit.settings.scaler, unit(feature), scaled=units != UNITS[0], zero=axis.zero)),
    )


_ORDER_WORDS = {"std": "standard deviation", "median": "median", "size": "size"}


def _table(fit: ProfileFit, names: Mapping[int, str], feature: str, order: str) -> pd.DataFrame:
    spread, column, rows = fit.spread, fit.spread.features.index(feature), sizes(fit)
    parts = {name: getattr(spread, name)[:, column] for name in _COLUMNS}
    table = pd.DataFrame({"profile": spread.profiles, **parts})
    table.insert(1, "name", [shortened(names.get(int(p), f"P{p}")) for p in spread.profiles])
    table.insert(2, "size", [rows.get(int(p), 0) for p in spread.profiles])
    for end, quartile, outer in (("lower", "raw_q1", np.fmin), ("upper", "raw_q3", np.fmax)):
        reached = table[quartile] if fit.transform is None else _unscaled(fit.transform, feature, table[end].to_numpy())
        table[f"raw_{end}"] = outer(reached, table[quartile])
    table["outliers"] = table["profile"] == OUTLIERS
    return table.sort_values(["outliers", order], kind="stable").drop(columns="outliers").reset_index(drop=True)


_COLUMNS = ("mean", "std", "lower", "q1", "median", "q3", "upper", "raw_median", "raw_q1", "raw_q3")


BISECTIONS = 200
LARGEST = 60.0
"""Inverse hyperbolic sine of the largest values looked for, about 1e26."""


def _unscaled(transform: FittedTransform, feature: str, scaled: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values of a feature, in its own unit, that are scaled to these: every scaler keeps the order."""
    column = transform.features.index(feature)
    low, high = np.full(len(scaled), -LARGEST), np.full(len(scaled), LARGEST)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        values = np.tile(transform.fill, (len(scaled), 1))
        values[:, column] = np.sinh(middle)
        below = scale_values(transform, values)[:, column] < scaled
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return np.where(np.isfinite(scaled), np.sinh(high), np.nan)


@dataclass(frozen=True)
class _Axis:
    """The horizontal axis of boxes: the columns drawn on it, its look, and whether a zero lies at its left edge."""

    columns: tuple[str, ...]
    look: dict[str, Any]
    log: bool = False
    least: float = -math.inf
    zero: bool = False

    def more(self, row: Any) -> dict[str, Any]:
        """Return the mean where it is known: that of the scaled values."""
        return {"mean": [row.mean]} if "median" in self.columns else {}


def _scaled_axis(table: pd.DataFrame, feature: str) -> _Axis:
    return _Axis(
        ("lower", "q1", "median", "q3", "upper"),
        {"title": _axis(feature), "range": _room(float(table["lower"].min()), float(table["upper"].max()))},
    )


def _own_axis(table: pd.DataFrame, feature: str) -> _Axis:
    columns = ("raw_lower", "raw_q1", "raw_median", "raw_q3", "raw_upper")
    values = table[list(columns)].to_numpy(dtype=np.float64)
    known = values[np.isfinite(values)] if np.isfinite(values).any() else np.zeros(1)
    least, most = float(known[known > 0].min(initial=math.inf)), float(known.max())
    log = bool(known.min() >= 0 and most > WIDE * least)
    axis = value_axis(feature, log=log)
    ticks = {"tickvals": list(axis.ticks), "ticktext": list(axis.words)} if axis.ticks else {}
    if not log:
        return _Axis(columns, {"title": axis.title, "range": _room(float(known.min()), most), **ticks})
    zero = bool((known <= 0).any())
    edge = least / 2 if zero else least
    ticks = ticks or {"dtick": 1}  # decades: of those between, Plotly writes the first digit alone
    look = {"title": axis.title, "type": "log", "range": _room(math.log10(edge), math.log10(most)), **ticks}
    return _Axis(columns, look, log, edge, zero)


def _room(low: float, high: float) -> list[float]:
    """Return the range of an axis with room for the words at the right."""
    span = (high - low) or 1.0
    return [low - 0.03 * span, high + ROOM_FOR_WORDS * span]


def _figure(table: pd.DataFrame, feature: str, axis: _Axis) -> go.Figure:
    rows: Any = table.itertuples()
    return figure_of(
        [
            shapes.box(
                plotly_text(row.name),
                [max(getattr(row, column), axis.least) for column in axis.columns],
                **axis.more(row),
                colour=OUTLIER_COLOUR if row.profile == OUTLIERS else COLOURS[0],
                line={"width": 1 if row.profile == OUTLIERS else 2},
                fillcolor="rgba(0,0,0,0)" if row.profile == OUTLIERS else None,
                hovertext=spread_words(feature, plotly_text(row.name), row.size, row.raw_median, _sigma(row.std)),
            )
            for row in rows
            if math.isfinite(row.std)
        ],
        x={**axis.look, "zeroline": False},
        y={
            "autorange": "reversed",
            "categoryorder": "array",
            "categoryarray": [plotly_text(name) for name in table["name"]],
            "showgrid": False,
        },
        height=rows_height(len(table)),
    )


def _sigma(value: float) -> str:
    """Return a standard deviation in scaled units; what rounding left of equal values is 0."""
    return "0" if abs(value) < ROUNDING else f"{value:.3g}"


def _axis(feature: str) -> str:
    text = label(feature)
    return f"{text[:1].upper()}{text[1:]} (scaled units)"


def _extremes(table: pd.DataFrame) -> dict[int, str]:
    """Return row -> words for the smallest, the mean and the largest standard deviation among the profiles."""
    spread: NDArray[np.float64] = table["std"].where(table["profile"] != OUTLIERS).to_numpy(dtype=np.float64)
    if not np.isfinite(spread).any():
        return {}
    mean = float(np.nanmean(spread))
    words: dict[int, str] = {}
    for position, text in (
        (int(np.nanargmin(np.abs(spread - mean))), f"typical σ {_sigma(mean)}"),
        (int(np.nanargmin(spread)), f"smallest σ {_sigma(np.nanmin(spread))}"),
        (int(np.nanargmax(spread)), f"largest σ {_sigma(np.nanmax(spread))}"),
    ):
        words[position] = text
    return words


def _annotate(figure: go.Figure, table: pd.DataFrame, position: int, words: str, axis: _Axis) -> None:
    """Write words beside a box, at the side with more room."""
    ends = [max(float(table.iloc[position][column]), axis.least) for column in (axis.columns[0], axis.columns[-1])]
    first, last = map(math.log10, ends) if axis.log else ends
    low, high = axis.look["range"]
    left = first - low > high - last
    figure.add_annotation(
        x=first if left else last,
        y=plotly_text(table["name"].iloc[position]),
        text=words,
        showarrow=False,
        xanchor="right" if left else "left",
        xshift=-8 if left else 8,
        font={"size": 12},
        name=WIDE_ONLY,
    )


def _boxes_takeaway(inside: pd.DataFrame, feature: str) -> str:
    if inside.empty:
        return f"No profile was found, so {label(feature)} cannot be compared."
    inside = inside[inside["std"].notna()]
    if inside.empty:
        return f"No run in a profile has a value of {label(feature)}."
    tightest, widest = inside.iloc[int(inside["std"].argmin())], inside.iloc[int(inside["std"].argmax())]
    ends = ((str(one["name"]), float(one["raw_median"])) for one in (tightest, widest))
    return spread_sentence(feature, *ends)


MOST_NAMED = 24
"""Up to here every value has its name, also on a phone; of more, Plotly names as many as there is room for."""
BY = ("profile", "value")
_WORDS = {"profile": "of the profile's runs", "value": "of the value's runs"}


def metadata_heatmap(fit: ProfileFit, names: Mapping[int, str], field: str, by: str = "profile") -> Chart:
    """Return shares per profile (each line adds up to 1) or per value (each column does)."""
    heatmap = _outliers_last(_of_field(fit, field))
    share = _shares(heatmap.counts, by)
    lines = [shortened(names.get(int(profile), "")) for profile in heatmap.profiles]
    kept = list(heatmap.values)
    values = distinct([shortened(value, 24) for value in (task_labels(kept) if field == TASK_COLUMN else kept)])
    figure = figure_of(
        [
            shapes.heat(
                share,
                [plotly_text(value) for value in values],
                [plotly_text(line) for line in lines],
                hover=f"%{{y}}, %{{x}}: %{{z:.1%}} {_WORDS[by]}, %{{customdata:,}} runs",
                customdata=heatmap.counts,
                colorscale=LIGHT_SCALE,
                zmin=0,
                zmax=1,
                colorbar={
                    **{"title": {"text": "share"}, "tickformat": ".0%", "orientation": "h", "thickness": 10},
                    **{"x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "len": 0.6},
                },
            )
        ],
        x={"title": begun(label(field)), "showgrid": False, "zeroline": False},
        y={"autorange": "reversed", "showgrid": False, "zeroline": False},
        height=rows_height(len(lines)) + 60,
    )
    if len(values) <= MOST_NAMED:
        figure.update_xaxes(dtick=1)
    return Chart(
        name=f"metadata-{field}",
        figure=figure,
        takeaway=_heatmap_takeaway(heatmap),
        shows=f"Heat map of {label(field)} against {len(lines)} groups, as shares {_WORDS[by]}.",
        data=pd.DataFrame(heatmap.counts, lines, pd.Index(values, name=field)).rename_axis("name").reset_index(),
        note=rests_on(
            fit,
            f"Shares {_WORDS[by]}; the table holds the runs. The last column may pool rarer values.",
        ),
    )


def _of_field(fit: ProfileFit, field: str) -> Heatmap:
    return next(heatmap for heatmap in fit.heatmaps if heatmap.field == field)


def _outliers_last(heatmap: Heatmap) -> Heatmap:
    order = np.argsort(heatmap.profiles == OUTLIERS, kind="stable")
    return replace(heatmap, profiles=heatmap.profiles[order], counts=heatmap.counts[order])


def _shares(counts: NDArray[np.int64], by: str) -> NDArray[np.float64]:
    total = counts.sum(axis=1 if by == "profile" else 0, keepdims=True)
    shares: NDArray[np.float64] = counts / np.maximum(total, 1)
    return shares


def _heatmap_takeaway(heatmap: Heatmap) -> str:
    inside = [i for i, profile in enumerate(heatmap.profiles) if profile != OUTLIERS]
    if not inside:
        return "No profile was found."
    share = _shares(heatmap.counts, "profile")
    pure = sum(bool(share[i].max(initial=0) >= PURE_FROM) for i in inside)
    return pure_sentence(pure, len(inside), heatmap.field)
