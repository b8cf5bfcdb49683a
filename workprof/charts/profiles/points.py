"""The rows on a flat map (two principal components of the scaled features), coloured by profile."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from workprof.charts.profiles.overview import groups, note
from workprof.charts.profiles.selection import Selection, chosen
from workprof.charts.shapes import Chart
from workprof.charts.text import plotly_text
from workprof.charts.theme import OUTLIER_COLOUR, OUTLIERS, ink_on, laid_out, mark
from workprof.profiles.fit import ProfileFit
from workprof.units import format_share

MOST_POINTS = 20_000
MOST_SVG_POINTS = 6_000
FEWEST_PER_PROFILE = 20


def profile_map(
    fit: ProfileFit,
    names: Mapping[int, str],
    most_points: int = MOST_POINTS,
    selection: Selection | None = None,
) -> Chart:
    """Return a scatter of at most about `most_points` rows, stratified by profile; customdata holds the row ids.

    Args:
        fit: the clustering.
        names: of its profiles.
        most_points: about how many rows are drawn.
        selection: is outlined, and the rows outside it are faint; None = the map as it is.
    """
    shown = stratified(fit.labels, most_points)
    labels, xy, row_ids = fit.labels[shown], fit.map_xy[shown], fit.row_ids[shown]
    figure = go.Figure()
    trace = go.Scattergl if shown.size > MOST_SVG_POINTS else go.Scatter
    for profile in groups(fit)[::-1]:
        mine = labels == profile
        name = plotly_text(names.get(int(profile), ""))
        figure.add_trace(_points(trace, xy[mine], row_ids[mine], int(profile), name))
        if selection is not None:
            figure.data[-1].selectedpoints = np.flatnonzero(chosen(fit, selection)[shown][mine])
    laid_out(figure, x=_axis(fit, 0), y=_axis(fit, 1), height=560, dragmode="lasso")
    _place_names(figure, labels, xy)
    if selection is not None:
        _outline(figure, selection)
    total = format_share(float(np.sum(fit.map_explained)))
    part = "all" if shown.size == fit.labels.size else "a stratified sample of"
    return Chart(
        name="profile-map",
        figure=figure,
        takeaway=f"Profiles that lie apart differ in their main behaviour; the two axes hold {total} of the variance.",
        alt=f"Scatter of {shown.size:,} rows on two principal components in {fit.scores.n_clusters} profiles; "
        "outliers are open grey circles. The list of profiles below gives the same selection by keyboard.",
        data=pd.DataFrame({"row_id": row_ids, "profile": labels, "component_1": xy[:, 0], "component_2": xy[:, 1]}),
        note=note(fit, f"Shows {part} n = {shown.size:,} of {fit.labels.size:,} rows."),
    )


def stratified(labels: NDArray[np.int64], most: int, seed: int = 0) -> NDArray[np.int64]:
    """Return positions of about `most` rows, each profile by its share but with some rows of the smallest."""
    if labels.size <= most:
        return np.arange(labels.size)
    random = np.random.default_rng(seed)
    profiles = np.unique(labels)
    by_share = max(0, most - FEWEST_PER_PROFILE * profiles.size)
    chosen = []
    for profile in profiles:
        mine = np.flatnonzero(labels == profile)
        wanted = min(mine.size, FEWEST_PER_PROFILE + mine.size * by_share // labels.size)
        chosen.append(random.choice(mine, wanted, replace=False))
    return np.sort(np.concatenate(chosen))


def _points(
    trace: type[go.Scatter], xy: NDArray[np.float64], row_ids: NDArray[np.int64], profile: int, name: str
) -> go.Scatter:
    look = mark(profile)
    return trace(
        x=xy[:, 0],
        y=xy[:, 1],
        mode="markers",
        name=name,
        customdata=row_ids,
        marker={
            "color": look.colour,
            "symbol": look.symbol,
            "size": 5,
            "opacity": 0.45 if profile == OUTLIERS else 0.75,
        },
        hovertemplate=f"{name}, row %{{customdata}}<extra></extra>",
    )


def _place_names(figure: go.Figure, labels: NDArray[np.int64], xy: NDArray[np.float64]) -> None:
    for profile in np.unique(labels):
        if profile == OUTLIERS:
            continue
        x, y = np.median(xy[labels == profile], axis=0)
        figure.add_annotation(
            x=x,
            y=y,
            text=f"<b>P{profile}</b>",
            showarrow=False,
            bgcolor=mark(int(profile)).colour,
            font={"color": ink_on(mark(int(profile)).colour)},
        )


def _outline(figure: go.Figure, selection: Selection) -> None:
    line = {"color": OUTLIER_COLOUR, "width": 2, "dash": "dot"}
    for lasso in selection.lassos:
        corners = "L".join(f"{x},{y}" for x, y in np.reshape(lasso, (-1, 2)))
        figure.add_shape(type="path", path=f"M{corners}Z", line=line)
    for x0, y0, x1, y1 in selection.boxes:
        figure.add_shape(type="rect", x0=x0, y0=y0, x1=x1, y1=y1, line=line)


def _axis(fit: ProfileFit, component: int) -> str:
    explained = format_share(float(fit.map_explained[component]))
    return f"Component {component + 1} ({explained} of the variance)"
