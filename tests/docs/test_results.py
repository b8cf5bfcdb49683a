"""Figures of docs/results.md are those that their commands print."""

from pathlib import Path

import pytest

from tests.docs import best_guess, recognition
from tests.docs.what_to_request import TRACES, plain_rule_row
from tests.memory.traces import pai
from tests.shared_data import needs_shared_data
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text()


@needs_shared_data
def test_what_the_policies_waste_on_the_real_trace():
    found = replay({"jobs": pai()}, ReplaySettings(("workprof", "preset"), prices_runs=(1.0,)))
    (dearer,) = (one for one in found.frontier if one.by_labels)
    ours, requests = found.policies["workprof"], found.policies["preset"]
    words = " ".join(PAGE.split())
    assert f"wastes {ours.wasted_gb_h:,.0f} GB·h with {ours.failures:.0f} kills by default" in words
    assert f"{dearer.wasted_gb_h:,.0f} with {dearer.failures:.0f} where a kill costs one mean run" in words
    assert f"enforced, {requests.wasted_gb_h:,.0f} with {requests.failures:.0f} (" in words


@needs_shared_data
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in ("PAI", "iwd") else pytest.mark.soak) for one in TRACES]
)
def test_what_the_plain_rule_saves(name):
    assert plain_rule_row(name) in PAGE.splitlines()


QUICK = (("PAI", "by_time", "duration_s"), ("iwd", "by_time", "peak_memory_bytes"))


@needs_shared_data
@pytest.mark.parametrize(
    "row", [pytest.param(one, marks=pytest.mark.slow if one in QUICK else pytest.mark.soak) for one in best_guess.ROWS]
)
def test_how_far_the_best_guess_is_off(row):
    assert best_guess.row(*row) in PAGE.splitlines()


@needs_shared_data
def test_no_simple_rule_is_better_than_the_choice_by_more_than_a_tenth():
    begins = tuple(f"| {one} |" for one in best_guess.FILES)
    rows = [line.split(" | ") for line in PAGE.splitlines() if line.startswith(begins)]
    over = {tuple(row[:3]): float(row[9]) for row in rows if len(row) == 12}
    assert len(over) == len(best_guess.ROWS)
    assert max(over.values()) <= 1.10


@pytest.mark.soak
@needs_shared_data
@pytest.mark.parametrize("name", recognition.FEATURES)
def test_what_extra_trees_recognise(name):
    assert recognition.row(name) in PAGE.splitlines()
