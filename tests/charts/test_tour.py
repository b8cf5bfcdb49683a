"""Stops of the tour: they say what the records hold, in one sentence with a number and a reserve, and draw little."""

import dataclasses
import re

import pytest

from tests.charts import records_for_classify, records_for_memory, records_for_phases
from tests.charts.records_for_tests import HOSTILE, NOTES, fit
from tests.charts.test_duration_charts import NAMES, OBSERVED
from tests.charts.test_nodes_charts import ranking
from workprof.charts.classify.job import Naming
from workprof.charts.durations.observed import ObservedView, group_names, observed_sentence
from workprof.charts.memory.recommendation import recommendation_sentence
from workprof.charts.nodes.ranking import ranking_sentence
from workprof.charts.phases.timeline import timeline_sentence
from workprof.charts.profiles.overview import profile_names
from workprof.charts.tour import (
    classify_stop,
    durations_stop,
    home_headline,
    home_stop,
    memory_stop,
    nodes_stop,
    phases_stop,
    profiles_stop,
    report_stop,
)
from workprof.core.units import format_share


def all_stops():
    return {
        "home": home_stop((), records_for_memory.assessment()),
        "profiles": profiles_stop(fit(), profile_names(fit(), NOTES)),
        "classify": classify_stop(records_for_classify.evaluation(), Naming()),
        "durations": durations_stop(OBSERVED, NAMES),
        "memory": memory_stop(records_for_memory.recommended()),
        "nodes": nodes_stop(ranking()),
        "phases": phases_stop(records_for_phases.timeline(), 4),
        "report": report_stop(4, 32, 8, 5_800_000),
    }


STOPS = all_stops()


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_is_one_sentence_with_a_number_and_at_most_two_charts(name):
    stop = STOPS[name]
    plain = stop.headline.replace(HOSTILE, "name")
    assert re.search(r"\d", plain)
    assert plain.endswith(".")
    if name != "memory":  # what to do stands before the sentence that says why
        assert not re.search(r"[.!?] [A-Z]", plain)
    assert len(stop.charts) in ((0,) if name == "report" else (1, 2))
    assert all(text.endswith(".") for text in (stop.means, stop.means_not))
    assert all(chart.alt and chart.takeaway for chart in stop.charts)


def test_home_tells_what_is_asked_for_and_not_used():
    found = records_for_memory.assessment()
    asked = sum(task.requested_gb_h for task in found.tasks)
    wasted = sum(task.wasted_gb_h for task in found.tasks)
    assert f"{asked:,.0f} GB·h" in STOPS["home"].headline
    assert f"{wasted:,.0f} GB·h ({100 * wasted / asked:.1f} %)" in STOPS["home"].headline


def test_home_of_a_trace_without_requests_says_no_data():
    bare = dataclasses.replace(records_for_memory.assessment(), tasks=(), n_runs=0)
    assert home_headline(bare).count("no data") == 2


def test_profiles_tell_how_much_belongs_to_none():
    assert STOPS["profiles"].headline.startswith("3 kinds of jobs cover 82.6 % of 230 runs; 17.4 % are like no group")
    assert [item.label for item in STOPS["profiles"].figures][:3] == ["Profiles", "In a profile", "Unclustered"]


def test_the_classifier_is_told_by_its_strictest_split():
    found = records_for_classify.evaluation()
    assert f"{100 * found.splits['by_group'].accuracy:.1f} % of the runs of groups" in STOPS["classify"].headline
    assert (
        f"the {format_share(found.splits['random'].accuracy)} of a random split flatter" in STOPS["classify"].headline
    )


def test_without_a_second_split_nothing_is_said_to_flatter():
    told = classify_stop(records_for_classify.evaluation({"random": 0.9}), Naming()).headline
    assert "flatter" not in told
    assert "rows that training never saw" in told


def test_durations_begin_with_the_sentence_of_their_page():
    sentence = observed_sentence(OBSERVED, group_names(OBSERVED, NAMES), ObservedView())
    assert STOPS["durations"].headline.startswith(sentence.rstrip("."))
    assert f"worth {OBSERVED.everything.n_effective:,.0f} independent jobs" in STOPS["durations"].headline


def test_memory_tells_what_to_request_what_it_saves_and_what_it_kills():
    found = records_for_memory.recommended()
    assert not found.kept
    told = STOPS["memory"].headline
    assert told == recommendation_sentence(found)
    assert f"saves {100 * found.recommended.saved_share:.1f} %" in told
    assert f"{100 * found.interval.low:.1f} % to {100 * found.interval.high:.1f} %" in told
    assert found.requested.wasted_gb_h > found.recommended.wasted_gb_h


def test_measured_stops_begin_with_the_sentence_of_their_page():
    assert STOPS["nodes"].headline.startswith(ranking_sentence(ranking()).rstrip("."))
    assert STOPS["phases"].headline.startswith(timeline_sentence(records_for_phases.timeline()).rstrip("."))
    assert "one of 4 recorded runs" in STOPS["phases"].headline


def test_the_last_stop_counts_what_is_in_the_file():
    assert STOPS["report"].headline == (
        "4 sections with 32 figures and 8 tables fit into one file of 5.8 MB that opens without a network."
    )
