"""The condensed tree: at which distance groups of rows part, and which of them became profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.charts.profiles.names import note
from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text, shortened
from workprof.charts.theme import OUTLIER_COLOUR, OUTLIERS, laid_out, mark
from workprof.profiles.fit import ProfileFit
from workprof.profiles.tree import CondensedTree

Floats = NDArray[np.float64]
TREE_PX = 520
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
    table = _table(fit.tree, names)
    figure = go.Figure(_icicles(table))
    laid_out(figure, x="Rows, side by side", y="Distance (scaled units, log)", height=520)
    _distance_ticks(figure, table)
    figure.update_xaxes(showgrid=False, zeroline=False)
    _place_names(figure, table[(table["profile"] != OUTLIERS) & (table["size"] > NAMED_SHARE * table["size"].max())])
    chosen = int((table["profile"] != OUTLIERS).sum())
    return Chart(
        name="condensed-tree",
        figure=figure,
        takeaway=f"{chosen} of the {len(table)} branches were selected as profiles; tall icicles persist longest.",
        alt=f"Condensed tree of {len(table)} branches as icicles hanging from the root; {chosen} are profiles.",
        data=table.drop(columns=["top", "bottom", "left"]),
        note=note(
            fit, "Rows part at the distance where an icicle ends. Grey branches were split further or dissolved."
        ),
    )


def _table(tree: CondensedTree, names: Mapping[int, str]) -> pd.DataFrame:
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


def _icicles(table: pd.DataFrame) -> go.Bar:
    marks = [mark(int(profile)) for profile in table["profile"]]
    colours = [
        OUTLIER_COLOUR if p == OUTLIERS else look.colour for p, look in zip(table["profile"], marks, strict=True)
    ]
    return go.Bar(
        x=table["left"],
        width=table["size"],
        offset=0,
        base=table["bottom"],
        y=table["top"] - table["bottom"],
        marker={
            "color": colours,
            "opacity": [0.35 if p == OUTLIERS else 1.0 for p in table["profile"]],
            "line": {"width": 0.5, "color": "rgba(127,127,127,0.8)"},
        },
        customdata=table[["size", "distance_birth", "distance_death"]].assign(
            name=[plotly_text(name) for name in table["name"]]
        ),
        hovertemplate="%{customdata[3]} %{customdata[0]:,} rows<br>distance %{customdata[1]:.3g} to "
        "%{customdata[2]:.3g}<extra></extra>",
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
