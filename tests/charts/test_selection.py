"""Selections on the map: the text says exactly which rows, survives a link, and never grows long."""

import numpy as np
import pytest

from tests.charts import records_for_tests as made
from workprof.charts.profiles.jobs import (
    LONGEST,
    MOST_CORNERS,
    Selection,
    chosen,
    drawn_selection,
    in_polygon,
    profile_map,
    read_selection,
)

NAMES = {-1: "Outliers", 0: "P0", 1: "P1", 2: "P2"}


def event(fit, lasso=(), box=(), rows=()):
    """Return what the chart reports: outlines, and the ids of the drawn rows in them."""
    return {
        "points": [{"customdata": int(row)} for row in rows],
        "lasso": [{"x": list(x), "y": list(y)} for x, y in lasso],
        "box": [{"x": list(x), "y": list(y)} for x, y in box],
    }


def everything(fit):
    return np.arange(len(fit.labels))


def crosses_slowly(point, corners):
    """Return whether a point is inside: a ray to the right crosses an odd number of edges."""
    x, y = point
    inside = False
    for i, (x1, y1) in enumerate(corners):
        x0, y0 = corners[i - 1]
        if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
            inside = not inside
    return inside


@pytest.mark.parametrize("seed", range(5))
def test_points_in_a_polygon_equal_the_obvious_way(seed):
    random = np.random.default_rng(seed)
    points, corners = random.normal(size=(300, 2)), random.normal(size=(9, 2))
    slow = [crosses_slowly(point, corners.tolist()) for point in points.tolist()]
    assert in_polygon(points, corners).tolist() == slow


def test_a_concave_outline_leaves_its_bay_out():
    corners = np.array([(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)], dtype=float)
    inside = in_polygon(np.array([(2, 0.5), (2, 3), (0.2, 3), (3.8, 3), (5, 1)], dtype=float), corners)
    assert inside.tolist() == [True, False, True, True, False]


@pytest.mark.parametrize(
    "selection",
    [
        Selection(),
        Selection(lassos=((0.5, -1.25, 3.0, 1e-7, 2.5e8, 7.0),), hidden=(-1, 3)),
        Selection(boxes=((-1.0, -2.0, 3.0, 4.0), (5.0, 5.0, 6.0, 6.0))),
        Selection(rows=(0, 12_345_678_901)),
        Selection(profiles=(-1, 0, 26)),
    ],
)
def test_a_selection_survives_its_text(selection):
    assert read_selection(selection.text()) == selection
    assert set(selection.text()) <= set("lbrph0123456789.-_~e")


@pytest.mark.parametrize("seed", range(3))
def test_a_drawn_lasso_selects_what_its_link_selects(seed):
    fit, random = made.fit(scale=20), np.random.default_rng(seed)
    turn = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    radius = 1.0 + 0.2 * random.random(400)
    x, y = 0.7 + radius * np.cos(turn), 0.8 + radius * np.sin(turn)
    true = in_polygon(fit.map_xy, np.column_stack([x, y]))
    drawn = drawn_selection(event(fit, lasso=[(x, y)], rows=fit.row_ids[true]), fit, everything(fit))
    again = read_selection(drawn.text())
    assert len(drawn.text()) < LONGEST
    assert len(drawn.lassos[0]) == 2 * MOST_CORNERS
    assert (chosen(fit, again) == chosen(fit, drawn)).all()
    assert (chosen(fit, drawn) != true).mean() < 0.03


def test_a_box_may_be_dragged_from_any_corner():
    fit = made.fit()
    drawn = drawn_selection(event(fit, box=[((1.0, 0.0), (1.0, 0.0))], rows=fit.row_ids), fit, everything(fit))
    assert drawn.boxes == ((0.0, 0.0, 1.0, 1.0),)
    assert (chosen(fit, drawn) == (fit.labels == 0)).all()  # profile 0 lies in the unit square, -1 and 1 beside it


def test_profiles_that_are_switched_off_in_the_legend_stay_out():
    fit = made.fit()
    seen = fit.row_ids[fit.labels == 1]
    drawn = drawn_selection(event(fit, box=[((-9, 9), (-9, 9))], rows=seen), fit, everything(fit))
    assert drawn.hidden == (-1, 0, 2)
    assert (chosen(fit, drawn) == (fit.labels == 1)).all()


def test_clicked_rows_and_an_empty_drawing():
    fit = made.fit()
    assert drawn_selection(event(fit, rows=[1007, 1007, 1009]), fit, everything(fit)) == Selection(rows=(1007, 1009))
    assert drawn_selection(event(fit), fit, everything(fit)).text() == ""


def test_profiles_are_chosen_whole():
    fit = made.fit()
    assert (chosen(fit, Selection(profiles=(2, -1))) == np.isin(fit.labels, [2, -1])).all()


@pytest.mark.parametrize(
    "text", ["x", "l", "l1_2_3_4", "l1_2_3_4_5", "b1_2_3", "r1.5", "r9e99", "p", "bnan_0_1_1", "~"]
)
def test_other_texts_are_no_selection(text):
    assert read_selection(text) is None


def test_the_map_outlines_a_selection_from_a_link():
    fit = made.fit()
    selection = Selection(lassos=((0, 0, 1, 0, 1, 1),), boxes=((0, 0, 1, 1),), profiles=(2,))
    figure = profile_map(fit, NAMES, selection=selection).figure
    assert [shape.type for shape in figure.layout.shapes] == ["path", "rect"]
    picked = {
        int(row) for trace in figure.data for row in np.asarray(trace.customdata)[np.asarray(trace.selectedpoints)]
    }
    assert picked == set(fit.row_ids[chosen(fit, selection)].tolist())
    plain = profile_map(fit, NAMES).figure
    assert plain.layout.shapes == ()
    assert all(trace.selectedpoints is None for trace in plain.data)
