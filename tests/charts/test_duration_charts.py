"""Figures of durations: cursors read what the curves hold, units stand on the axes, few jobs and misses are named."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.charts.records_for_tests import HOSTILE
from workprof.answers.durations import ObservedView, group_names, quantile_table
from workprof.answers.estimates import (
    MEASURES,
    PREDICTORS,
    ErrorView,
    error_at,
    error_figures,
    interval_sentence,
    predictor_table,
)
from workprof.answers.how_long import expected_evaluation
from workprof.charts.durations.errors import error_cdf, profile_error_boxes
from workprof.charts.durations.observed import MOST_DRAWN, group_curves, observed_ecdf, scaled_axes
from workprof.charts.shapes import NEUTRAL
from workprof.core.words import formatted
from workprof.forecasts.candidates import CANDIDATES
from workprof.forecasts.durations import DurationSettings, observed_durations, share_within, value_at
from workprof.forecasts.errors import DURATION, curve_levels, summarise_errors
from workprof.forecasts.estimate_evaluation import (
    BASELINES,
    ESTIMATORS,
    EstimateEvaluation,
    IntervalErrors,
    ProfileErrors,
)
from workprof.forecasts.estimates import EstimateEvaluationSettings, EstimateSettings

NAMES = {0: f"P0 {HOSTILE}", 3: "P3"}


def observed(by="profile", rows=6_000, groups=5, target="duration_s", zero=0):
    random = np.random.default_rng(0)
    profile = random.integers(-1, groups - 1, rows)
    values = random.lognormal(5 + profile, 1.5)
    values[:zero] = 0.0
    profile[:10] = 90
    jobs = pd.DataFrame({target: values, "profile": profile.astype(float), "user": [f"user {p}" for p in profile]})
    return observed_durations({"jobs": jobs}, DurationSettings(by=by, target=target))


OURS = (*CANDIDATES, "boosted_slow", "combined", "chosen")


def evaluation(mode="corrected", interval=True, profiles=True, target="duration_s"):
    random = np.random.default_rng(1)
    true = random.lognormal(6, 1.5, 400)
    names = [f"profile_{name}" for name in ESTIMATORS] if mode == "faithful" else [*BASELINES, *OURS]
    spread = dict(zip(names, np.linspace(2.0, 0.3, len(names)), strict=True))
    predicted = {name: true * random.lognormal(0, width, 400) for name, width in spread.items()}
    if mode == "faithful":
        predicted |= dict.fromkeys(names, true * 5)
        predicted["profile_q05"] = true * 0.01
    boxes = (
        ProfileErrors(0, 100, np.array([0.1, 0.5, 1.2, 4.0, 30.0]), 0.55),
        ProfileErrors(-1, 50, np.array([0.0, 0.1, 0.4, 0.9, math.inf]), 0.12),
        ProfileErrors(3, 250, np.array([0.0, 0.0, 0.05, 0.3, 0.9]), 0.01),
    )
    return EstimateEvaluation(
        settings=EstimateSettings(target=target, mode=mode),
        n_train=360,
        n_test=400,
        n_left_out=2,
        predictors={name: summarise_errors(name, values, true) for name, values in predicted.items()},
        best="chosen" if mode == "corrected" else "profile_mean",
        interval=IntervalErrors(0.9, 0.898, 15.6, 854.0) if interval else None,
        by_profile=boxes if profiles else (),
        choices=("combined 1.0",),
        notes=(),
        seconds=1.0,
    )


OBSERVED = observed()
GROUPS = group_names(OBSERVED, NAMES)
EVALUATION = evaluation()
NO_BANDS = ObservedView(bands=False)
SLO = ObservedView(limit=600.0, percentile=90.0)
EVERY = {
    "together": observed_ecdf(OBSERVED, GROUPS, SLO),
    "each": group_curves(OBSERVED, GROUPS, SLO),
    "boxes": profile_error_boxes(EVALUATION, NAMES),
    **{measure: error_cdf(EVALUATION, ErrorView(measure)) for measure in MEASURES},
}


@pytest.mark.parametrize("name", sorted(EVERY.keys() - {"each"}))
def test_axes_say_their_unit(name):
    title = EVERY[name].figure.layout.xaxis.title.text
    expected = {
        "together": "time",
        "boxes": "1 = 100 %",
        "ratio": "1 = 100 %",
        "percent": "(%)",
        "factor": "1 = exact",
        "signed": "(%)",
    }
    assert expected[name] in title
    assert "logarithmic" in title


def cells(table):
    """Return a table as people read it."""
    return pd.DataFrame([{column.title: column.cell(row) for column in table.seen} for row in table.rows])


def test_the_cursor_and_the_slo_read_the_curves():
    table = EVERY["together"].data.set_index("group")
    whole = OBSERVED.everything
    assert table.loc["all runs", "at_cursor"] == value_at(whole, 0.9)
    assert table.loc["all runs", "within_slo"] == share_within(whole, 600)
    assert table.loc["all runs", "p50"] == value_at(whole, 0.5)
    assert "90 % of runs finish within" in EVERY["together"].takeaway
    assert "SLO 10 min 00 s" in EVERY["together"].takeaway
    words = cells(quantile_table(OBSERVED, GROUPS, SLO))
    assert words["At 90 %"].str.contains("s|min|h|d").all()
    assert words["Within the limit"].str.endswith(" %").all()


@pytest.mark.parametrize(("target", "unit"), [("duration_s", "s"), ("peak_memory_bytes", "bytes")])
def test_a_file_of_quantiles_names_their_unit(target, unit):
    result = replace(OBSERVED, settings=replace(OBSERVED.settings, target=target))
    table = quantile_table(result, GROUPS, SLO)
    assert set(table.frame()["unit"]) == {unit}
    assert "Unit" not in cells(table)


def test_without_an_slo_nothing_is_said_of_it():
    chart = observed_ecdf(OBSERVED, GROUPS, ObservedView())
    assert "within_slo" not in chart.data.columns
    assert "SLO" not in chart.takeaway
    assert not any("SLO" in note.text for note in chart.figure.layout.annotations)


def test_a_drawn_line_runs_from_none_to_all_and_back_when_complementary():
    for complementary in (False, True):
        view = ObservedView(complementary=complementary, bands=False)
        chart = observed_ecdf(OBSERVED, GROUPS, view)
        whole = chart.figure.data[-1]
        assert (whole.y[0], whole.y[-1]) == ((1.0, 0.0) if complementary else (0.0, 1.0))
        assert whole.line.shape == "hv"
        assert ("above" in chart.figure.layout.yaxis.title.text) is complementary


def test_bands_stay_between_none_and_all_and_only_few_share_a_picture():
    assert len(OBSERVED.groups) > 4
    assert sum(trace.fill == "toself" for trace in EVERY["together"].figure.data) == 1
    assert "Small multiples" in EVERY["together"].note
    assert "Small multiples" not in EVERY["each"].note
    two = observed(groups=2)
    bands = [t for t in observed_ecdf(two, group_names(two), SLO).figure.data if t.fill == "toself"]
    assert len(bands) == len(two.groups)
    for band in bands:
        assert 0 <= np.min(band.y) <= np.max(band.y) <= 1
    assert not [t for t in observed_ecdf(two, group_names(two), NO_BANDS).figure.data if t.fill]


def test_few_jobs_are_dashed_and_named():
    few = [position for position, group in enumerate(OBSERVED.groups) if group.few]
    assert len(few) == 1
    trace = next(t for t in EVERY["together"].figure.data if (t.name or "").endswith("(n &lt; 30)"))
    assert trace.line.dash == "dash"
    assert "fewer than 30 effective jobs, too few to compare: " in EVERY["together"].note
    assert "too few to compare" in EVERY["each"].note
    assert _labels(EVERY["each"])[few[0]].endswith("n < 30")
    assert {trace.line.dash for trace in EVERY["each"].figure.data if trace.line.shape == "hv"} >= {"dash", "solid"}


def _labels(chart):
    return next(t.text for t in chart.figure.data if t.mode == "text" and "<b>" in t.text[0])


def test_a_small_chart_names_its_group_and_reads_its_cursor():
    for narrow, columns in ((False, 4), (True, 2)):
        chart = group_curves(OBSERVED, GROUPS, SLO, narrow=narrow)
        marks = next(t for t in chart.figure.data if t.mode == "markers")
        ticks = next(t for t in chart.figure.data if t.mode == "text" and "<b>" not in t.text[0])
        assert len(ticks.x) <= (3 if narrow else 4) * columns
        assert chart.figure.layout.xaxis.range == (0, columns)
        for position, group in enumerate(OBSERVED.groups):
            assert f"90 %: {formatted('duration_s', value_at(group, 0.9))}" in _labels(chart)[position]
            assert int(marks.x[position]) == position % columns
            assert GROUPS[position].split()[0] in marks.hovertext[position]


def test_an_axis_between_two_named_values_names_its_ends_with_their_unit():
    axis, _ = scaled_axes(NO_BANDS, "duration_s", 3.0, 6.0)
    assert (axis["tickvals"], axis["ticktext"]) == ([3.0, 6.0], ["3 s", "6 s"])


def test_small_charts_have_one_scale_and_keep_to_their_places():
    """A curve of a chart begins at its share 0, ends at its share 1, and never leaves the chart's column and row."""
    figure = group_curves(OBSERVED, GROUPS, NO_BANDS).figure
    ticks = dict(zip(figure.layout.yaxis.tickvals, figure.layout.yaxis.ticktext, strict=True))
    floors = sorted(at for at, words in ticks.items() if words == "0 %")
    tops = sorted(at for at, words in ticks.items() if words == "100 %")
    dotted = next(t for t in figure.data if t.line.dash == "dot")
    lines = np.split(np.array([dotted.x, dotted.y]), np.flatnonzero(np.isnan(dotted.x)), axis=1)
    lines = [line[:, ~np.isnan(line[0])] for line in lines][: len(OBSERVED.groups)]
    assert len(lines) == len(OBSERVED.groups)
    for position, (x, y) in enumerate(lines):
        row = len(floors) - 1 - position // 4
        assert (y.min(), y.max()) == (floors[row], tops[row])
        assert position % 4 <= x.min() < x.max() < position % 4 + 1
        assert np.allclose(x - position % 4, lines[0][0])  # of all runs: the same line in each


def test_what_is_drawn_stays_small():
    many = observed(by="user", rows=40_000, groups=13)
    chart = observed_ecdf(many, group_names(many), SLO)
    assert sum(len(trace.x) for trace in chart.figure.data) < 1.2 * MOST_DRAWN
    assert len(many.groups) == 13
    assert "other (2 more)" in {trace.name.removesuffix(" (n &lt; 30)") for trace in chart.figure.data if trace.name}


def test_a_group_by_no_column_is_one_line_with_its_band():
    alone = observed(by="all")
    chart = observed_ecdf(alone, (), ObservedView())
    assert len(chart.figure.data) == 2
    assert len(chart.data) == 1


@pytest.mark.parametrize("log", [True, False])
@pytest.mark.parametrize("target", ["gpu_usage_percent", "peak_memory_bytes", "duration_s"])
def test_every_target_is_drawn_on_both_axes(target, log):
    found = observed(by="all", target=target, zero=40)
    chart = observed_ecdf(found, (), ObservedView(log_x=log, limit=5.0))
    assert ("logarithmic" in chart.figure.layout.xaxis.title.text) is log
    assert ("finish" in chart.takeaway) is (target == "duration_s")
    drawn = np.asarray(chart.figure.data[-1].x)
    assert (drawn > 0).all() or not log
    assert ("40 of zero seconds" in chart.note) is (target == "duration_s")


def test_error_curves_hold_the_quantiles_of_the_record():
    chart, levels = EVERY["percent"], curve_levels()
    table = chart.data
    for name, errors in EVALUATION.predictors.items():
        assert table[name].to_numpy() == pytest.approx(errors.curve[1] * 100)
    assert error_at(EVALUATION, "chosen", "ratio", 0.8) == EVALUATION.predictors["chosen"].curve[1][160]
    assert levels[160] == pytest.approx(0.8)
    assert list(table.columns)[:2] == ["share", "chosen"]


def test_the_best_is_drawn_boldest_and_last_of_ours():
    traces = [trace for trace in EVERY["ratio"].figure.data if not trace.name.startswith("published")]
    assert traces[-1].name == "workprof · best"
    assert traces[-1].line.width > 1.5 * max(trace.line.width for trace in traces[:-1])
    named = [trace.name for trace in traces if trace.showlegend]
    assert len(named) == 2
    assert named[0].endswith(" · best baseline")
    assert {trace.line.color for trace in traces[:-1]} == {NEUTRAL}


def test_signed_errors_stand_at_p_over_t():
    trace = EVERY["signed"].figure.data[0]
    assert np.asarray(trace.x) == pytest.approx(np.maximum(np.asarray(trace.customdata) / 100 + 1, 1e-4))
    assert "80 % of predictions are at most" in EVERY["signed"].takeaway
    assert EVERY["signed"].takeaway.endswith("are below it.")


def test_the_published_line_has_its_true_unit_and_only_where_it_can_be_compared():
    published = {
        measure: [trace for trace in EVERY[measure].figure.data if trace.name.startswith("published")]
        for measure in MEASURES
    }
    assert {measure: len(traces) for measure, traces in published.items()} == {
        "ratio": 2,
        "percent": 2,
        "factor": 0,
        "signed": 0,
    }
    percent, ratio = published["percent"][0], published["ratio"][0]
    assert np.asarray(percent.x) == pytest.approx(np.asarray(ratio.x) * 100)
    assert DURATION.quantiles[3] in percent.x
    assert percent.line.dash == "dash"
    assert "not recorded" in EVERY["ratio"].note
    hidden = error_cdf(EVALUATION, ErrorView(published=False))
    assert not any(trace.name.startswith("published") for trace in hidden.figure.data)


def test_without_baselines_only_ours_are_left():
    chart = error_cdf(EVALUATION, ErrorView(baselines=False, published=False))
    assert len(chart.figure.data) == len(OURS)
    assert len(predictor_table(EVALUATION, baselines=False).rows) == len(OURS)
    assert "best baseline" in chart.takeaway


def test_every_predictor_has_a_name_and_a_meaning():
    known = {*BASELINES, *OURS, *(f"profile_{name}" for name in ESTIMATORS)}
    assert known == set(PREDICTORS)


def test_an_infinite_error_ends_the_curve_instead_of_the_page():
    true = np.array([0.0] * 30 + [1.0] * 70)
    found = evaluation()
    found.predictors["chosen"] = summarise_errors("chosen", np.full(100, 2.0), true)
    for measure in MEASURES:
        chart = error_cdf(found, ErrorView(measure))
        assert all(np.isfinite(np.asarray(trace.x)).all() for trace in chart.figure.data)
    assert "infinite" in error_cdf(found, ErrorView("ratio")).takeaway
    assert "infinite" in set(cells(predictor_table(found))["Relative error p90"])


def test_the_boxes_are_those_of_the_record_and_misses_are_called_out():
    chart = EVERY["boxes"]
    assert list(chart.data["called_out"]) == [True, True, False]
    assert chart.takeaway.startswith(
        "In 2 of 3 profiles, over 10 % of the runs are off by more than 100 %. By workprof"
    )
    assert "(55 %)" in chart.takeaway
    first = chart.figure.data[0]
    assert (first.q1[0], first.median[0], first.q3[0]) == (0.5, 1.2, 4.0)
    words = [note.text for note in chart.figure.layout.annotations]
    assert words == ["55 % beyond", "12 % beyond", "100 %"]
    assert "published figure" in chart.note
    assert profile_error_boxes(evaluation(profiles=False), NAMES) is None


def test_the_interval_in_words():
    assert interval_sentence(EVALUATION) == (
        "The 90 % interval covers 89.8 % of the test runs. It spans 15.6× (upper / lower end, median), without a model "
        "854×."
    )
    without = evaluation(interval=False)
    assert interval_sentence(without) == ""
    faithful = replace(without, settings=replace(without.settings, mode="faithful"))
    assert interval_sentence(faithful) == "The published estimators give no interval."


def test_the_table_puts_the_best_first_with_shares_and_units():
    words = cells(predictor_table(EVALUATION))
    assert words["Predictor"].iloc[0] == "workprof ★ best"
    assert words["Within 5 %"].str.endswith(" %").all()
    assert words["Median factor"].str.endswith("×").all()
    assert words["Mean absolute error"].str.contains("s|min|h").all()
    assert all(figure.meaning for figure in error_figures(EVALUATION))


def test_faithful_mode_names_its_flaws_and_the_saturated_winner():
    found = evaluation("faithful", interval=False)
    table = predictor_table(found).frame()
    assert "as published" in table["label"].iloc[0]
    assert "19 of 20 jobs need more" in " ".join(table["meaning"])
    takeaway = error_cdf(found, ErrorView("ratio")).takeaway
    assert "best baseline, profile 5th percentile: 99 %, which under-predicts 100 %" in takeaway


def test_the_estimate_counts_turns():
    settings = EstimateEvaluationSettings()
    whole = expected_evaluation(settings, 686).seconds
    by_time = EstimateEvaluationSettings(EstimateSettings(split="by_time"))
    assert expected_evaluation(by_time, 686).seconds < whole / 3


def test_finished_runs_alone_are_drawn_beside_the_censored_curve_and_said():
    random = np.random.default_rng(2)
    need, cut = random.lognormal(5, 1, 900), random.lognormal(5.5, 1, 900)
    done, user = need <= cut, np.where(np.arange(900) % 3, "a", "b")
    jobs = pd.DataFrame({"duration_s": np.minimum(need, cut), "finished": done, "user": user})
    jobs["status"] = np.where(done, "ok", "timeout")
    result = observed_durations({"jobs": jobs}, DurationSettings(by="user"))
    names, view = group_names(result), ObservedView(percentile=90)
    chart = observed_ecdf(result, names, view)
    assert "finished runs alone" in [trace.name for trace in chart.figure.data]
    whole = result.everything
    alone = formatted("duration_s", value_at(whole.finished, 0.9))
    assert f"{done.sum():,} finished runs and {(~done).sum():,} cut short; none excluded." in chart.note
    assert f"Finished runs alone would say {alone} at 90 %." in chart.note
    assert "Hall-Wellner" in chart.note
    table = quantile_table(result, names, view).frame().set_index("group")
    assert table.loc["all runs", "finished_at_cursor"] == value_at(whole.finished, 0.9) < value_at(whole, 0.9)
    assert table.loc["a", "censored"] == (~done & (user == "a")).sum()
    never = cells(quantile_table(result, names, ObservedView(percentile=99.99)))
    assert never["At 99.99 %"].iloc[-1] == f"over {formatted('duration_s', whole.longest)}"
    small = group_curves(result, names, view)
    assert "dotted in colour: finished runs of the group alone" in small.note
