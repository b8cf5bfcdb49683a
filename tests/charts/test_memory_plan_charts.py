"""The steps from now to planned, and the words around the bins of a profile."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_memory as given
from tests.charts.records_for_tests import HOSTILE
from workprof.charts.memory.bins import (
    bins_sentence,
    profile_bins_scenario,
    profile_headlines,
    profile_notes,
    profile_sentence,
    usage_ecdf,
)
from workprof.charts.memory.load import (
    bursts_sentence,
    load_chart,
    load_table,
    never_sentence,
    never_table,
)
from workprof.charts.memory.models import every_model
from workprof.charts.memory.plans import waterfall, waterfall_table
from workprof.charts.memory.recommendation import size_table
from workprof.core.units import GB, gb, gb_h
from workprof.memory.bins import PROFILE_COLUMN, ProfileBinSettings, profile_bins_of
from workprof.memory.plan import PlanSettings
from workprof.memory.rollup import RollupSettings, rollup_of
from workprof.store.reports import Dataset


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
    assert f"{gb_h(steps.now_gb_h)} requested, {gb_h(steps.planned_gb_h)} planned" in chart.takeaway
    for word in ("bins alone", "margin", "model errors", "retries"):
        assert word in chart.takeaway
    assert "GB·h" in chart.figure.layout.xaxis.title.text
    assert chart.alt.endswith(chart.takeaway)
    assert f"{gb_h(steps.used_gb_h)} were used" in chart.note


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
        table = waterfall_table(model.waterfall)
        assert table["gb_h"][:-1].sum() == pytest.approx(table["gb_h"].iloc[-1])


def of_profile(task="sort", profile=0, bare=0):
    random = np.random.default_rng(1)
    use = random.uniform(1, 9, 60) * 1e9
    table = pd.DataFrame(
        {
            PROFILE_COLUMN: np.repeat([0.0, 1.0, np.nan], [40, 15, 5]),
            "task_name": [task if place % 4 else f"other {place % 5}" for place in range(60)],
            "peak_memory_bytes": use,
            "requested_memory_bytes": [np.nan] * bare + [16e9] * (60 - bare),
            "duration_s": 3600.0,
        }
    )
    return profile_bins_of({"jobs": table}, ProfileBinSettings(profile))


def test_the_words_of_a_profile_say_whose_runs_and_what_they_waste():
    found = of_profile()
    sentence = profile_sentence(found, "P0 readers")
    assert sentence.startswith("P0 readers: 40 runs of 6 tasks (sort 75.0 %, ")
    assert "and 3 more" in sentence
    assert f"waste {gb_h(found.wasted_gb_h)} of it" in sentence
    assert profile_headlines(found)[0].value == gb_h(found.wasted_gb_h)
    assert "for P0 readers (" in bins_sentence(found.bins, "P0 readers")
    assert "Models tab" not in usage_ecdf(found.bins, "P0 readers").note


def test_what_limits_them_is_noted():
    few = profile_notes(of_profile(profile=1))
    assert few[0] == "Too few runs: 15, and 34 are the least that sizes should rest on."
    notes = profile_notes(of_profile(bare=3))
    assert notes[0].startswith("3 of the profile's 40 rows have no request")
    assert notes[1] == "5 rows of the dataset are in no clustering, so in no profile."


def test_a_hostile_task_name_is_shortened_and_a_scenario_names_the_profile():
    found = of_profile(task=HOSTILE * 5)
    assert len(profile_sentence(found, "P0")) < 400
    dataset = Dataset("runs", "ab" * 16, "jobs", "generic", 60, 60, "2026-01-01", "corrected", "runs.csv")
    made = profile_bins_scenario(found, dataset, "mine", "P0 readers (default)")
    assert made.settings["profile"] == "P0 readers (default)"
    assert (made.n_runs, made.task) == (40, "")


def test_the_load_is_drawn_and_told_as_computed():
    found = given.rollup()
    load = found.load
    chart = load_chart(load)
    assert [trace.name for trace in chart.figure.data][:2] == ["requested", "planned"]
    assert max(chart.figure.data[0].y) == load.today_gb
    assert chart.figure.data[2].y[0] == load.today_gb / 2
    assert gb(load.course("planned").peak_gb) in chart.takeaway
    assert "Counted, not simulated" in chart.note
    table = load_table(load)
    assert table["peak_gb"].tolist() == [one.peak_gb for one in load.courses]
    assert table["waiting_runs"].tolist() == [one.above[0].n_waiting for one in load.courses]
    assert never_sentence(found.plan.never) == ""
    asked = RollupSettings(plan=PlanSettings(cap_bytes=30 * GB), growth=2.0, capacity_bytes=9e14)
    capped = rollup_of(given.frames(), asked)
    names = [trace.name for trace in load_chart(capped.load).figure.data]
    assert names[:3] == ["requested", "requested, capped", "planned"]
    assert never_sentence(capped.plan.never).startswith(f"{capped.plan.never.n_runs} of 185 runs can never run")
    told = load_chart(capped.load)
    assert "with 2 times the load" in told.takeaway
    assert "always enough for the plan" in told.takeaway
    assert f"Of the {capped.plan.never.n_runs} runs that can never run" in told.note
    assert never_table(capped.plan.never)["runs"].sum() == capped.plan.never.n_runs
    all_fit = rollup_of(given.frames(), RollupSettings(plan=PlanSettings(cap_bytes=1000 * GB)))
    assert never_sentence(all_fit.plan.never) == "Every one of 185 runs fits the node cap of 1,000 GB."
    assert bursts_sentence(all_fit) == ""


def test_a_kept_request_has_the_kills_of_its_enforcement_and_profiles_have_their_names():
    found = given.recommended()
    first = found.sizes[0]
    kept = replace(first, key="P3", kept=True, n_tested=4, kill_probability=0.25, kill_low=0.05, kill_high=0.7)
    settings = replace(found.settings, by="profile")
    record = replace(found, settings=settings, sizes=(kept, replace(kept, kept=False), replace(kept, n_tested=0)))
    table = size_table(record, {"P3": "bert (P3)"})
    likely = "25.0 % (5.0 to 70.0 %)"
    assert table["kill_probability"].tolist() == [f"if enforced: {likely}", likely, "not tested"]
    assert set(table["key"]) == set(table["full_name"]) == {"bert (P3)"}
