"""hdbscan's own picture of a clustering: its condensed tree, the single linkage tree, and how unusual runs are."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.membership import (
    ADVICE,
    UNUSUAL_FROM,
    linkage_sentence,
    scores_shown,
    tree_sentence,
    tree_shown,
    unusual_sentence,
)
from workprof.charts import shapes
from workprof.charts.shapes import NEUTRAL, Chart, figure_of
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR
from workprof.core.words import counted
from workprof.profiles.membership import Membership

TREE_PX, LINKAGE_PX, SCORES_PX = 460, 380, 320
BINS = 20
ROOM = 1.06
"""Of the depth of a tree, so that the names below its branches are inside."""


def runs_frame(result: Membership) -> pd.DataFrame:
    """Return one line per run: id, profile, outlier score and its membership in each profile."""
    columns = {"row_id": result.row_ids, "profile": result.labels, "outlier_score": result.outlier_scores}
    weights = {f"membership_p{place}": result.membership[:, place] for place in range(result.membership.shape[1])}
    return pd.DataFrame(columns | weights)


def hdbscan_tree(result: Membership, names: Mapping[int, str]) -> Chart:
    """Return the condensed tree as `hdbscan.plots` draws it: width = runs, downwards = denser."""
    bars = result.branches.bars[np.isfinite(result.branches.bars).all(axis=1)]
    lines = result.branches.lines[np.isfinite(result.branches.lines).all(axis=1)]
    table = pd.DataFrame(bars, columns=["centre", "bottom", "top", "width"])
    deepest = float(table["top"].max()) if len(table) else 1.0
    boxes = np.nan_to_num(result.branches.profiles, posinf=deepest)
    traces = [
        shapes.columns(
            table["centre"],
            table["top"] - table["bottom"],
            base=table["bottom"],
            width=table["width"],
            colour=[COLOURS[0] if _inside(centre, low, boxes) else OUTLIER_COLOUR for centre, low, *_ in bars],
            customdata=table["width"],
            hover="%{customdata:,.0f} runs at density (1 / distance) %{base:.3g}",
        ),
        *(shapes.line(line[[0, 2]], line[[1, 3]], colour=NEUTRAL, width=1) for line in lines),
    ]
    marks = [
        shapes.words(f"P{profile}", x=(left + right) / 2, y=top, yshift=-9)
        for profile, (left, right, _, top) in enumerate(boxes)
    ]
    figure = figure_of(
        traces,
        x={"showticklabels": False, "showgrid": False, "zeroline": False},
        y={"title": "Density (1 / distance)", "range": [ROOM * float(boxes[:, 3].max(initial=deepest)), 0]},
        height=TREE_PX,
        annotations=marks,
    )
    return Chart(
        "hdbscan-condensed-tree",
        figure,
        tree_sentence(result, names),
        tree_shown(result),
        table,
        "As hdbscan.plots.CondensedTree has it: the width of a bar is its number of runs. Blue bars are profiles.",
    )


def _inside(centre: float, low: float, boxes: Any) -> bool:
    return any(left <= centre <= right and bottom <= low <= top for left, right, bottom, top in boxes)


def single_linkage(result: Membership) -> Chart:
    """Return the last merges of the single linkage tree."""
    across, up = result.linkage[:, ::2], result.linkage[:, 1::2]
    gap = np.full((len(across), 1), np.nan)  # the lines of two merges are not joined
    trace = shapes.line(np.hstack([across, gap]).ravel(), np.hstack([up, gap]).ravel(), colour=COLOURS[0], width=1.4)
    return Chart(
        "single-linkage",
        figure_of(
            [trace],
            x={"showticklabels": False, "showgrid": False, "zeroline": False},
            y={"title": "Distance (scaled units)", "range": _of_merges(up[:, 1])},
            height=LINKAGE_PX,
        ),
        linkage_sentence(result),
        f"Dendrogram of the last {counted(len(across), 'merge')} of the single linkage tree.",
        pd.DataFrame(result.linkage, columns=["x0", "y0", "x1", "y1", "x2", "y2", "x3", "y3"]),
        "Mutual-reachability distances, from hdbscan's single_linkage_tree_. Earlier merges are not drawn.",
    )


def _of_merges(heights: Any) -> list[float]:
    """Return the range of an axis that shows where merges lie, not how far they are from 0."""
    low, high = (float(heights.min()), float(heights.max())) if len(heights) else (0.0, 1.0)
    gap = 0.1 * (high - low) or 0.1 * high
    return [max(0.0, low - gap), high + gap]


def outlier_histogram(result: Membership) -> Chart:
    """Return how many runs have which outlier score."""
    counts, edges = np.histogram(result.outlier_scores, bins=BINS, range=(0.0, 1.0))
    table = pd.DataFrame({"from": edges[:-1], "to": edges[1:], "runs": counts})
    unusual = table["from"] >= UNUSUAL_FROM - 1e-9
    trace = shapes.columns(
        (table["from"] + table["to"]) / 2,
        table["runs"],
        width=1 / BINS,
        colour=[COLOURS[1] if one else COLOURS[0] for one in unusual],
        pattern=["/" if one else "" for one in unusual],
        hover="score %{x:.2f}: %{y:,} runs",
    )
    return Chart(
        "outlier-scores",
        figure_of(
            [trace],
            x={"title": "Outlier score (GLOSH, 0 to 1)", "range": [0, 1]},
            y={"title": "Runs", "rangemode": "tozero"},
            height=SCORES_PX,
        ),
        unusual_sentence(result),
        scores_shown(result),
        table,
        ADVICE,
    )
