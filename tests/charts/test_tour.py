"""Stops of the tour: they say what the records hold, in one sentence with a number, and draw little."""

import dataclasses
import re

import pytest

from tests.charts import records_for_classify, records_for_memory
from tests.charts.records_for_tests import HOSTILE, NOTES, fit
from tests.memory.test_over_time import trace
from workprof.answers.forecasts import Naming
from workprof.answers.over_time import memory_sentence, row_names
from workprof.answers.verdict import action_words, kills_words, sentence, task_names
from workprof.charts.profiles.overview import profile_names
from workprof.charts.tour import (
    OWN,
    SYNTHETIC,
    decision_stop,
    prediction_stop,
    profiles_stop,
    trade_stop,
    waste_meaning,
    waste_stop,
)
from workprof.core.units import format_share
from workprof.memory.over_time import OverTimeSettings, over_time_of
from workprof.memory.verdict_rows import KEEP

OVER_TIME = over_time_of({"jobs": trace()}, OverTimeSettings(by="task"))
RISKS = ("One run can never run.",)


def decision(found=None):
    return decision_stop(found or records_for_memory.verdict(), records_for_classify.evaluation(), fit(), RISKS, OWN)


def all_stops():
    return {
        "waste": waste_stop(OVER_TIME, row_names(OVER_TIME, ()), records_for_memory.assessment(), (), SYNTHETIC),
        "profiles": profiles_stop(fit(), profile_names(fit(), NOTES)),
        "prediction": prediction_stop(records_for_classify.evaluation(), Naming()),
        "trade": trade_stop(records_for_memory.verdict()),
        "decision": decision(),
    }


STOPS = all_stops()
CHARTS = {"trade": 2, "decision": 0}


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_is_a_sentence_with_a_number_and_few_charts(name):
    stop = STOPS[name]
    plain = stop.headline.replace(HOSTILE, "name")
    assert re.search(r"\d", plain)
    assert plain.endswith(".")
    if name not in ("trade", "decision"):  # what to do stands before the sentence that says why
        assert not re.search(r"[.!?] [A-Z]", plain)
    assert len(stop.charts) == CHARTS.get(name, 1)
    assert len(stop.figures) <= 4
    assert all(text.endswith(".") for text in (stop.means, stop.means_not, *stop.limits))
    assert all(chart.alt and chart.takeaway for chart in stop.charts)


def test_the_first_stop_has_what_is_unused_and_what_is_above_its_request():
    found = records_for_memory.assessment()
    assert STOPS["waste"].headline == memory_sentence(OVER_TIME)
    assert STOPS["waste"].means.endswith("and no finished run exceeds its own.")
    above = dataclasses.replace(found, tasks=(dataclasses.replace(found.tasks[0], n_over_request=9),))
    assert waste_meaning(above).endswith(f" yet {format_share(9 / found.n_runs)} of the runs exceed theirs.")


def test_the_waste_of_a_trace_without_requests_says_so():
    bare = dataclasses.replace(
        records_for_memory.assessment(),
        tasks=(),
        memory=dataclasses.replace(records_for_memory.assessment().memory, n=0, n_lower_bound=0),
    )
    assert "an unknown share of the runs" in waste_meaning(bare)


def test_profiles_say_how_much_they_cover_and_how_much_is_in_none():
    assert STOPS["profiles"].headline == "3 profiles cover 82.6 % of 230 runs."
    assert STOPS["profiles"].means_not.startswith("17.4 % of the runs are in no profile")
    assert [item.label for item in STOPS["profiles"].figures][:3] == ["Profiles", "In a profile", "Unclustered runs"]


def test_the_prediction_is_that_of_the_strictest_split_and_names_it():
    found = records_for_classify.evaluation()
    stop = STOPS["prediction"]
    assert f"correctly {100 * found.splits['by_group'].accuracy:.1f} % of the time" in stop.headline
    assert "(split by group)" in stop.headline
    assert f"A random split would report {format_share(found.splits['random'].accuracy)}." in stop.means_not
    other = records_for_classify.evaluation({"random": 0.9, "by_job": 0.8})
    share = format_share(other.splits["by_job"].accuracy)
    words = f"{share} of the time, for jobs that training never saw (split by job)"
    assert words in prediction_stop(other, Naming()).headline


def test_without_a_second_split_nothing_is_compared():
    stop = prediction_stop(records_for_classify.evaluation({"random": 0.9}), Naming())
    assert "(random split)" in stop.headline
    assert "would report" not in stop.means_not


def test_the_trade_off_is_the_verdict_with_saving_and_kills():
    found, stop = records_for_memory.verdict(), STOPS["trade"]
    assert stop.headline == sentence(found)
    judged = found.memory.judged
    assert f"save {format_share(judged.saved_share)}" in stop.headline
    assert f"{kills_words(judged.kills)} in {judged.n_runs:,} later runs" in stop.headline
    assert [chart.name for chart in stop.charts] == ["memory-frontier", "memory-verdict"]
    assert [item.label for item in stop.figures] == ["Requested", "Never used", "Saved", "Kills"]


def test_the_tour_ends_on_a_decision_and_what_it_cannot_promise():
    found, tested = records_for_memory.verdict(), records_for_classify.evaluation()
    stop, judged = STOPS["decision"], found.memory.judged
    assert stop.headline == (
        f"Decision: save {format_share(judged.saved_share)} of requested memory, with {kills_words(judged.kills)} "
        f"in {judged.n_runs:,} later runs."
    )
    rows = found.memory.rows
    assert stop.means.startswith(f"Begin with {action_words(rows[0], task_names(rows))}. ")
    assert stop.limits[: len(RISKS)] == RISKS
    wrong = format_share(1 - tested.splits["by_group"].accuracy)
    assert any(words.startswith(f"{wrong} of new jobs get a wrong profile or none") for words in stop.limits)
    rows = tuple(dataclasses.replace(row, action=KEEP) for row in found.memory.rows)
    kept = dataclasses.replace(found, resources=(dataclasses.replace(found.memory, rows=rows),))
    assert decision(kept).means.startswith("Every row keeps its request, with a reason. ")
