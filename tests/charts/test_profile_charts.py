"""Figures of a clustering: axes with units, words for everyone, outliers apart, nothing hostile let through."""

from dataclasses import replace

import numpy as np
import pytest

from tests.charts import records_for_tests as made
from workprof.answers.profiles import paper_figures, profiles_sentence, quality_figures, together
from workprof.charts.profiles.features import feature_boxes, metadata_heatmap
from workprof.charts.profiles.fingerprints import MOST_ROWS, STRONG, fingerprints, similar_order
from workprof.charts.profiles.jobs import (
    LABEL_PX,
    LABEL_SHARE,
    MOST_NAMED,
    MOST_SVG_POINTS,
    VALUES_PX,
    profile_map,
    shifts,
    stratified,
)
from workprof.charts.profiles.overview import (
    arrivals,
    condensed_tree,
    profile_names,
    round_ones,
    silhouette_boxes,
    size_bars,
)
from workprof.charts.theme import LONGEST_ON_A_PHONE, OUTLIER_COLOUR
from workprof.profiles.features import FeatureMatrix, fit_transform, scale_values
from workprof.profiles.summary import feature_spread

NAMES = profile_names(made.fit(), made.NOTES)


def every_chart(fit):
    return {
        "boxes": feature_boxes(fit, NAMES, "cpu_usage_percent"),
        "silhouettes": silhouette_boxes(fit, NAMES),
        "sizes": size_bars(fit, NAMES),
        "map": profile_map(fit, NAMES),
        "tree": condensed_tree(fit, NAMES),
        "heatmap": metadata_heatmap(fit, NAMES, "workload"),
        "arrivals": arrivals(fit.cards[1], NAMES[0], dates=True),
        "fingerprints": fingerprints(fit, NAMES, {0: 0.2, 1: 0.9}),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["boxes", "silhouettes", "sizes", "map", "tree", "heatmap", "fingerprints"])
def test_the_published_definitions_are_flagged_on_every_chart(name):
    assert "Published definitions" in every_chart(made.fit(mode="faithful"))[name].note
    assert "Published definitions" not in every_chart(made.fit())[name].note


def test_boxes_are_ordered_by_standard_deviation_with_the_outliers_last():
    chart = feature_boxes(made.fit(), NAMES, "cpu_usage_percent")
    assert list(chart.data["profile"]) == [1, 0, 2, -1]
    assert chart.figure.layout.xaxis.title.text == "CPU usage (% of one core)"
    scaled = feature_boxes(made.fit(), NAMES, "cpu_usage_percent", units="scaled")
    assert "scaled" in scaled.figure.layout.xaxis.title.text and "scaler: power" in scaled.note
    assert list(chart.data["profile"]) == list(scaled.data["profile"])


@pytest.mark.parametrize("scaler", ["none", "standard", "minmax", "robust", "power"])
def test_the_whiskers_of_a_feature_are_runs_of_its_own_values(scaler):
    """What is drawn in a feature's own unit are the very values whose scaled ones end the whiskers."""
    drawn = np.random.default_rng(3)
    values = np.column_stack([np.exp(drawn.normal(20, 3, 400)), drawn.normal(0, 5, 400)])
    transform = fit_transform(FeatureMatrix(("peak_memory_bytes", "other"), values, {}, {}), scaler, "corrected")
    labels = np.repeat([0, 1], 200)
    scaled = scale_values(transform, values)
    spread = feature_spread(scaled, values, labels, transform.features)
    fit = replace(made.fit(), transform=transform, spread=spread, labels=labels, features=transform.features)
    for place, feature in enumerate(transform.features):
        chart = feature_boxes(fit, NAMES, feature)
        for row in chart.data.itertuples():
            own = values[labels == row.profile, place]
            assert min(abs(own - row.raw_lower)) <= 1e-9 * abs(row.raw_lower)
            assert min(abs(own - row.raw_upper)) <= 1e-9 * abs(row.raw_upper)
    assert feature_boxes(fit, NAMES, "peak_memory_bytes").figure.layout.xaxis.type == "log"
    assert "Raw values in the table are in bytes." in feature_boxes(fit, NAMES, "peak_memory_bytes").note
    assert feature_boxes(fit, NAMES, "other").figure.layout.xaxis.type is None


def test_a_zero_lies_at_the_left_edge_of_a_logarithmic_axis():
    fit = made.fit()
    zero = replace(fit.spread, raw_q1=np.zeros_like(fit.spread.raw_q1), raw_q3=1e6 * fit.spread.raw_q3)
    chart = feature_boxes(replace(fit, spread=zero), NAMES, "cpu_usage_percent")
    assert "Zero lies at the left edge." in chart.note
    assert (chart.figure.layout.xaxis.type, chart.figure.layout.xaxis.dtick) == ("log", 1)
    assert all(min(trace.q1) > 0 for trace in chart.figure.data)


def test_boxes_mark_the_smallest_mean_and_largest_standard_deviation_of_the_profiles():
    chart = feature_boxes(made.fit(), NAMES, "cpu_usage_percent")
    words = [note.text for note in chart.figure.layout.annotations]
    mean = np.mean([0.5, 0.1, 2.0])
    assert sorted(words) == sorted(["smallest σ 0.1", "largest σ 2", f"typical σ {mean:.3g}"])
    assert not chart.sent(dark=False, selectable=False, narrow=True)["layout"]["annotations"]  # beside them is no room


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
    assert f"stratified sample of n = {len(ids):,} of 23,000 runs" in chart.note


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
    fit = made.fit()
    own = {item.label: item for item in quality_figures(fit)}
    paper = {item.label: item for item in paper_figures(fit)}
    assert {"Separation", "DBCV"} <= own.keys()
    assert list(paper) == ["Separation as published", "Overall score", "scores_v3", "CCPM"]
    assert own["Separation"].value == f"{fit.scores.silhouette_clustered:.3f}"
    assert own["Separation"].detail == "± 0.010"
    assert paper["Separation as published"].value == f"{fit.scores.avg_silhouette:.3f}"
    assert "Agreement with ground truth" not in own
    planted = quality_figures(replace(fit, scores=made.scores(truth=0.75)))[-1]
    assert (planted.label, planted.value) == ("Agreement with ground truth", "0.750")
    assert "synthetic data only" in planted.detail
    assert all(item.meaning for item in (*own.values(), *paper.values()))


def test_features_left_out_for_the_same_reason_stand_in_one_sentence():
    notes = ("gpu_usage_percent is left out: not in this table.", "read_bytes is left out: constant (0).")
    notes += ("Other words.", "peak_memory_bytes is left out: not in this table.")
    assert together(notes) == (
        "Excluded, not in this table: GPU usage (%) and peak memory (bytes).",
        "Excluded, constant (0): read (bytes).",
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


def wide_fit(sizes, medians, std=1.0):
    """Return a clustering of profiles of these sizes with these medians, and no outliers."""
    medians = np.asarray(medians, dtype=np.float64)
    cards = tuple(
        replace(
            made.card(0), profile=i, size=size, share=size / sum(sizes), duration_quantiles_s=np.full(6, 10.0 * i + 5)
        )
        for i, size in enumerate(sizes)
    )
    names = ("mean", "std", "lower", "q1", "median", "q3", "upper", "raw_median", "raw_q1", "raw_q3")
    spread = replace(
        made.spread(),
        profiles=np.arange(len(sizes)),
        features=tuple(f"feature{i}" for i in range(medians.shape[1])),
        **{name: np.full_like(medians, std) if name == "std" else medians for name in names},
    )
    scores = replace(made.scores(sum(sizes)), n_clusters=len(sizes), n_outliers=0)
    return replace(made.fit(), cards=cards, spread=spread, features=spread.features, scores=scores)


def test_cells_are_standard_deviations_from_the_mean_of_all_runs():
    """The same as from the rows themselves: two profiles of equal values each, so their spread is what lies between."""
    fit = wide_fit([30, 10], [[0.0, 5.0], [4.0, 5.0]], std=0.0)
    rows = np.repeat([0.0, 4.0], [30, 10])
    data = fingerprints(fit, {0: "a", 1: "b"}, {}).data.set_index("profile")
    assert np.allclose(data.loc[[0, 1], "feature0_sd"], (np.array([0.0, 4.0]) - rows.mean()) / rows.std())
    assert data["feature1_sd"].tolist() == [0.0, 0.0]  # no difference anywhere is no colour, not a division by 0


def test_a_profile_without_a_value_has_neither_box_nor_cell():
    fit = made.fit()
    at, profile = fit.spread.features.index("cpu_usage_percent"), int(fit.spread.profiles[-1])
    parts = {name: value.copy() for name, value in vars(fit.spread).items() if name not in ("profiles", "features")}
    for values in parts.values():
        values[-1, at] = np.nan
    fit = replace(fit, spread=replace(fit.spread, **parts))
    for units in ("own", "scaled"):
        chart = feature_boxes(fit, NAMES, "cpu_usage_percent", units=units)
        assert len([one for one in chart.figure.data if one.type == "box"]) == len(fit.spread.profiles) - 1
        assert "nan" not in chart.takeaway
    chart = fingerprints(fit, NAMES, {})
    cells = chart.data.set_index("profile")["cpu_usage_percent_sd"]
    assert cells.isna().to_dict() == {int(label): label == profile for label in cells.index}
    assert "no run has a value" in chart.figure.to_json()
    parts["std"][:, at] = np.nan
    nothing = feature_boxes(replace(fit, spread=replace(fit.spread, **parts)), NAMES, "cpu_usage_percent")
    assert nothing.takeaway == "No run in a profile has a value of CPU usage."


def test_alike_profiles_stand_beside_each_other():
    medians = [[0, 0], [9, 9], [0.1, 0], [9, 9.1], [0, 0.2]]
    drawn = fingerprints(wide_fit([50, 40, 30, 20, 10], medians), dict(enumerate("abcde")), {}).data["profile"].tolist()
    assert {0, 2, 4} in (set(drawn[:3]), set(drawn[2:]))


def test_the_order_is_the_best_of_all_that_the_tree_allows():
    """Against trying every order: the sum of the distances of neighbours is the least, where all orders are allowed."""
    cells = np.array([[0.0], [1.0], [2.2], [-1.3], [0.4]])
    order = similar_order(cells)
    assert np.abs(np.diff(cells[order, 0])).sum() == pytest.approx(np.ptp(cells))
    assert order[0] < order[-1]
    assert similar_order(cells[:2]) == [0, 1]
    assert similar_order(np.zeros((0, 3))) == []


def test_of_many_profiles_the_largest_are_drawn_and_the_rest_is_said():
    sizes = list(range(200, 200 - MOST_ROWS - 5, -1))
    fit = wide_fit(sizes, np.random.default_rng(1).normal(size=(len(sizes), 3)))
    chart = fingerprints(fit, {i: f"a (P{i})" for i in range(len(sizes))}, {})
    assert sorted(chart.data["profile"]) == list(range(MOST_ROWS))
    assert f"The {MOST_ROWS} largest of {len(sizes)} profiles" in chart.note


def test_one_profile_and_no_durations_or_memory_is_a_chart_of_one_row():
    fit = wide_fit([30], [[0.0, 5.0]])
    fit = replace(fit, cards=tuple(replace(card, duration_quantiles_s=np.full(6, np.nan)) for card in fit.cards))
    chart = fingerprints(fit, {0: "all (P0)"}, {})
    assert len(chart.data) == 1
    titles = [one.text for one in chart.figure.layout.annotations]
    assert titles == ["Runs"]
    assert "largest profile" in chart.takeaway


def test_a_row_has_its_runs_duration_and_memory_and_less_than_half_is_marked():
    chart = fingerprints(made.fit(), NAMES, {-1: 0.1, 0: 0.2, 1: 0.9}, 1)
    data = chart.data.set_index("profile")
    assert -1 not in data.index
    assert data["runs"].to_dict() == {0: 100, 1: 60, 2: 30}
    assert data.loc[0, "memory_used_share"] == 0.2
    assert np.isnan(data.loc[2, "memory_used_share"])
    used = chart.figure.data[-1]
    colours = dict(zip(data.index, used.marker.color, strict=True))
    assert colours[0] != colours[1] == colours[2]
    assert dict(zip(data.index, used.text, strict=True)) == {0: "20 %", 1: "90 %", 2: "–"}
    assert NAMES[0] in chart.takeaway
    (outline,) = chart.figure.layout.shapes
    assert (outline.y0 + outline.y1) / 2 == data.index.tolist().index(1)
    assert next(text for text in chart.figure.layout.yaxis.ticktext if text.startswith("<b>")).endswith("(P1)</b>")


def test_a_click_anywhere_on_a_row_tells_its_profile():
    chart = fingerprints(made.fit(), NAMES, {0: 0.2})
    order = chart.data["profile"].tolist()
    for trace in chart.figure.data[1:]:
        assert [order[int(y)] for y in trace.y] == list(trace.customdata)


def test_on_a_phone_there_are_cells_alone_and_names_keep_their_numbers():
    chart = fingerprints(
        made.fit(), {-1: "Unclustered", **{i: f"{'long ' * 8}(P{i})" for i in range(3)}}, {}, narrow=True
    )
    assert len(chart.figure.data) == 2
    assert all(len(text) < 20 and text.endswith(")") for text in chart.figure.layout.yaxis.ticktext)


def test_the_middle_of_the_scale_is_the_page_in_both_themes():
    heat = fingerprints(made.fit(), NAMES, {}).figure.data[0]
    assert (heat.zmin, heat.zmax) == (-STRONG, STRONG)
    assert {colour.rpartition(",")[2] for place, colour in heat.colorscale if place == 0.5} == {"0)"}


def test_the_answer_counts_what_the_chart_draws():
    words = profiles_sentence(made.fit(), NAMES, {-1: 0.1, 0: 0.2, 1: 0.9})
    assert words.startswith("3 profiles cover 82.6 % of 230 runs. The largest, mixed (P0), holds 43.5 %.")
    assert words.endswith("1 of 2 uses less than half of the memory requested.")
    nothing = replace(made.fit(), scores=replace(made.scores(), n_clusters=0, n_outliers=230))
    assert profiles_sentence(nothing, NAMES, {}).startswith("No profile was found: all 230 runs are unclustered")


@pytest.mark.parametrize("seed", range(5))
def test_no_two_numbers_on_the_map_cover_each_other(seed):
    places = np.random.default_rng(seed).random((MOST_NAMED, 2)) * (0.5 if seed else 0.0)
    at = places[:, 1] * VALUES_PX + np.array(shifts(places))
    for i, j in zip(*np.triu_indices(MOST_NAMED, 1), strict=True):
        assert abs(places[i, 0] - places[j, 0]) >= LABEL_SHARE or abs(at[i] - at[j]) >= LABEL_PX


def test_numbers_that_have_room_stay_where_they_are():
    assert shifts(np.array([[0.0, 0.0], [0.5, 0.0], [0.0, 0.5]])) == [0, 0, 0]
    assert shifts(np.array([[0.0, 0.0], [0.01, 0.001]])) == [0, LABEL_PX]


def test_a_phone_has_short_names_of_rows_that_keep_their_numbers():
    names = {label: f"{'a long name ' * 3}<{label}> (P{label})" for label in (-1, 0, 1, 2)}
    chart = feature_boxes(made.fit(), names, "cpu_usage_percent")
    axis = chart.sent(dark=False, selectable=False, narrow=True)["layout"]["yaxis"]
    assert all(len(text) <= LONGEST_ON_A_PHONE for text in axis["ticktext"])
    assert [text[-4:] for text in axis["ticktext"]] == [f"(P{label})"[-4:] for label in (1, 0, 2, -1)]
    assert list(axis["tickvals"]) == [trace["y"][0] for trace in chart.figure.data]
    assert "ticktext" not in chart.sent(dark=False, selectable=False)["layout"]["yaxis"]


def test_weekdays_are_of_clocks_with_dates_alone():
    """Day 0 of a trace is counted as a Thursday, the first day of 1970; without dates it is day 0, as in Demand."""
    card = replace(made.fit().cards[1], arrivals_by_weekday=np.array([0, 0, 0, 9, 4, 0, 1]))
    named, counted = (arrivals(card, NAMES[0], dates=dates) for dates in (True, False))
    assert named.takeaway.endswith("and on Thu.") and counted.takeaway.endswith("and on day 0 of 7.")
    assert list(named.figure.data[1].y) == [0, 0, 0, 9, 4, 0, 1]
    assert list(counted.figure.data[1].x) == [f"day {day}" for day in range(7)]
    assert list(counted.figure.data[1].y) == [9, 4, 0, 1, 0, 0, 0]
