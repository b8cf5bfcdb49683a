"""Figures and tables of the feedback loop, from the small world whose drift is planted."""

import math

import pytest

from tests.forecasts.loops import TARGET, begun, jobs_of, model_of, seen
from workprof.answers.feedback import (
    advice_sentence,
    drift_table,
    drift_words,
    feedback_figures,
    needs_table,
    observed_sentence,
    observed_words,
)
from workprof.charts.feedback import acquires_history, drift_bars
from workprof.forecasts.feedback.drift import feedback_now
from workprof.forecasts.feedback.loop import FeedbackSettings

HOSTILE = "<b>P1</b>"


@pytest.fixture(scope="module")
def observed():
    """The model, the state and the answer after jobs of which two kinds take twice as long."""
    model = model_of()
    state, found = seen(begun(model), model, jobs_of(800, 6, factors=(2.0, 2.0, 1, 1)))
    return model, state, found


def test_the_history_has_the_fit_and_every_observation(observed):
    _, state, _ = observed
    chart = acquires_history(state.history)
    assert chart.data["event"].tolist() == ["fit", "observe"]
    assert f"{state.history[0].acquires:.3f} at the fit" in chart.takeaway
    assert chart.figure.layout.xaxis.title.text
    assert "no finished job was compared" in acquires_history(state.history[:1]).takeaway


def test_drift_is_drawn_where_it_was_planted(observed):
    _, _, found = observed
    chart = drift_bars(found.assessment.drift, TARGET, {1: HOSTILE})
    drifting = chart.data[chart.data["errors"] == "drift"]
    assert set(drifting["profile"]) == {0, 1}
    assert drifting["error_factor"].between(1.6, 2.5).all()
    assert (chart.data["factor_low"] < chart.data["factor_high"]).all()
    assert HOSTILE not in chart.figure.to_json()
    assert "2 " in drift_words(found.assessment.drift)
    assert len(drift_table(found.assessment.drift).rows) == len(found.assessment.drift)


def test_words_of_an_observation(observed):
    model, state, found = observed
    assert "800 finished jobs compared" in observed_sentence(found)
    assert "P0, P1" in advice_sentence(found.assessment)
    headlines = feedback_figures(state, found.assessment)
    assert observed_words(state) == "800 finished jobs compared"
    assert len(headlines) == 4
    fresh = feedback_figures(begun(model), found.assessment)
    assert [headline.value for headline in fresh[:3]] == ["none observed"] * 3


def test_needs_now_follow_the_jobs(observed):
    model, state, _ = observed
    now = feedback_now(state, model, FeedbackSettings())
    table = needs_table(now, TARGET, {0: HOSTILE}).frame().set_index("profile")
    grown = table.loc[HOSTILE]
    assert grown["p50_now"] / grown["p50_at_fit"] == pytest.approx(2, rel=0.25)
    steady = table.loc["P2"]
    assert math.isclose(steady["p50_now"], steady["p50_at_fit"], rel_tol=0.25)
