"""What figures are put together from: traces, intervals, cells, panels, labels that stand side by side."""

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from plotly.io import to_json

from workprof.charts import shapes, theme
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, figure_of, heat, line, placed_labels
from workprof.charts.theme import BLACK, WHITE, readable


def boxes_of(across, up, names):
    """Return the labels that are shown with the ground that each takes."""
    labels, sides = placed_labels(across, up, names)
    return {
        label.strip(): shapes._label_box(x, y, len(label.strip()), side)
        for label, side, x, y in zip(labels, sides, across, up, strict=True)
        if label
    }


def test_marks_apart_keep_their_own_labels():
    labels, sides = placed_labels([0.1, 0.5, 0.1], [0.9, 0.5, 0.1], ["a", "b", "c"])
    assert [label.strip() for label in labels] == ["a", "b", "c"]
    assert sides == ["middle right"] * 3


def test_a_label_at_the_edge_stands_on_the_other_side():
    labels, sides = placed_labels([0.97], [0.5], ["today"])
    assert (labels[0].strip(), sides) == ("today", ["middle left"])


def test_no_label_meets_another_a_mark_or_the_edge():
    draw = np.random.default_rng(7)
    for _ in range(50):
        across, up = draw.random(25).tolist(), draw.random(25).tolist()
        found = boxes_of(across, up, [f"policy {at}" for at in range(25)])
        assert "policy 0" in found or not 0.25 < across[0] < 0.75
        ends = list(found.values())
        for at, (left, low, right, high) in enumerate(ends):
            assert min(left, low) >= 0 and max(right, high) <= 1
            assert not any(left < r and o < right and low < t and b < high for o, b, r, t in ends[:at])
            assert not any(left <= x <= right and low <= y <= high for x, y in zip(across, up, strict=True))


def test_the_first_of_a_crowd_is_the_one_with_a_label():
    found = boxes_of([0.5, 0.5, 0.5, 0.5], [0.5, 0.5, 0.5, 0.5], ["first", "second", "third", ""])
    assert next(iter(found)) == "first"
    assert placed_labels([], [], []) == ([], [])


def test_a_trace_without_words_to_hover_is_silent():
    assert shapes.line([0], [1], colour="#000000")["hoverinfo"] == "skip"
    assert shapes.points([0], [1], colour="#000000", hover="%{x}")["hovertemplate"] == "%{x}<extra></extra>"
    told = shapes.bars([0], ["a"], colour="#000000", hover=None, hovertext=["a"], hoverinfo="text")
    assert told["hoverinfo"] == "text" and "hovertemplate" not in told


def test_the_ends_of_an_interval_are_distances_and_an_unknown_end_is_not_drawn():
    drawn = shapes.interval([2.0, 2.0, 2.0], [1.0, np.nan, 3.0], [5.0, np.inf, 2.5], colour="#000000")
    assert drawn["array"].tolist() == [3.0, 0.0, 0.5]
    assert drawn["arrayminus"].tolist() == [1.0, 0.0, 0.0]


def test_a_row_of_counts_without_any_has_no_shares():
    shares = shapes.row_shares(np.array([[1, 3], [0, 0]]))
    assert shares[0].tolist() == [0.25, 0.75]
    assert np.isnan(shares[1]).all()


def test_words_stand_in_the_cells_that_have_some_in_ink_that_stands_out():
    written = shapes.cell_words([["7", ""], ["", "9"]], np.array([[0.0, np.nan], [np.nan, 1.0]]))
    assert [(word["text"], word["x"], word["y"], word["font"]["color"]) for word in written] == [
        ("7", 0, 0, WHITE),
        ("9", 1, 1, BLACK),
    ]


def test_a_box_has_its_quantiles_in_order():
    drawn = shapes.box("a", (1, 2, 3, 4, 5), colour="#000000")
    assert [drawn[part] for part in ("lowerfence", "q1", "median", "q3", "upperfence")] == [[1], [2], [3], [4], [5]]


@pytest.mark.parametrize("count", [1, 2, 7])
def test_panels_lie_below_each_other_with_room_for_their_titles(count):
    names = [f"counter {place}" for place in range(count)]
    figure = shapes.panels([], titles=names, units=["s"] * count, x_range=(0.0, 60.0))
    axes = [figure.layout[f"yaxis{place + 1 if place else ''}"] for place in range(count + 1)]
    ends = [end for axis in axes for end in reversed(axis.domain)]
    assert ends == sorted(ends, reverse=True)
    assert ends[-1] >= 0 and ends[0] < 1
    assert tuple(axes[-1].range) == (0, 1)
    assert [note.text for note in figure.layout.annotations][:count] == names


def test_an_axis_is_named_by_a_text_or_has_its_title_among_its_settings():
    figure = shapes.figure_of([], x="Rows", y={"title": "Share", "range": [0, 1]}, height=300, **shapes.LEGEND_BELOW)
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == ("Rows", "Share")
    assert figure.layout.showlegend and figure.layout.legend.y < 0


def drawn_from(values):
    """Return what a browser is sent of a figure with these values."""
    cells = np.array([[1.0, np.nan]])
    traces = [shapes.points(np.array([1, 2]), np.array(values), colour=NEUTRAL, size=[4, 9], customdata=cells)]
    figure = shapes.figure_of(traces, x="time", y={"title": "share", "gridcolor": "red"}, height=300)
    return json.loads(to_json(readable(figure, dark=False), validate=False))


def test_a_chart_that_is_given_twice_is_no_change():
    """Plotly draws anew for a template, for a binary array, and for arrays without a revision."""
    sent = drawn_from([0.5, np.nan])
    assert sent["layout"].get("template") is None
    assert sent["data"][0]["x"] == [1, 2]
    assert sent["data"][0]["y"] == [0.5, None]
    assert sent["data"][0]["customdata"] == [[1.0, None]]
    assert sent == drawn_from([0.5, np.nan])
    assert sent["layout"]["datarevision"] != drawn_from([0.5, 0.7])["layout"]["datarevision"]


def test_what_a_figure_sets_itself_stays():
    layout = drawn_from([0.5, 0.6])["layout"]
    assert layout["xaxis"]["title"]["text"] == "time"
    assert layout["height"] == 300
    assert layout["margin"]["pad"] == 8
    assert layout["legend"]["orientation"] == "h"


class Result:
    """What cannot be hashed, as a result with arrays."""

    __hash__ = None


def test_a_chart_is_drawn_once_for_a_result_and_its_names():
    drawn = []

    @shapes.drawn_once
    def chart(result, names, position, *, narrow=False):
        drawn.append((names, position, narrow))
        return shapes.Chart("one", go.Figure(), "It says.", "", pd.DataFrame())

    result, other = Result(), Result()
    first = chart(result, {0: "a"}, 1)
    assert chart(result, {0: "a"}, 1) is first  # equal names, the same result
    assert drawn == [({0: "a"}, 1, False)]
    for again in (chart(other, {0: "a"}, 1), chart(result, {0: "b"}, 1), chart(result, {0: "a"}, 1, narrow=True)):
        assert again is not first
    assert len(drawn) == 4
    for _ in range(50):  # a result in the place of one that is gone is another
        del result
        result = Result()
        before = len(drawn)
        chart(result, {0: "a"}, 1)
        assert len(drawn) == before + 1


def test_as_many_charts_are_kept_as_the_limit_says():
    drawn = []

    @shapes.drawn_once
    def chart(position):
        drawn.append(position)
        return shapes.Chart("one", go.Figure(), "", "", pd.DataFrame())

    for position in range(shapes.MOST_DRAWN_ONCE + 1):
        chart(position)
    chart(1)
    chart(0)
    assert drawn == [*range(shapes.MOST_DRAWN_ONCE + 1), 0]


def test_both_looks_of_a_chart_are_made_once():
    chart = shapes.Chart("one", go.Figure(go.Bar(x=[1.0], y=[2.0])), "", "", pd.DataFrame())
    assert chart.light is chart.light
    assert to_json(chart.dark) == to_json(readable(chart.figure, dark=True)) != to_json(chart.light)


def test_what_is_sent_of_a_chart_is_made_once_and_says_what_a_click_does_only_where_marks_are_selected():
    chart = shapes.Chart("one", go.Figure(go.Bar(x=[1.0], y=[2.0])), "", "", pd.DataFrame())
    plain, selectable = (chart.sent(dark=True, selectable=selectable) for selectable in (False, True))
    assert plain == chart.dark.to_dict()
    assert plain is chart.sent(dark=True, selectable=False)
    assert selectable["layout"] == plain["layout"] | {"clickmode": "event+select", "hovermode": "closest"}


def test_the_width_of_a_line_grows_with_its_signs_and_is_no_less_than_half_a_line_each():
    assert theme.text_px("") == 0
    assert theme.text_px("ill") < theme.text_px("abc") < theme.text_px("MWM") < theme.text_px("模型訓")
    assert theme.text_px("abc", size=24) == pytest.approx(2 * theme.text_px("abc", size=12))
    assert theme.text_px("large memory") >= 12 * 12 * 0.46  # what Source Sans takes


def test_margins_hold_the_labels_titles_and_legend_so_that_plotly_draws_once():
    names = ["a", "a task with a long name"]
    bare = shapes.figure_of([shapes.bars([1, 2], names, colour=NEUTRAL)], x="Runs", y="", height=300, top=4)
    margin = readable(bare, dark=False).layout.margin
    assert 200 > margin.l > theme.text_px(names[1]) > margin.r > 8
    assert margin.b > 60  # ticks and a title
    legend = shapes.figure_of(
        [shapes.line([0, 1], [0, 150_000], colour=NEUTRAL)], x="", y="Runs", height=300, **shapes.LEGEND_BELOW
    )
    below = readable(legend, dark=False).layout.margin
    assert 60 < below.l < margin.l
    assert below.b > 0.2 * (300 - below.t - below.b) + theme.SMALL_PX
    above = shapes.figure_of([], x="", y="", height=300, top=4, showlegend=True)
    assert readable(above, dark=False).layout.margin.t >= 40


def test_margins_of_hidden_axes_and_labels_beyond_a_phone_are_left_to_plotly():
    hidden = {"title": "", "showticklabels": False}
    none = shapes.figure_of([shapes.bars([1], ["x" * 90], colour=NEUTRAL)], x=hidden, y=hidden, height=300)
    assert (readable(none, dark=False).layout.margin.l, readable(none, dark=False).layout.margin.b) == (8, 8)
    wide = shapes.figure_of([shapes.bars([1], ["x" * 90], colour=NEUTRAL)], x="", y="", height=300)
    assert readable(wide, dark=False).layout.margin.l == theme.MOST_LEFT_PX
    assert readable(wide, dark=False).layout.yaxis.automargin


def test_ticks_of_large_numbers_are_not_read_as_bytes():
    figure = shapes.figure_of([shapes.points([1e10, 2e10], [1, 2], colour=NEUTRAL)], x="peak_vmem", y="y", height=300)
    assert readable(figure, dark=False).layout.xaxis.exponentformat == "SI"  # '11G'; Plotly's own is '11B'


def test_on_a_phone_a_legend_stands_under_every_line_of_the_title_above_it():
    def y_of(title):
        lines = [line([0, 1], [0, 1], colour=NEUTRAL, name=name) for name in "abcd"]
        figure = figure_of(lines, x=title, y="Share", height=400, **LEGEND_BELOW)
        return readable(figure, dark=False, narrow=True).layout.legend.y

    assert y_of("Error") == LEGEND_BELOW["legend"]["y"]
    assert y_of("Relative error |predicted − true| / true (1 = 100 %), logarithmic") <= y_of("Error") - 17 / 400


@pytest.mark.parametrize(("columns", "named"), [(5, True), (20, True), (24, False)])
def test_on_a_phone_names_of_columns_that_have_no_room_cover_no_others(columns, named):
    rows, across = [f"a name of many letters (P{i})" for i in range(3)], [f"value {i}" for i in range(columns)]
    figure = figure_of([heat(np.zeros((3, columns)), across, rows)], x={"title": "Task", "dtick": 1}, y="", height=400)
    layout = readable(figure, dark=False, narrow=True).layout
    assert (layout.xaxis.dtick == 1) is named
    assert all(text.endswith(f"(P{i})") for i, text in enumerate(layout.yaxis.ticktext))
    if named:
        assert columns * 12 <= 358 - layout.margin.l - layout.margin.r
