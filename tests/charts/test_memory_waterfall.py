"""The steps from now to planned."""

from dataclasses import replace

import pytest

from tests.charts import records_for_memory as given
from workprof.answers.models import changes_of, every_model
from workprof.charts.memory.models import waterfall
from workprof.core.units import gb_h


def steps_of(found):
    return every_model(found)[0].waterfall


def with_steps(**figures):
    """Return the models with other steps for every one of them."""
    found = given.models()

    def changed(model):
        return replace(model, waterfall=replace(model.waterfall, **figures))

    return replace(
        found,
        models=tuple(map(changed, found.models)),
        cheapest=tuple(map(changed, found.cheapest)),
        constant=changed(found.constant),
        cheapest_constant=changed(found.cheapest_constant),
    )


def test_the_bars_are_the_steps_of_the_best_model_and_lead_to_the_plan():
    found = given.models()
    chart, steps = waterfall(found), steps_of(found)
    (trace,) = chart.figure.data
    assert list(trace.measure) == ["absolute", *["relative"] * 4, "total"]
    changes = [steps.now_gb_h, steps.bins_gb_h, steps.margin_gb_h, steps.model_gb_h, steps.retries_gb_h]
    assert list(trace.x) == [*changes, steps.planned_gb_h]
    assert list(trace.y) == ["now", "bins", "margin", "model errors", "retries", "planned"]
    assert sum(changes) == pytest.approx(steps.planned_gb_h)
    assert chart.data["gb_h"].tolist() == list(trace.x)
    assert chart.data["reached_gb_h"].tolist()[-2] == pytest.approx(steps.planned_gb_h)


def test_the_sentence_has_units_saving_and_every_step():
    found = given.models()
    chart, steps = waterfall(found), steps_of(found)
    assert f"{gb_h(steps.planned_gb_h)} planned of {gb_h(steps.now_gb_h)} requested" in chart.takeaway
    for word in ("bins alone", "margin", "model errors", "retries"):
        assert word in chart.takeaway
    assert "GB·h" in chart.figure.layout.xaxis.title.text
    assert chart.alt.endswith(chart.takeaway)
    assert f"{gb_h(steps.used_gb_h)} that were used" in chart.note


def test_a_plan_that_costs_more_is_called_more():
    chart = waterfall(with_steps(now_gb_h=10.0, bins_gb_h=2.0, planned_gb_h=15.0, n_unfinished=2))
    assert "50.0 % more" in chart.takeaway
    assert "bins alone +2," in chart.takeaway
    assert "2 runs never finished" in chart.note


def test_the_numbers_beside_the_bars_have_room_and_nothing_is_no_step():
    chart = waterfall(with_steps(now_gb_h=10.0, bins_gb_h=-12.0, margin_gb_h=0.0, model_gb_h=0.0, planned_gb_h=8.0))
    low, high = chart.figure.layout.xaxis.range
    assert low < -2.0
    assert high > 10.0
    assert list(chart.figure.data[0].text)[2:4] == ["0", "0"]
    nothing = dict.fromkeys(("now_gb_h", "bins_gb_h", "margin_gb_h", "model_gb_h", "retries_gb_h", "planned_gb_h"), 0.0)
    chart = waterfall(with_steps(**nothing))
    assert "an unknown share less" in chart.takeaway
    assert chart.figure.layout.xaxis.range[1] > 0


def test_the_table_adds_up_for_every_model():
    found = given.models()
    for model in every_model(found):
        assert sum(changes_of(model.waterfall)) == pytest.approx(model.waterfall.planned_gb_h)
