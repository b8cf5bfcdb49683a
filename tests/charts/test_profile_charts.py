"""Figures of a clustering: axes with units, words for everyone, outliers apart, nothing hostile let through."""

import json

import numpy as np
import pytest

from tests.charts import records_for_tests as made
from workprof.charts.profiles.features import feature_boxes, metadata_heatmap
from workprof.charts.profiles.jobs import MOST_SVG_POINTS, profile_map, stratified
from workprof.charts.profiles.overview import (
    arrivals,
    condensed_tree,
    headlines,
    profile_names,
    round_ones,
    silhouette_boxes,
    size_bars,
    together,
)
from workprof.charts.theme import OUTLIER_COLOUR

NAMES = profile_names(made.fit(), made.NOTES)


def every_chart(fit):
    return {
        "boxes": feature_boxes(fit, NAMES, "cpu_usage_percent"),
        "silhouettes": silhouette_boxes(fit, NAMES),
        "sizes": size_bars(fit, NAMES),
        "map": profile_map(fit, NAMES),
        "tree": condensed_tree(fit, NAMES),
        "heatmap": metadata_heatmap(fit, NAMES, "workload"),
        "arrivals": arrivals(fit.cards[1], NAMES[0]),
    }


@pytest.mark.parametrize("name", list(every_chart(made.fit())))
def test_every_chart_has_its_words_and_numbers(name):
    chart = every_chart(made.fit())[name]
    assert chart.takeaway.endswith(".")
    assert len(chart.alt) > 20
    assert chart.alt.endswith(chart.takeaway)
    assert not chart.data.empty
    assert chart.figure.layout.xaxis.title.text
    assert chart.figure.layout.uirevision == "keep"


@pytest.mark.parametrize("name", ["boxes", "silhouettes", "sizes", "map", "tree", "heatmap"])
def test_the_published_definitions_are_flagged_on_every_chart(name):
    assert "Published definitions" in every_chart(made.fit(mode="faithful"))[name].note
    assert "Published definitions" not in every_chart(made.fit())[name].note


@pytest.mark.parametrize("name", list(every_chart(made.fit())))
def test_no_chart_passes_markup_of_a_file_on(name):
    assert "<img" not in json.dumps(every_chart(made.fit())[name].figure.to_plotly_json(), default=str)


def test_boxes_are_ordered_by_standard_deviation_with_the_outliers_last():
    chart = feature_boxes(made.fit(), NAMES, "cpu_usage_percent")
    assert list(chart.data["profile"]) == [1, 0, 2, -1]
    assert "scaled" in chart.figure.layout.xaxis.title.text


def test_boxes_mark_the_smallest_mean_and_largest_standard_deviation_of_the_profiles():
    words = [note.text for note in feature_boxes(made.fit(), NAMES, "cpu_usage_percent").figure.layout.annotations]
    mean = np.mean([0.5, 0.1, 2.0])
    assert sorted(words) == sorted(["smallest σ 0.1", "largest σ 2", f"nearest to the mean σ {mean:.3g}"])


@pytest.mark.parametrize(("order", "expected"), [("median", [0, 1, 2, -1]), ("size", [2, 1, 0, -1])])
def test_boxes_take_other_orders(order, expected):
    assert list(feature_boxes(made.fit(), NAMES, "cpu_usage_percent", order).data["profile"]) == expected


def test_the_outliers_are_named_and_grey_in_every_chart_of_groups():
    chart = size_bars(made.fit(), NAMES)
    assert list(chart.data["name"])[-1] == "Unclustered"
    assert chart.figure.data[0].marker.color[-1] == OUTLIER_COLOUR


def test_silhouettes_say_how_many_rows_they_rest_on():
    chart = silhouette_boxes(made.fit(), NAMES)
    assert "sampled" in chart.note
    assert "n = 200 of 230" in chart.note
    assert "mixed (P2) is the least separated profile" in chart.takeaway


def test_the_map_carries_row_ids_and_says_its_sample():
    chart = profile_map(made.fit(scale=100), NAMES, most_points=2000)
    ids = np.concatenate([trace.customdata for trace in chart.figure.data])
    assert len(ids) == len(set(ids.tolist())) <= 2000
    assert ids.min() >= 1000
    assert f"stratified sample of n = {len(ids):,} of 23,000 rows" in chart.note


def test_a_large_map_is_drawn_by_webgl_and_a_small_one_as_svg():
    kinds = {trace.type for trace in profile_map(made.fit(scale=100), NAMES).figure.data}
    assert kinds == {"scattergl"}
    assert {trace.type for trace in profile_map(made.fit(), NAMES).figure.data} == {"scatter"}
    assert MOST_SVG_POINTS < 10_000


def test_a_stratified_sample_keeps_the_smallest_profile():
    labels = np.repeat([0, 1], [100_000, 25])
    shown = stratified(labels, 1000)
    assert (labels[shown] == 1).sum() >= 20
    assert shown.size <= 1000


def test_icicles_lie_inside_their_parents():
    data = condensed_tree(made.fit(), NAMES).figure.data[0]
    left, width = np.asarray(data.x), np.asarray(data.width)
    for child, parent in ((1, 0), (2, 0), (3, 2), (4, 2)):
        assert left[child] >= left[parent]
        assert left[child] + width[child] <= left[parent] + width[parent]


def test_there_is_no_tree_without_hdbscan():
    assert condensed_tree(made.fit(tree=False), NAMES) is None


@pytest.mark.parametrize(("by", "axis"), [("profile", 1), ("value", 0)])
def test_heat_map_shares_add_up(by, axis):
    shares = np.asarray(metadata_heatmap(made.fit(), NAMES, "workload", by).figure.data[0].z)
    assert np.allclose(shares.sum(axis=axis), 1)


def test_headlines_name_both_silhouettes_and_show_the_truth_only_where_planted():
    labels = [item.label for item in headlines(made.fit())]
    assert {"Silhouette", "ACQUIRES", "scores_v3", "CCPM", "DBCV"} <= set(labels)
    details = [item.detail for item in headlines(made.fit()) if item.label == "Silhouette"]
    assert details == ["proper, ± 0.010", "published"]
    assert "Truth (ARI)" not in labels
    assert all(item.meaning for item in headlines(made.fit()))


def test_features_left_out_for_the_same_reason_stand_in_one_sentence():
    notes = ("gpu_usage_percent is left out: not in this table.", "read_bytes is left out: constant (0).")
    notes += ("Other words.", "peak_memory_bytes is left out: not in this table.")
    assert together(notes) == (
        "Left out, not in this table: GPU usage (%) and peak memory (bytes).",
        "Left out, constant (0): read (bytes).",
        "Other words.",
    )
    assert together(()) == ()


@pytest.mark.parametrize(("shortest", "longest"), [(0.05, 4.7), (0.002, 40), (1, 1), (1.1, 1.7)])
def test_the_numbers_of_the_distance_axis_are_round(shortest, longest):
    low, high = np.log10([shortest, longest])
    ticks = 10 ** np.asarray(round_ones(low, high))
    assert ((shortest * 0.999 <= ticks) & (ticks <= longest * 1.001)).all()
    if longest / shortest > 5:
        assert 2 <= len(ticks) <= 10
        assert all(f"{tick:e}"[:8] in ("1.000000", "2.000000", "5.000000") for tick in ticks)
