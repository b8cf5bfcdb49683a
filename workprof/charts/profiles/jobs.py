"""Jobs of a clustering on a map, and the jobs that are selected there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workprof.answers.profiles import drawn_note, map_sentence
from workprof.charts import shapes
from workprof.charts.profiles.overview import groups
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.theme import OUTLIER_COLOUR, ink_on, mark
from workprof.core.units import format_share
from workprof.core.words import plotly_text
from workprof.profiles.fit import ProfileFit
from workprof.profiles.names import OUTLIERS

Points = NDArray[np.float64]  # (n, 2)

MOST_CORNERS = 60
"""Of a lasso: the corners that change its area least are left out beyond it."""

DIGITS = 5
LONGEST = 2_000
"""Characters of a selection that a link holds."""

_PART, _NUMBER = "~", "_"
_OUTLINES, _IDS = ("l", "b"), ("r", "p", "h")


@dataclass(frozen=True)
class Selection:
    """How rows were chosen; rows in any outline, any of `rows` and all of `profiles` belong to it."""

    lassos: tuple[tuple[float, ...], ...] = ()  # polygons, each x1, y1, x2, y2 ... in coordinates of the map
    boxes: tuple[tuple[float, ...], ...] = ()  # x0, y0, x1, y1 each
    rows: tuple[int, ...] = ()  # row ids that were clicked one by one
    profiles: tuple[int, ...] = ()  # labels, chosen from the list
    hidden: tuple[int, ...] = ()  # labels that the outlines leave out: they were switched off in the legend

    def text(self) -> str:
        """Return the selection as the address holds it; '' = nothing is selected."""
        parts = [("l", lasso) for lasso in self.lassos] + [("b", box) for box in self.boxes]
        parts += [("r", self.rows), ("p", self.profiles), ("h", self.hidden)]
        return _PART.join(kind + _NUMBER.join(map(_number, values)) for kind, values in parts if values)


def read_selection(text: str) -> Selection | None:
    """Return the selection of a text, or None where the text is none."""
    result: dict[str, list[tuple[float, ...]]] = {kind: [] for kind in (*_OUTLINES, *_IDS)}
    try:
        for part in text.split(_PART) if text else ():
            result[part[:1]].append(tuple(float(number) for number in part[1:].split(_NUMBER)))
        ids = [tuple(_whole(number) for values in result[kind] for number in values) for kind in _IDS]
    except (KeyError, ValueError, OverflowError):
        return None
    lassos, boxes = (tuple(result[kind]) for kind in _OUTLINES)
    whole = all(len(lasso) >= 6 and len(lasso) % 2 == 0 for lasso in lassos) and all(len(box) == 4 for box in boxes)
    finite = all(math.isfinite(number) for outline in (*lassos, *boxes) for number in outline)
    return Selection(lassos, boxes, *ids) if whole and finite else None


def drawn_selection(event: Mapping[str, Any], fit: ProfileFit, drawn: NDArray[np.int64]) -> Selection:
    """Return what a drawing on the map chose.

    `event` has 'points' (with row ids as customdata), 'lasso' and 'box'; `drawn` are the positions of the map's rows.
    """
    picked = [_row_id(point) for point in event.get("points", ()) if point.get("customdata") is not None]
    lassos = tuple(_rounded(_simplified(_corners(lasso))) for lasso in event.get("lasso", ()))
    boxes = tuple(_rounded(_sorted_box(_corners(box))) for box in event.get("box", ()))
    outlined = Selection(lassos=tuple(lasso for lasso in lassos if len(lasso) >= 6), boxes=boxes)
    if not outlined.lassos and not outlined.boxes:
        return Selection(rows=tuple(dict.fromkeys(picked)))
    inside = np.unique(fit.labels[drawn][chosen(fit, outlined)[drawn]])
    seen = np.unique(fit.labels[np.isin(fit.row_ids, picked)])
    hidden = tuple(int(label) for label in inside[~np.isin(inside, seen)]) if picked else ()
    return Selection(outlined.lassos, outlined.boxes, hidden=hidden)


def chosen(fit: ProfileFit, selection: Selection) -> NDArray[np.bool_]:
    """Return which rows of a clustering are selected: (n_rows,)."""
    inside = np.zeros(len(fit.labels), dtype=np.bool_)
    for lasso in selection.lassos:
        inside |= in_polygon(fit.map_xy, np.reshape(lasso, (-1, 2)))
    for x0, y0, x1, y1 in selection.boxes:
        inside |= ((fit.map_xy >= (x0, y0)) & (fit.map_xy <= (x1, y1))).all(axis=1)
    inside &= ~np.isin(fit.labels, selection.hidden)
    return inside | np.isin(fit.row_ids, selection.rows) | np.isin(fit.labels, selection.profiles)


def in_polygon(points: Points, corners: Points) -> NDArray[np.bool_]:
    """Return which points lie inside a closed polygon by the even-odd rule: (n,)."""
    x, y = points[:, 0], points[:, 1]
    inside = np.zeros(len(points), dtype=np.bool_)
    for (x0, y0), (x1, y1) in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if y0 != y1:
            crosses = (y0 > y) != (y1 > y)
            inside ^= crosses & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return inside


def _simplified(corners: Points) -> Points:
    """Return at most MOST_CORNERS of a polygon's corners; the one whose triangle is the smallest goes first."""
    while len(corners) > MOST_CORNERS:
        before, after = np.roll(corners, 1, axis=0) - corners, np.roll(corners, -1, axis=0) - corners
        areas = np.abs(before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0])
        corners = np.delete(corners, int(np.argmin(areas)), axis=0)
    return corners


def _corners(outline: Mapping[str, Any]) -> Points:
    return np.column_stack([np.asarray(outline["x"], dtype=np.float64), np.asarray(outline["y"], dtype=np.float64)])


def _sorted_box(corners: Points) -> Points:
    return np.stack([corners.min(axis=0), corners.max(axis=0)])


def _rounded(corners: Points) -> tuple[float, ...]:
    return tuple(float(_number(number)) for number in corners.ravel().tolist())


def _row_id(point: Mapping[str, Any]) -> int:
    given = point["customdata"]
    return int(given[0] if isinstance(given, (list, tuple)) else given)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{DIGITS}g}".replace("+", "")


def _whole(number: float) -> int:
    if not number.is_integer() or abs(number) >= 2**53:
        raise ValueError(f"{number} is no row id")
    return int(number)


MOST_POINTS = 20_000
MOST_SVG_POINTS = 6_000
FEWEST_PER_PROFILE = 20
MOST_NAMED = 30
"""Profiles whose numbers stand on the map: of more, the largest."""
HEIGHT_PX, VALUES_PX, ROOM = 560, 425, 0.06
"""Of the map, of the values from the lowest to the highest, and the share of those left free above and below."""
LABEL_PX, LABEL_SHARE = 19, 0.13
"""Height of a label, and its width as a share of a phone's map."""


def profile_map(
    fit: ProfileFit,
    names: Mapping[int, str],
    most_points: int = MOST_POINTS,
    selection: Selection | None = None,
) -> Chart:
    """Return a scatter of about `most_points` rows, stratified by profile; customdata holds the row ids.

    A selection is outlined, and the rows outside it are faint.
    """
    shown = stratified(fit.labels, most_points)
    labels, xy, row_ids = fit.labels[shown], fit.map_xy[shown], fit.row_ids[shown]
    picked = None if selection is None else chosen(fit, selection)[shown]
    traces = []
    for profile in groups(fit)[::-1]:
        mine, look, name = labels == profile, mark(int(profile)), plotly_text(names.get(int(profile), ""))
        traces.append(
            shapes.points(
                xy[mine, 0],
                xy[mine, 1],
                type="scattergl" if shown.size > MOST_SVG_POINTS else "scatter",
                name=name,
                colour=look.colour,
                symbol=look.symbol,
                size=5,
                opacity=0.45 if profile == OUTLIERS else 0.75,
                hover=f"{name}, run %{{customdata}}",
                customdata=row_ids[mine],
                selectedpoints=None if picked is None else np.flatnonzero(picked[mine]),
            )
        )
    figure = figure_of(
        traces,
        x=_axis(fit, 0),
        y={"title": _axis(fit, 1), "range": _range(xy[:, 1])},
        height=HEIGHT_PX,
        dragmode="lasso",
        annotations=_place_names(labels, xy),
        shapes=[] if selection is None else _outlines(selection),
    )
    return Chart(
        name="profile-map",
        figure=figure,
        takeaway=map_sentence(fit),
        shows=f"Scatter of {shown.size:,} runs on two principal components in {fit.scores.n_clusters} profiles; "
        "outliers are open grey circles. The list of profiles below gives the same selection by keyboard.",
        data=pd.DataFrame({"row_id": row_ids, "profile": labels, "component_1": xy[:, 0], "component_2": xy[:, 1]}),
        note=drawn_note(fit, shown.size),
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


def _place_names(labels: NDArray[np.int64], xy: NDArray[np.float64]) -> list[dict[str, Any]]:
    """Return the numbers of the largest profiles at their middles, moved up or down where they would cover others."""
    profiles = np.unique(labels[labels != OUTLIERS])[:MOST_NAMED]
    if not profiles.size:
        return []
    middles = np.array([np.median(xy[labels == profile], axis=0) for profile in profiles])
    spans = np.maximum(np.ptp(xy, axis=0), 1e-9)
    words = []
    for profile, (x, y), shift in zip(profiles, middles, shifts(middles / spans), strict=True):
        colour = mark(int(profile)).colour
        moved = {"showarrow": True, "arrowhead": 0, "arrowcolor": colour, "ax": 0, "ay": -shift} if shift else {}
        label = shapes.words(f"<b>P{profile}</b>", x=x, y=y, bgcolor=colour, size=None, colour=ink_on(colour))
        words.append(label | moved)
    return words


def _range(values: NDArray[np.float64]) -> list[float]:
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 1.0)
    room = ROOM * ((high - low) or 1.0)
    return [low - room, high + room]


def shifts(places: Points) -> list[int]:
    """Return how many pixels up each label goes, so that none covers one before it, on a phone either.

    Places are (n, 2) shares of the map's width and height; the first labels move least.
    """
    placed: list[tuple[float, float]] = []
    result = []
    for x, y in places.tolist():
        beside = [low for at, low in placed if abs(at - x) < LABEL_SHARE]
        steps = [step for n in range(len(beside) + 1) for step in ((n, -n) if n else (0,))]
        clear = (
            step * LABEL_PX
            for step in steps
            if all(abs(low - (y * VALUES_PX + step * LABEL_PX)) >= LABEL_PX for low in beside)
        )
        result.append(next(clear))  # a label beside blocks two steps at most, so one is free
        placed.append((x, y * VALUES_PX + result[-1]))
    return result


def _outlines(selection: Selection) -> list[dict[str, Any]]:
    line = {"color": OUTLIER_COLOUR, "width": 2, "dash": "dot"}
    lassos = ("L".join(f"{x},{y}" for x, y in np.reshape(lasso, (-1, 2))) for lasso in selection.lassos)
    boxes = ({"x0": x0, "y0": y0, "x1": x1, "y1": y1} for x0, y0, x1, y1 in selection.boxes)
    return [
        *({"type": "path", "path": f"M{corners}Z", "line": line} for corners in lassos),
        *({"type": "rect", **box, "line": line} for box in boxes),
    ]


def _axis(fit: ProfileFit, component: int) -> str:
    explained = format_share(float(fit.map_explained[component]))
    return f"Component {component + 1} ({explained} of the variance)"
