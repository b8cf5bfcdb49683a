"""What a clustering found, drawn: sizes, silhouettes, arrivals and the tree; names and orders of profiles."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.answers.profiles import (
    arrivals_sentence,
    rests_on,
    runs_of,
    silhouettes_note,
    size_words,
    sizes_sentence,
    starts_by_day,
)
from workprof.charts import shapes
from workprof.charts.shapes import Chart, drawn_once, figure_of
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, rows_height
from workprof.core.words import plotly_text, shortened
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import OUTLIERS, shown_names
from workprof.profiles.summary import ProfileCard
from workprof.profiles.tree import CondensedTree
from workprof.store.reports import ProfileNote

ORDERS = ("std", "median", "size")


def profile_names(fit: ProfileFit, notes: Mapping[int, ProfileNote] | None = None) -> dict[int, str]:
    """Return label -> 'bert · worker (P7)', 'given name (P7)' or 'Unclustered'; `notes`: as they are by now."""
    given = fit.given_names if notes is None else {label: note.name for label, note in notes.items()}
    return shown_names(fit.cards, fit.typical_names, given)


def groups(fit: ProfileFit) -> NDArray[np.int64]:
    """Return the labels with their outliers last: (n_groups,)."""
    labels = np.array([card.profile for card in fit.cards], dtype=np.int64)
    return np.concatenate([np.sort(labels[labels != OUTLIERS]), labels[labels == OUTLIERS]])


def sizes(fit: ProfileFit) -> dict[int, int]:
    """Return label -> rows."""
    return {card.profile: card.size for card in fit.cards}


LABEL_WORDS = {"one metadata cell": "single workload and task", "spike": "fixed-length runs"}
"""Label of a profile in a record -> as people read it, where that is another one."""


def size_bars(fit: ProfileFit, names: Mapping[int, str]) -> Chart:
    """Return one bar per profile, largest first, outliers last."""
    cards = sorted(fit.cards, key=lambda card: (card.profile == OUTLIERS, -card.size))
    table = pd.DataFrame(
        {
            "profile": [card.profile for card in cards],
            "name": [shortened(names.get(card.profile, "")) for card in cards],
            "rows": [card.size for card in cards],
            "share": [card.share for card in cards],
        }
    )
    figure = figure_of(
        [_sizes_bars(table, cards)],
        x={"title": "Runs", "range": [0, 1.5 * max(table["rows"], default=1)], "tickformat": ","},
        y={"autorange": "reversed", "showgrid": False},
        height=rows_height(len(table)),
    )
    return Chart(
        name="profile-sizes",
        figure=figure,
        takeaway=sizes_sentence(fit, names),
        shows=f"Bars of the runs of {len(table)} groups, largest first, unclustered last.",
        data=table,
        note=rests_on(fit, f"{runs_of('All', fit.scores.n_rows)}, unclustered ones included."),
    )


def _sizes_bars(table: pd.DataFrame, cards: Sequence[ProfileCard]) -> dict[str, Any]:
    return shapes.bars(
        table["rows"],
        [plotly_text(name) for name in table["name"]],
        text=[size_words(card) for card in cards],
        colour=[OUTLIER_COLOUR if profile == OUTLIERS else COLOURS[0] for profile in table["profile"]],
        hover="%{y}: %{text}",
    )


QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


def silhouette_boxes(fit: ProfileFit, names: Mapping[int, str]) -> Chart:
    """Return one box per profile, best median first, outliers last."""
    table = _silhouettes_table(fit, names)
    rows: Any = table.dropna(subset=["p50"]).itertuples()
    figure = figure_of(
        [
            shapes.box(
                plotly_text(row.name),
                (row.p05, row.p25, row.p50, row.p75, row.p95),
                colour=OUTLIER_COLOUR if row.profile == OUTLIERS else COLOURS[0],
                fillcolor="rgba(0,0,0,0)" if row.profile == OUTLIERS else None,
                hovertext=runs_of(plotly_text(row.name), row.n),
            )
            for row in rows
        ],
        x={"title": "Silhouette (−1 to 1, no unit)", "range": [-1.03, 1.03]},
        y={"autorange": "reversed", "showgrid": False},
        height=rows_height(len(table)),
    )
    return Chart(
        name="silhouettes",
        figure=figure,
        takeaway=_silhouettes_takeaway(table),
        shows=f"Box plots of the silhouette of {len(table)} groups, best first, unclustered last.",
        data=table,
        note=silhouettes_note(fit),
    )


def _silhouettes_table(fit: ProfileFit, names: Mapping[int, str]) -> pd.DataFrame:
    lines = []
    for profile in groups(fit):
        values = fit.silhouettes[fit.labels == profile]
        values = values[np.isfinite(values)]
        quantiles = np.quantile(values, QUANTILES) if values.size else np.full(len(QUANTILES), np.nan)
        lines.append([int(profile), shortened(names.get(int(profile), "")), values.size, *quantiles])
    columns = ["profile", "name", "n", *(f"p{round(q * 100):02d}" for q in QUANTILES)]
    table = pd.DataFrame(lines, columns=columns)
    table["outliers"] = table["profile"] == OUTLIERS
    ordered = table.sort_values(["outliers", "p50"], ascending=[True, False], kind="stable")
    return ordered.drop(columns="outliers").reset_index(drop=True)


def _silhouettes_takeaway(table: pd.DataFrame) -> str:
    inside = table[(table["profile"] != OUTLIERS) & table["p50"].notna()]
    if inside.empty:
        return "The silhouette is undefined: it needs at least two profiles."
    weak = int((inside["p50"] < 0).sum())
    worst = inside.iloc[-1]
    tail = f"; {weak} of {len(inside)} have a median below 0" if weak else ""
    return f"{worst['name']} is the least separated profile (median silhouette {worst['p50']:.2f}){tail}."


HEIGHT_PX = 170
LEFT, RIGHT = (0.0, 0.57), (0.71, 1.0)
"""Parts of the width that the hours and the weekdays take."""


@drawn_once
def arrivals(card: ProfileCard, name: str, *, dates: bool) -> Chart:
    """Return bars of starts by hour (left) and by weekday (right); of a clock without `dates` by day of seven."""
    return Chart(
        name=f"arrivals-{card.profile}",
        figure=_arrivals_bars(card, dates=dates),
        takeaway=arrivals_sentence(card, dates=dates),
        shows=f"Starts of {plotly_text(name)} by hour of day and by {'weekday' if dates else 'day of seven'}.",
        data=pd.DataFrame({"hour": np.arange(24), "rows": card.arrivals_by_hour}),
    )


def _arrivals_bars(card: ProfileCard, *, dates: bool) -> go.Figure:
    """Return the figure, made as one specification: a page shows a dozen, and Plotly checks every update anew."""
    style = {"color": OUTLIER_COLOUR if card.profile == OUTLIERS else COLOURS[0]}
    by_hour = {"x": np.arange(24), "y": card.arrivals_by_hour, "hovertemplate": "%{x} h: %{y:,} runs<extra></extra>"}
    days, counts = starts_by_day(card, dates=dates)
    by_weekday = {"x": days, "y": counts, "hovertemplate": "%{x}: %{y:,} runs<extra></extra>"}
    drawn = {"type": "bar", "marker": style}
    titles = {"title": {"text": "Weekday" if dates else "Day of 7"}}
    ends = [days[at].removeprefix("day ") for at in (0, 3, 6)]  # the axis says that they are days
    weekdays = titles | {"tickangle": 0, "tickvals": [0, 3, 6], "ticktext": ends}
    spec = {
        "data": [
            {**drawn, **by_hour, "xaxis": "x", "yaxis": "y"},
            {**drawn, **by_weekday, "xaxis": "x2", "yaxis": "y2"},
        ],
        "layout": {
            "xaxis": {
                "anchor": "y",
                "domain": LEFT,
                "dtick": 6,
                "title": {"text": "Hour of start"},
                "automargin": True,
            },
            "yaxis": {"anchor": "x", "nticks": 3, "title": {"text": "Runs"}, "automargin": True},
            "xaxis2": {"anchor": "y2", "domain": RIGHT, **weekdays},
            "yaxis2": {"anchor": "x2", "nticks": 3},
            "height": HEIGHT_PX,
            "margin": {"l": 8, "r": 8, "t": 8, "b": 4},
            "bargap": 0.15,
            "showlegend": False,
            "uirevision": "keep",
            "hoverlabel": {"align": "left"},
        },
    }
    return go.Figure(spec)


Floats = NDArray[np.float64]
NAMED_SHARE = 0.025
"""Narrower icicles have no room for a name; hovering tells it."""
MOST_DECADES = 3
"""An axis over more powers of ten has a number at each of them only."""
ROOT_ABOVE = 1.5
"""The root exists at any distance; it is drawn from this many times the largest split."""


def condensed_tree(fit: ProfileFit, names: Mapping[int, str]) -> Chart | None:
    """Return the tree as icicles (width = rows, height = range of distance), or None where the method has no tree."""
    if fit.tree is None or fit.tree.cluster.size == 0:
        return None
    table = _tree_table(fit.tree, names)
    figure = figure_of([_icicles(table)], x="Runs", y="Distance (scaled units, log)", height=520)
    _distance_ticks(figure, table)
    figure.update_xaxes(showgrid=False, zeroline=False)
    _place_names(figure, table[(table["profile"] != OUTLIERS) & (table["size"] > NAMED_SHARE * table["size"].max())])
    chosen = int((table["profile"] != OUTLIERS).sum())
    return Chart(
        name="condensed-tree",
        figure=figure,
        takeaway=f"HDBSCAN tree: {chosen} of {len(table)} branches are profiles; taller = more stable.",
        shows=f"Condensed tree of {len(table)} branches as icicles hanging from the root; {chosen} are profiles.",
        data=table.drop(columns=["top", "bottom", "left"]),
        note=rests_on(
            fit, "Runs part at the distance where an icicle ends. Grey branches were split further or dissolved."
        ),
    )


def _tree_table(tree: CondensedTree, names: Mapping[int, str]) -> pd.DataFrame:
    birth, death = _distances(tree)
    profile = tree.selected.astype(int)
    return pd.DataFrame(
        {
            "branch": tree.cluster,
            "parent": tree.parent,
            "profile": profile,
            "name": [shortened(names.get(int(p), "")) if p != OUTLIERS else "" for p in profile],
            "size": tree.size,
            "distance_birth": birth,
            "distance_death": death,
            "top": np.log10(birth),
            "bottom": np.log10(death),
            "left": _lefts(tree),
        }
    )


def _distances(tree: CondensedTree) -> tuple[Floats, Floats]:
    """Return birth and death as distances (1 / lambda), the infinite ones cut at the figure's edge."""
    with np.errstate(divide="ignore", invalid="ignore"):
        both = 1 / np.stack([tree.lambda_birth, tree.lambda_death]).astype(np.float64)
    finite = both[np.isfinite(both) & (both > 0)]
    low, high = (finite.min(), finite.max()) if finite.size else (1.0, 1.0)
    cut: Floats = np.clip(np.nan_to_num(both, nan=low, posinf=high * ROOT_ABOVE), low / ROOT_ABOVE, high * ROOT_ABOVE)
    return cut[0], cut[1]


def _lefts(tree: CondensedTree) -> Floats:
    """Return the left edge of every branch: the children of a branch side by side in its middle."""
    place = {int(cluster): i for i, cluster in enumerate(tree.cluster)}
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(tree.parent):
        children.setdefault(int(parent), []).append(i)
    left = np.zeros(tree.cluster.size)
    for i in np.argsort(
        [tree.lambda_birth[i] if int(p) in place else -1.0 for i, p in enumerate(tree.parent)], kind="stable"
    ):
        below = children.get(int(tree.cluster[i]), [])
        start = left[i] + (tree.size[i] - sum(tree.size[j] for j in below)) / 2
        for j in below:
            left[j] = start
            start += tree.size[j]
    return left


def _icicles(table: pd.DataFrame) -> dict[str, Any]:
    colours = [OUTLIER_COLOUR if profile == OUTLIERS else COLOURS[0] for profile in table["profile"]]
    return shapes.columns(
        table["left"],
        table["top"] - table["bottom"],
        width=table["size"],
        offset=0,
        base=table["bottom"],
        colour=None,
        marker={
            "color": colours,
            "opacity": [0.35 if p == OUTLIERS else 1.0 for p in table["profile"]],
            "line": {"width": 0.5, "color": "rgba(127,127,127,0.8)"},
        },
        customdata=table[["size", "distance_birth", "distance_death"]].assign(
            name=[plotly_text(name) for name in table["name"]]
        ),
        hover="%{customdata[3]} %{customdata[0]:,} runs<br>distance %{customdata[1]:.3g} to %{customdata[2]:.3g}",
    )


def _place_names(figure: go.Figure, chosen: pd.DataFrame) -> None:
    for profile, middle, bottom in zip(
        chosen["profile"], chosen["left"] + chosen["size"] / 2, chosen["bottom"], strict=True
    ):
        figure.add_annotation(x=middle, y=bottom, text=f"P{profile}", showarrow=False, yshift=-9)


def _distance_ticks(figure: go.Figure, table: pd.DataFrame) -> None:
    low, high = float(table["bottom"].min()), float(table["top"].max())
    ticks = round_ones(low, high)
    figure.update_yaxes(
        tickvals=ticks,
        ticktext=[f"{10**tick:.2g}" for tick in ticks],
        range=[low - 0.08 * (high - low or 1), high],
    )


def round_ones(low: float, high: float) -> list[float]:
    """Return the logarithms of the round numbers between two logarithms; both ends where there is none."""
    parts = (1, 2, 5) if high - low <= MOST_DECADES else (1,)
    every = [ten + math.log10(part) for ten in range(math.floor(low), math.ceil(high) + 1) for part in parts]
    return [place for place in every if low <= place <= high] or [low, high]
