"""Requested, used and recommended GB·h by key, and the recommendation beside both baselines."""

import dataclasses

import pytest

from tests.charts import records_for_memory as given
from tests.charts.records_for_tests import HOSTILE
from workprof.charts.memory.held import MOST_ROWS, held_chart, held_table, requested_chart
from workprof.charts.memory.recommendation import frontier_and_baselines, recommendation_headlines
from workprof.memory.advised_sizes import OUTSIDE, Held
from workprof.memory.recommend import next_step


def of(keys, by="profile"):
    """Return a recommendation with keys of decreasing waste."""
    found = given.recommended()
    held = tuple(Held(key, 10, 100.0 - at, 10.0, 50.0 if at else 120.0, at, 7) for at, key in enumerate(keys))
    return dataclasses.replace(found, held=held, settings=dataclasses.replace(found.settings, by=by))


def test_every_key_shows_what_it_requests_uses_and_should_request():
    found = given.recommended()
    chart = held_chart(found)
    requested, used, *marks = chart.figure.data
    assert list(requested.x) == [one.requested_gb_h for one in found.held]
    assert list(used.x) == [one.used_gb_h for one in found.held]
    recommended = {row: x for trace in marks for row, x in zip(trace.y, trace.x, strict=True) if x is not None}
    assert recommended == {row: one.recommended_gb_h for row, one in zip(requested.y, found.held, strict=True)}
    assert sum(recommended.values()) == pytest.approx(found.recommended.charged_gb_h)
    assert "are not used" in chart.takeaway
    assert held_table(found)["kills"].sum() == found.recommended.failures


def test_more_than_requested_is_red_and_named_and_less_is_green():
    chart = held_chart(of(["P0", "P1", OUTSIDE]), {"P0": "bert · worker (P0)"})
    less, more = (trace for trace in chart.figure.data if trace.yaxis == "y2")
    assert (len(less.x), len(more.x)) == (2, 1)
    assert "more than requested" in more.name
    assert list(chart.figure.layout.yaxis2.ticktext) == ["+20 %", "−49 % · 1 kill", "−49 % · 2 kills"]
    assert list(chart.figure.data[0].y) == ["bert · worker (P0)", "P1", "Unclustered"]


def test_a_long_name_of_a_profile_keeps_its_beginning_and_its_number():
    chart = held_chart(of(["P0", "P1"]), {"P0": "bert · worker, large GPU memory (P0)", "P1": "short (P1)"})
    assert list(chart.figure.data[0].y) == ["bert · worker (P0)", "short (P1)"]
    assert list(chart.data["name"]) == ["bert · worker, large GPU memory (P0)", "short (P1)"]


def test_many_keys_fold_into_the_data_and_hostile_names_are_escaped():
    found = of([f"{HOSTILE}{at}" for at in range(MOST_ROWS + 5)], by="user")
    chart = held_chart(found)
    assert len(chart.figure.data[0].y) == MOST_ROWS
    assert f"The {MOST_ROWS} of {MOST_ROWS + 5} users" in chart.note
    assert len(chart.data) == MOST_ROWS + 5
    assert "<script" not in str(chart.figure.to_json())


def test_where_requests_are_kept_the_share_used_stands_instead_of_a_change():
    found = dataclasses.replace(of(["P0", "P1"]), kept=True)
    assert list(held_chart(found).figure.layout.yaxis2.ticktext) == ["10 % used", "10 % used"]


def test_both_baselines_and_the_recommendation_stand_where_their_figures_are():
    found = given.recommended()
    chart = frontier_and_baselines(found)
    marks = {trace.name: (trace.x[0], trace.y[0], trace.marker.symbol) for trace in chart.figure.data}
    assert marks["requested"] == (0, found.requested.wasted_gb_h, "cross")
    assert marks["requests enforced"] == (found.enforced.failures, found.enforced.wasted_gb_h, "x")
    assert marks["recommended"] == (found.recommended.failures, found.recommended.wasted_gb_h, "circle")
    (better,) = chart.figure.layout.shapes
    assert (better.x1, better.y1) == (found.enforced.failures, found.enforced.wasted_gb_h)
    assert chart.figure.layout.xaxis.type is None
    assert chart.figure.layout.yaxis.type is None
    assert len(recommendation_headlines(found)) == 4


def test_the_next_step_saves_on_both_halves_with_the_fewest_further_kills():
    found = given.recommended()
    step = next_step(found.tried, 0)
    if step is not None:
        assert step.past.failures > 0
        assert min(step.past.saved_share, step.judged.saved_share) > 0
    assert next_step(found.tried, 1e9) is None


def test_before_a_recommendation_requests_and_use_stand_alone():
    found = given.assessment()
    requested, used = requested_chart(found).figure.data
    tasks = sorted(found.tasks, key=lambda one: -one.wasted_gb_h)[:MOST_ROWS]
    assert list(requested.x) == [one.requested_gb_h for one in tasks]
    assert [asked - held for asked, held in zip(requested.x, used.x, strict=True)] == pytest.approx(
        [one.wasted_gb_h for one in tasks]
    )
