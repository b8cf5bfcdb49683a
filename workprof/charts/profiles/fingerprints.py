"""The fingerprints of the profiles: the median of every feature against all runs; runs, duration, memory used."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.answers.profiles import LITTLE, distance_words, fingerprints_note, largest_sentence, rests_on
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, drawn_once, figure_of
from workprof.charts.theme import COLOURS, DIVERGING, SMALL_PX, text_px
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S, compact, format_share
from workprof.core.words import counted, label, plotly_text
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import OUTLIERS, fitted

Floats = NDArray[np.float64]

MOST_ROWS = 40
"""Profiles with a row of their own, the largest; on more no name could be read."""
STRONG = 2.5
"""Standard deviations from which on a colour no longer changes."""
ROW_PX, ABOVE_PX, BELOW_PX, GAP_PX, TICK_PX = 18, 84, 72, 22, 14
CELL_PX = 45
"""From the middle of a cell to its side, on a wide screen."""
SLANT = (math.sin(math.radians(35)), math.cos(math.radians(35)))
"""Height and width of a slanted heading, as shares of its length."""
FEWEST_ROWS = 6
LONGEST_ON_A_PHONE = 19
SELECTED, MARKED = COLOURS[0], COLOURS[1]
BESIDE = 0.14
"""Share of the width that each of the columns beside the cells takes; 0.02 are between them."""

WORDS = {
    "cpu_usage_percent": "CPU",
    "gpu_usage_percent": "GPU",
    "read_bytes": "read",
    "write_bytes": "written",
    "read_count": "reads",
    "write_count": "writes",
}


@drawn_once
def fingerprints(
    fit: ProfileFit,
    names: Mapping[int, str],
    used: Mapping[int, float],
    selected: int | None = None,
    *,
    narrow: bool = False,
) -> Chart:
    """Return one row per profile, alike ones beside each other: cells, then runs, duration and share of memory used.

    `used` is memory used over memory requested by label, weighted by time; empty where a trace does not say. The label
    `selected` is outlined. `narrow` is for a phone: cells alone, shorter names.
    """
    table = _table(fit, names, used)
    features = list(fit.features) if len(table) else []
    cells = _cells(fit, table["profile"].to_numpy(dtype=np.int64), features)
    columns = [] if narrow else [one for one in _COLUMNS if table[one[0]].notna().any()]
    width = 1 - len(columns) * (BESIDE + 0.02)
    traces = [*_heat(table, cells, features, narrow=narrow)]
    layout: dict[str, Any] = {}
    words = []
    for place, (_, title, draw) in enumerate(columns, start=2):
        start = width + 0.02 + (place - 2) * (BESIDE + 0.02)
        axis, trace = draw(table, selected)
        traces.append(trace | {"xaxis": f"x{place}", "yaxis": "y"})
        layout[f"xaxis{place}"] = axis | {"domain": [start, start + BESIDE], "anchor": "y", **_QUIET}
        words.append(shapes.words(title, x=start, y=1, xref="paper", yref="paper", **_HEADING))
    longest = LONGEST_ON_A_PHONE if narrow else 48
    rows = [fitted(name, longest) for name in table["name"]]
    heads = [_feature(name) for name in features]
    head_px = max(map(text_px, heads), default=0.0)
    above = max(ABOVE_PX, math.ceil(head_px if narrow else head_px * SLANT[0] + SMALL_PX) + GAP_PX)
    figure = figure_of(
        traces,
        x={
            "domain": [0, width],
            "side": "top",
            "tickvals": list(range(len(features))),
            "ticktext": heads,
            "tickangle": -90 if narrow else -35,
            "range": [-0.5, max(len(features), 1) - 0.5],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "automargin": False,
            "title": None,
        },
        y={
            "tickvals": list(range(len(table))),
            "ticktext": [
                _bold(plotly_text(name), profile == selected)
                for name, profile in zip(rows, table["profile"], strict=True)
            ],
            "range": [len(table) - 0.5, -0.5],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "automargin": False,
            "title": None,
        },
        height=above + BELOW_PX + ROW_PX * max(len(table), FEWEST_ROWS),
        top=above,
        bargap=0.3,
        dragmode=False,
        hoverdistance=CELL_PX,
        annotations=words,
        shapes=_outline(table, selected),
        **layout,
    )
    widest = max(map(text_px, rows), default=0.0)  # margins that Plotly has to find are drawn twice
    beside = 8 if columns or narrow else GAP_PX + math.ceil(head_px * SLANT[1])
    figure.update_layout(margin={"b": BELOW_PX, "l": TICK_PX + math.ceil(widest), "r": beside})
    return Chart(
        name="profile-fingerprints-narrow" if narrow else "profile-fingerprints",
        figure=figure,
        takeaway=_takeaway(table, fit),
        shows=f"Heat map of {counted(len(features), 'feature')} of {counted(len(table), 'profile')}, similar ones "
        "beside each other: red = above the average run, blue = below"
        + (f"; then {', '.join(title.lower() for _, title, _ in columns)}." if columns else "."),
        data=pd.concat([table, pd.DataFrame(cells, columns=[f"{name}_sd" for name in features])], axis=1),
        note=rests_on(fit, fingerprints_note(fit, len(table), memory=bool(table["memory_used_share"].notna().any()))),
    )


def _table(fit: ProfileFit, names: Mapping[int, str], used: Mapping[int, float]) -> pd.DataFrame:
    cards = sorted((card for card in fit.cards if card.profile != OUTLIERS), key=lambda card: -card.size)[:MOST_ROWS]
    labels = np.array([card.profile for card in cards], dtype=np.int64)
    order = similar_order(_cells(fit, labels, fit.features))
    return pd.DataFrame(
        {
            "profile": labels[order],
            "name": [names.get(int(label), f"P{label}") for label in labels[order]],
            "runs": [cards[i].size for i in order],
            "share": [cards[i].share for i in order],
            "duration_p50_s": [float(cards[i].duration_quantiles_s[2]) for i in order],
            "memory_used_share": [float(used.get(int(label), math.nan)) for label in labels[order]],
        }
    )


def _cells(fit: ProfileFit, labels: NDArray[np.int64], features: Any) -> Floats:
    """Return the medians of profiles as standard deviations from the mean of all runs: (n_profiles, n_features)."""
    spread = fit.spread
    sizes = {card.profile: card.size for card in fit.cards}
    runs = np.array([sizes.get(int(profile), 0) for profile in spread.profiles], dtype=np.float64)[:, None]
    weights = np.where(np.isnan(spread.mean), 0.0, runs)  # a profile without a value of a feature has no part in it
    total = np.maximum(weights.sum(axis=0), 1.0)
    mean = np.nansum(weights * spread.mean, axis=0) / total
    between = np.nansum(weights * (spread.std**2 + (spread.mean - mean) ** 2), axis=0) / total
    rows = {int(profile): i for i, profile in enumerate(spread.profiles)}
    chosen = spread.median[[rows[int(profile)] for profile in labels]].reshape(len(labels), len(features))
    with np.errstate(divide="ignore", invalid="ignore"):
        cells: Floats = np.where(between > 0, (chosen - mean) / np.sqrt(between), 0.0)
    return cells


def similar_order(cells: Floats) -> list[int]:
    """Return the order of rows in which neighbours are most alike, beginning at the end with the lower row.

    Source: Bar-Joseph, Gifford and Jaakkola, Fast optimal leaf ordering for hierarchical clustering (2001), on the
    tree of average distances.
    """
    if len(cells) < 3 or not cells.shape[1]:
        return list(range(len(cells)))
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering  # noqa: PLC0415  slow to import
    from scipy.spatial.distance import pdist  # noqa: PLC0415  likewise

    distances = pdist(np.clip(np.nan_to_num(cells), -STRONG, STRONG))
    order: list[int] = leaves_list(optimal_leaf_ordering(linkage(distances, "average"), distances)).tolist()
    return order if order[0] < order[-1] else order[::-1]


def _heat(table: pd.DataFrame, cells: Floats, features: list[str], *, narrow: bool) -> list[dict[str, Any]]:
    """Return the cells, and over them marks that are not seen: Plotly can select those alone."""
    places = list(range(len(features)))
    heat = shapes.heat(
        np.clip(cells, -STRONG, STRONG),
        places,
        list(range(len(table))),
        hover=None,
        hoverinfo="skip",
        colorscale=DIVERGING,
        zmin=-STRONG,
        zmax=STRONG,
        colorbar={
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "y": 0,
            "yanchor": "top",
            "len": 0.9 if narrow else 0.4,
            "thickness": 8,
            "tickvals": [-2, -1, 0, 1, 2],
            "title": {"text": "standard deviations from the average run", "side": "bottom", "font": {"size": 11}},
        },
    )
    words = [
        distance_words(plotly_text(name), _feature(feature), float(value), int(runs))
        for name, runs, line in zip(table["name"], table["runs"], cells, strict=True)
        for feature, value in zip(features, line, strict=True)
    ]
    marks = shapes.unseen(
        places * len(table),
        np.repeat(np.arange(len(table)), len(features)),
        words,
        np.repeat(table["profile"].to_numpy(), len(features)),
    )
    return [heat, marks]


_UNMARKED: dict[str, Any] = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}
"""A click chooses a row, which is outlined; the mark itself does not change."""
_QUIET: dict[str, Any] = {
    "automargin": False,
    "showticklabels": False,
    "showgrid": False,
    "zeroline": False,
    "fixedrange": True,
}
_HEADING: dict[str, Any] = {"xanchor": "left", "yanchor": "bottom", "yshift": 4, "size": 12}


def _bars(table: pd.DataFrame, values: Any, texts: list[str], colours: list[str]) -> dict[str, Any]:
    return shapes.bars(
        values,
        list(range(len(table))),
        text=texts,
        textfont={"size": 11},
        constraintext="none",
        colour=colours,
        hover=None,
        hovertext=[f"{plotly_text(name)}: {text}" for name, text in zip(table["name"], texts, strict=True)],
        hoverinfo="text",
        customdata=table["profile"],
        **_UNMARKED,
    )


def _runs(table: pd.DataFrame, selected: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    texts = [f"{runs:,}" if runs < 100_000 else compact(runs) for runs in table["runs"]]
    colours = [SELECTED if profile == selected else NEUTRAL for profile in table["profile"]]
    return {"range": [0, 1.7 * float(table["runs"].max())]}, _bars(table, table["runs"], texts, colours)


def _durations(table: pd.DataFrame, selected: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    logs = np.log10(np.maximum(table["duration_p50_s"].to_numpy(dtype=np.float64), 1e-3))
    low, high = float(np.nanmin(logs)), float(np.nanmax(logs))
    room = max(high - low, 0.5)
    texts = [_short(value) for value in table["duration_p50_s"]]
    trace = shapes.points(
        logs,
        list(range(len(table))),
        colour=[SELECTED if profile == selected else NEUTRAL for profile in table["profile"]],
        size=7,
        mode="markers+text",
        text=texts,
        textposition="middle right",
        textfont={"size": 11},
        hover=None,
        hovertext=[
            f"{plotly_text(name)}: half end within {text}" for name, text in zip(table["name"], texts, strict=True)
        ],
        hoverinfo="text",
        customdata=table["profile"],
        cliponaxis=False,
        **_UNMARKED,
    )
    return {"range": [low - 0.1 * room, high + 0.9 * room]}, trace


def _used(table: pd.DataFrame, _: int | None) -> tuple[dict[str, Any], dict[str, Any]]:
    shares = table["memory_used_share"]
    texts = [format_share(share, 0) if math.isfinite(share) else "–" for share in shares]
    colours = [MARKED if share < LITTLE else NEUTRAL for share in shares]
    return {"range": [0, 1.5 * max(1.0, float(shares.max()))]}, _bars(table, shares.fillna(0), texts, colours)


_COLUMNS = (
    ("runs", "Runs", _runs),
    ("duration_p50_s", "Median duration", _durations),
    ("memory_used_share", "Memory used", _used),
)


def _short(seconds: float) -> str:
    """Return a duration in one unit: '13 s', '36 min', '3.9 h', '2.1 d'."""
    if not math.isfinite(seconds):
        return "–"
    for unit, size in (("d", DAY_S), ("h", HOUR_S), ("min", MINUTE_S)):
        if seconds >= 1.5 * size:
            number = seconds / size
            return f"{number:.0f} {unit}" if unit == "min" or number >= 10 else f"{number:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{seconds:.2g} s"


def _feature(name: str) -> str:
    return plotly_text(WORDS.get(name) or label(name), 18)


def _bold(text: str, bold: bool) -> str:
    return f"<b>{text}</b>" if bold else text


def _outline(table: pd.DataFrame, selected: int | None) -> list[dict[str, Any]]:
    line = {"color": SELECTED, "width": 2}
    return [
        {"type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": i - 0.5, "y1": i + 0.5, "line": line}
        for i in np.flatnonzero(table["profile"] == selected).tolist()
    ]


def _takeaway(table: pd.DataFrame, fit: ProfileFit) -> str:
    if table.empty:
        return "Every run is unclustered: no group was dense enough."
    shares = table["memory_used_share"].to_numpy(dtype=np.float64)
    if np.isnan(shares).all():
        first = table.iloc[int(table["runs"].argmax())]
        return largest_sentence(str(first["name"]), int(first["runs"]))
    least = table.iloc[int(np.nanargmin(shares))]
    more = f" of the {len(table)} largest profiles" if fit.scores.n_clusters > len(table) else ""
    share = format_share(float(least["memory_used_share"]))
    return f"{least['name']} uses the smallest share of its requested memory{more}: {share}."
