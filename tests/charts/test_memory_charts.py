"""Figures and tables of memory: they say what the records hold, with units, risk beside saving, and names made safe."""

import dataclasses
import math

import numpy as np
import pytest

from tests.charts import records_for_memory as given
from tests.charts.records_for_tests import HOSTILE
from tests.memory.published_memory import u_score_of
from workprof.answers.assessment import assessment_answer, assessment_sentence
from workprof.answers.bins import answer
from workprof.answers.models import every_model, models_answer, ranking_warning
from workprof.answers.policies import acceptable, picked, policy_name, replay_answer, rules_note, why_answer
from workprof.answers.scenarios import (
    bins_scenario,
    comparison_table,
    models_scenario,
    policy_scenario,
    scenarios_answer,
    verdict_scenario,
)
from workprof.answers.tasks import task_labels
from workprof.charts.memory.bins import improvement_chart, usage_ecdf
from workprof.charts.memory.boxes import fact_bars, fact_scatter, facts_of_task, task_boxes
from workprof.charts.memory.models import bin_confusion, estimated_and_replayed, learning_curve, under_outline
from workprof.charts.memory.policies import frontier_chart, why_costs, why_history
from workprof.charts.memory.tasks import classes_chart, row_labels
from workprof.charts.shapes import headlines
from workprof.core.answer import to_frame
from workprof.core.units import GB, gb, gb_h, number, saved
from workprof.core.words import counted
from workprof.memory.assessment import AssessmentSettings, ClassSettings, assessment_of, with_limits
from workprof.memory.facts import FactPointsSettings, fact_points_of
from workprof.memory.scenarios import compare
from workprof.store.reports import Dataset

DATASET = Dataset("a table", "abc", "jobs", "generic", 185, 185, "2024-01-01T00:00:00", "corrected", "a.csv")

EVERY = {
    "boxes": lambda: task_boxes(given.assessment()),
    "close up": lambda: task_boxes(given.assessment(), 2.0),
    "classes": lambda: classes_chart(given.assessment()),
    "facts": lambda: fact_bars(given.assessment().features, "", after=True),
    "usage": lambda: usage_ecdf(given.bins()),
    "usage by count": lambda: usage_ecdf(given.bins(weight="count", search="stride", top="pinned")),
    "improvement": lambda: improvement_chart(given.curve(), 3),
    "confusion": lambda: bin_confusion(given.models(), given.models().models[0]),
    "models": lambda: estimated_and_replayed(given.models()),
    "frontier": lambda: frontier_chart(given.replayed(), 1.0),
    "learning": lambda: learning_curve(given.replayed()),
    "history": lambda: why_history(given.reason()),
    "costs": lambda: why_costs(given.reason()),
}


def points(trace, axis):
    return np.asarray(trace[axis], dtype=float)


def test_shown_names_lead_back_to_their_tasks():
    tasks = ["A:B:SORT", "A:C:SORT", "A:C:INDEX", "plain", "C:SORT", "INDEX:"]
    labels = task_labels(tasks)
    assert sorted(labels.values()) == sorted(tasks)
    assert labels["INDEX"] == "A:C:INDEX"
    assert labels["plain"] == "plain"
    assert task_labels(["X", "A:X"]) == {"X": "X", "A:X": "A:X"}
    assert task_labels(["A:X", "A:X"]) == {"X": "A:X"}


def test_rows_of_a_figure_have_names_of_their_own():
    tasks = [f"A{n}:{'x' * 40}:{end}" for n in range(3) for end in ("SORT_OF_A_VERY_LONG_NAME_THAT_ENDS", "B")]
    rows = row_labels(tasks)
    assert len(set(rows)) == len(tasks)
    assert all(len(row) <= 30 for row in rows)
    assert rows[0].startswith("…")
    assert rows[0].endswith("THAT_ENDS (1)")


def test_the_headlines_are_sums_of_the_tasks():
    found = given.assessment()
    table = to_frame(assessment_answer(found))
    assert table["wasted_gb_h"].is_monotonic_decreasing
    requested = table["requested_gb_h"].sum()
    jobs = given.jobs()
    hours = jobs["duration_s"] / 3600
    assert requested == pytest.approx((jobs["requested_memory_bytes"] / GB * hours).sum())
    used = (jobs["peak_memory_bytes"] / GB * hours).sum()
    assert requested - table["wasted_gb_h"].sum() == pytest.approx(used)
    shown = {line.label: line for line in headlines(assessment_answer(found))}
    assert len(shown) == 4
    assert (shown["Requested"].value, shown["Requested"].detail) == (
        gb_h(requested),
        f"used {gb_h(used)} by {found.n_runs} runs",
    )
    assert shown["Memory utilisation"].value == f"{100 * used / requested:.1f} %"
    assert list(table["too_few"]) == [task.n < 34 for task in found.tasks]


def test_a_table_without_requests_says_that_nothing_can_be_called_wasted():
    found = assessment_of(
        {"jobs": given.jobs().drop(columns=["requested_memory_bytes", "cpu_usage_percent"])}, AssessmentSettings()
    )
    assert "has a request" in assessment_sentence(found)
    shown = {line.label: line.value for line in headlines(assessment_answer(found))}
    assert shown["Memory utilisation"] == shown["CPU utilisation"] == "no data"
    assert len(to_frame(assessment_answer(found), "groups")) == 1
    assert task_boxes(found).takeaway


def test_classes_are_told_by_symbol_and_word_and_add_up():
    found = given.assessment()
    chart = classes_chart(found)
    marked = {trace.name: [x for x in trace.x if x is not None] for trace in chart.figure.data}
    assert {name: len(values) for name, values in marked.items()} == found.classes.counts
    assert len({trace.marker.symbol for trace in chart.figure.data}) == 3
    assert [shape.x0 for shape in chart.figure.layout.shapes] == [5.0, 20.0]


@pytest.mark.parametrize("limits", [(1.0, 2.0), (1.4, 30.0), (5.0, 20.0)])
def test_other_limits_give_the_classes_of_a_whole_assessment(limits):
    settings = ClassSettings("fixed", *limits)
    whole = assessment_of(given.frames(), AssessmentSettings(classes=settings))
    quick = with_limits(given.assessment(), settings)
    assert quick.classes == whole.classes
    assert quick.settings == whole.settings
    assert [task.size_class for task in quick.tasks] == [task.size_class for task in whole.tasks]


def test_facts_of_after_the_run_are_hatched_and_can_be_left_out():
    facts = given.assessment().features
    chart = fact_bars(facts, given.HEAVY, after=True)
    after = next(trace for trace in chart.figure.data if trace.name == "after the run")
    assert "rchar" in after.y
    assert after.marker.pattern.shape == "/"
    assert chart.takeaway.startswith("Best submit-time predictor for HEAVY: group")
    assert not any(fact.after_the_run for fact in facts_of_task(facts, given.HEAVY, after=False))
    assert fact_bars(facts, given.THIN, after=True) is None


@pytest.mark.parametrize(("column", "marks"), [("rchar", 120), ("group", 2)])
def test_one_fact_is_drawn_with_when_it_is_known(column, marks):
    found = fact_points_of(given.frames(), FactPointsSettings(column, task=given.HEAVY))
    chart = fact_scatter(found)
    drawn = chart.figure.data
    assert (len(drawn[0].x) if found.kind == "number" else len(drawn)) == marks
    assert found.known in chart.takeaway
    assert ("not usable for prediction" in chart.takeaway) is (column == "rchar")
    assert "Memory used (GB)" in f"{chart.figure.layout.xaxis.title.text} {chart.figure.layout.yaxis.title.text}"


def test_values_of_a_fact_that_begin_alike_have_boxes_of_their_own():
    frames = {name: frame.copy() for name, frame in given.frames().items()}
    frames["jobs"]["group"] = [f"a-registry-and-a-long-folder/{one}" for one in frames["jobs"]["group"]]
    chart = fact_scatter(fact_points_of(frames, FactPointsSettings("group", task=given.HEAVY)))
    assert len({box.y[0] for box in chart.figure.data}) == len(chart.figure.data) == 2


def test_the_shaded_area_is_the_memory_that_stays_unused():
    found = given.bins()
    unused = usage_ecdf(found).figure.data[0]
    x, y = points(unused, "x"), points(unused, "y")
    area = abs(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) / 2
    jobs = given.jobs()[given.jobs()["task_name"] == given.HEAVY]
    used, hours = jobs["peak_memory_bytes"] / GB, jobs["duration_s"]
    edges = np.array(found.edges_bytes) / GB
    given_gb = edges[np.searchsorted(edges * (1 + 1e-9), used * (1 + found.settings.headroom))]
    assert area == pytest.approx(np.average(given_gb - used, weights=hours), rel=1e-6)


def test_edges_stand_at_their_sizes_and_the_risk_beside_the_saving():
    own = given.bins(edges_bytes=(10.0 * GB, 5.0 * GB))
    chart = usage_ecdf(own)
    assert [shape.x0 for shape in chart.figure.layout.shapes] == [5.0, 10.0, 64.0]
    above = own.effect.n_above
    assert above > 0
    hours = given.jobs().query("task_name == @given.HEAVY").sort_values("peak_memory_bytes")
    share = hours["duration_s"].cumsum() / hours["duration_s"].sum()
    half = hours["peak_memory_bytes"].iloc[np.searchsorted(share, 0.5)] / GB
    assert f"Half of the run time needs at most {gb(half)}" in chart.takeaway
    told = answer(own)
    assert {one.label: one.value for one in told.figures}["Above largest bin"] == f"{above} runs"
    assert to_frame(told)["runs"].sum() + above == 120


def test_a_size_that_costs_more_is_not_called_a_saving():
    assert saved(0.313) == "31.3 % less"
    assert saved(-0.12) == "12.0 % more"
    assert "unknown" in saved(math.nan)
    dear = given.bins(edges_bytes=(1000.0 * GB,))
    assert "% more than the GB·h that 120 runs request" in answer(dear).sentence


@pytest.mark.parametrize("weight", ["time", "count"])
def test_the_improvement_is_marked_at_the_chosen_number_under_the_bound(weight):
    found = given.curve(weight=weight)
    chart = improvement_chart(found, 2)
    oracle, continuous, curve, mark = chart.figure.data
    assert list(mark.x) == [2]
    assert mark.y[0] == points(curve, "y")[1]
    assert (
        max(points(curve, "y"))
        <= oracle.y[0]
        == (found.oracle.saved_share if weight == "count" else found.oracle.time_based_saved_share)
    )
    assert continuous.y[0] < oracle.y[0]
    assert "chosen" in mark.name


@pytest.mark.parametrize("bins", [2, 3, 5])
def test_the_outline_holds_the_under_estimates_and_nothing_else(bins):
    path = under_outline(bins)["path"].replace("Z", "").split()
    corners = [tuple(float(value) for value in word.split(",")) for word in path if "," in word]

    def inside(x, y):
        crossings = 0
        for (x0, y0), (x1, y1) in zip(corners, corners[1:] + corners[:1], strict=True):
            if (y0 > y) != (y1 > y) and x < x0 + (y - y0) / (y1 - y0) * (x1 - x0):
                crossings += 1
        return crossings % 2 == 1

    for true in range(bins):
        for predicted in range(bins):
            assert inside(predicted, true) is (predicted < true)


def test_the_models_are_ordered_by_the_replay_and_failures_stand_beside():
    found = given.models()
    table = to_frame(models_answer(found))
    assert table["replayed_improvement"].is_monotonic_decreasing
    assert len(table) == 2 * len(found.models) + 2
    best = every_model(found)[0]
    shown = {line.label: line.value for line in headlines(models_answer(found))}
    assert shown["Failed attempts"] == f"{best.failures:,}"
    assert f"{best.failures} attempt" in models_answer(found).sentence
    for model in found.models:
        assert model.u_score == pytest.approx(u_score_of(model.accuracy, model.u_rate))
        under = int(np.tril(model.confusion, -1).sum())
        assert f"{under:,} test run" in bin_confusion(found, model).takeaway


def test_a_turned_ranking_is_told():
    found = given.models()
    assert bool(ranking_warning(found)) is found.ranks_differ
    turned = dataclasses.replace(
        found,
        ranks_differ=True,
        ranking=dataclasses.replace(found.ranking, best_by_estimate="a", best_by_replay="b", n_pairs=3, n_turned=2),
    )
    assert "2 of 3 pairs" in ranking_warning(turned)
    assert "by the estimate a is best, by the replay b" in ranking_warning(turned)
    assert ranking_warning(turned) == estimated_and_replayed(turned).takeaway


def test_scenarios_keep_the_figures_of_their_records():
    bins, models, plan = given.bins(), given.models(), given.verdict()
    made = (
        bins_scenario(bins, DATASET, "bins"),
        models_scenario(models, DATASET, "models"),
        verdict_scenario(plan, DATASET, "plan"),
    )
    assert made[0].optimal_share == bins.effect.time_based_saved_share
    assert made[0].n_failures == -1
    assert made[1].n_failures == every_model(models)[0].failures
    judged = plan.memory.judged
    assert (made[2].saved_share, made[2].n_failures) == (judged.saved_share, judged.kills)
    table = comparison_table(compare(made))
    assert list(table.columns[1:]) == ["bins", "models", "plan"]
    lines = table.set_index("")
    assert lines.loc["kills", "bins"] == "not replayed"
    assert "★" in " ".join(lines.loc["saved, killed attempts included"])
    assert len(to_frame(scenarios_answer(made))) == 3


@pytest.mark.parametrize("price", [0.0, 0.1, 10.0, 1e6])
def test_the_price_picks_the_cheapest_of_all(price):
    found = given.replayed()
    best = picked(found, price, math.inf)
    every = [(one.wasted_gb_h, one.failures) for one in (*found.policies.values(), *found.frontier)]
    assert best.total_gb_h(price) == pytest.approx(min(waste + price * failed for waste, failed in every))
    marks = {trace.name: trace for trace in frontier_chart(found, price, math.inf).figure.data}
    assert (marks["chosen"].x[0], marks["chosen"].y[0]) == (best.failures, best.wasted_gb_h)
    assert [line.label for line in headlines(replay_answer(found, price))][:2] == ["Wasted", "Failed attempts"]
    assert to_frame(replay_answer(found, price))["total_gb_h"].is_monotonic_increasing


def test_the_pick_of_a_price_becomes_a_scenario():
    found = given.replayed()
    kept = policy_scenario(found, 1e6, DATASET, "no failures")
    best = picked(found, 1e6)
    assert (kept.policy, kept.n_failures) == (best.name, round(best.failures))
    told = to_frame(scenarios_answer([kept]))["kills"][0]
    assert told == f"{kept.n_failures:,} in {found.n_test:,} runs"
    now = found.policies["preset"]
    assert kept.saved_share == pytest.approx(1 - (found.used_gb_h + best.wasted_gb_h) / now.charged_gb_h)
    for one in found.policies.values():
        assert found.used_gb_h + one.wasted_gb_h == pytest.approx(one.charged_gb_h)


def test_every_point_of_the_plane_is_in_the_table():
    found = given.replayed()
    assert len(frontier_chart(found, 0.0).data) == len(found.policies) + len(found.frontier)
    words = frontier_chart(found, 0.0).takeaway
    assert words.startswith("With their usual settings, ")  # unlike the curve beside them
    good, names = int(words.split()[4]), words.partition(": ")[2]
    assert len(names.split("; ")) == good  # names have commas
    assert "GB·h" not in rules_note(found, list(found.policies.values()))  # which the table has


@pytest.mark.parametrize(("times", "ticks"), [(1.0, "~s"), (1e-9, None)])
def test_small_amounts_are_not_written_in_thousandths(times, ticks):
    found = given.replayed()
    policies = {
        name: dataclasses.replace(one, wasted_gb_h=one.wasted_gb_h * times) for name, one in found.policies.items()
    }
    small = dataclasses.replace(found, policies=policies)
    assert frontier_chart(small, 0.0).figure.layout.yaxis.tickformat == ticks  # else 0.005 would be 5m


@pytest.mark.parametrize("kills", [None, 0.0, 10.0, 1e6])
def test_what_is_chosen_stays_within_the_acceptable_kills(kills):
    found = given.replayed()
    best, limit = picked(found, 0.0, kills), acceptable(found, kills)
    assert limit == (found.policies["preset"].failures if kills is None else kills)
    fit = [one for one in (*found.policies.values(), *found.frontier) if one.failures <= limit]
    assert best.failures <= limit
    assert best.wasted_gb_h == min(one.wasted_gb_h for one in fit)
    chart = frontier_chart(found, 0.0, kills)
    today = next(trace for trace in chart.figure.data if trace.name == "requests enforced")
    assert (today.x[0], today.marker.symbol) == (found.policies["preset"].failures, "x")
    (better,) = chart.figure.layout.shapes
    assert (better.x1, better.y1) == (today.x[0], today.y[0])
    right, top = chart.figure.layout.xaxis.range[1], chart.figure.layout.yaxis.range[1]
    drawn = [x for trace in chart.figure.data if trace.name in ("workprof", "published rules") for x in trace.x]
    away = [one for one in found.policies.values() if one.failures > right or one.wasted_gb_h > top]
    assert len(drawn) + len(away) == len(found.policies) - 1
    assert all(policy_name(one.policy) in chart.note for one in away)


def test_the_reason_shows_every_run_above_the_size():
    found = given.reason()
    fits, above, *lines = why_history(found).figure.data
    assert len(above.x) == found.n_above
    assert len(fits.x) + len(above.x) == found.n_known
    assert lines[0].y[0] == found.size_bytes / GB
    shown = {line.label: line for line in headlines(why_answer(found))}
    assert shown["Retry probability"].detail.endswith("%")


def test_hostile_names_are_in_the_tables_as_they_are_and_in_figures_escaped():
    chart = task_boxes(given.assessment())
    assert any(HOSTILE in name for name in chart.data["task"])
    assert not any("<" in str(trace.name) for trace in chart.figure.data)


def test_failed_attempts_are_no_runs():
    """A run may fail several times: of twice as many attempts as runs no share of the runs is told."""
    found = given.replayed()
    many = {name: dataclasses.replace(one, failures=2.0 * found.n_test) for name, one in found.policies.items()}
    answer = replay_answer(dataclasses.replace(found, policies=many, frontier=()))
    n, runs = number(2.0 * found.n_test), counted(found.n_test, "run")
    assert answer.sentence.endswith(f"It has {n} failed attempts in {runs}; enforcing has {n}.")
    (failed,) = (one for one in answer.figures if one.label == "Failed attempts")
    assert failed.detail == f"in {runs}"
