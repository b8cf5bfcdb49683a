"""The Sweep page in every state: no data, not started, part, complete, running, cancelled, failed."""

import shutil
import time

import pytest

from tests.faults.soundness import until
from tests.pages.conftest import SAMPLE, labels, problems, words
from workprof.core.question import parameters_of
from workprof.core.settings import from_environment
from workprof.profiles.questions import FIT
from workprof.profiles.sweep import SweepSettings
from workprof.workbench import Workbench

ROWS = 1_800
SMALL = SweepSettings(sample_rows=ROWS)
BEST, OTHER = "HDBSCAN, power, Euclidean, 50", "HDBSCAN, standard, Euclidean, 100"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with the sample and a finished sweep of a part of its rows; made once, copied for each test."""
    folder = tmp_path_factory.mktemp("kept") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder))
        with Workbench(from_environment()) as workbench:
            report = workbench.ingest([SAMPLE])
            workbench.sweep(report.hash, SMALL)
    return folder, report


@pytest.fixture
def swept(home, kept):
    shutil.copytree(kept[0], home)
    return kept[1]


@pytest.fixture
def sweep(app):
    def opened(**parameters):
        return app("sweep", **({"sweep_sample_rows": str(ROWS)} | parameters))

    return opened


def test_before_a_start_there_is_an_estimate_and_nothing_runs(sweep, swept, house):
    test = sweep(sweep_seed="7")
    assert problems(test) == []
    assert "Start sweep" in labels(test)
    assert "Not run yet. 56 settings on 1,800 runs: " in words(test)
    assert house().workbench.jobs() == ()


def test_the_paper_preset_is_estimated_with_both_algorithms(sweep, swept):
    test = sweep(sweep_preset="paper", sweep_sample_rows="0")
    assert problems(test) == []
    assert "112 settings on 15,000 runs, OPTICS on 4,000 of them" in words(test)


def test_moving_the_target_scores_the_same_runs_again(sweep, swept, house):
    test = sweep(sweep_tab="Ranking")
    before = test.dataframe[0].value["acquires"].max()
    test.number_input(key="sweep_target_clusters").set_value(5).run()
    assert problems(test) == []
    assert test.dataframe[0].value["acquires"].max() != before
    assert house().workbench.jobs() == ()


def test_two_selected_rows_offer_their_comparison(sweep, swept):
    test = sweep(sweep_tab="Ranking")
    test.session_state["sweep_runs"] = {"selection": {"rows": [0, 3], "columns": [], "cells": []}}
    test.run()
    assert problems(test) == []
    test.button(key="sweep_compare").click().run()
    assert problems(test) == []
    assert "Runs that changed group" in words(test)


def test_a_run_opens_in_profiles_with_its_settings(app, swept, house):
    workbench = house().workbench
    state = workbench.sweep_state(swept.hash, SMALL)
    run = state.runs[state.chosen]
    workbench.profiles(swept.hash, run.settings)
    folds = {"profiles_quality": "true", "profiles_sizes_fold": "true"}
    test = app("profiles", ds=swept.hash, **folds, **parameters_of(FIT, run.settings))
    assert problems(test) == []
    shown = {metric.label: metric.value for metric in test.metric}
    assert shown["Profiles"] == str(run.scores.n_clusters)


@pytest.mark.slow
def test_a_start_runs_is_cancelled_and_goes_on_where_it_was(sweep, swept, house):
    test = sweep(sweep_seed="8")
    test.button(key="sweep_start").click().run()
    assert problems(test) == []
    assert "Cancel" in labels(test)
    workbench, asked = house().workbench, SweepSettings(sample_rows=ROWS, seed=8)
    until(lambda: workbench.sweep_state(swept.hash, asked).standing.groups_done >= 1)
    before = time.monotonic()
    test.run()
    test.button(key="sweep_cancel").click().run()
    until(lambda: not workbench.sweep_state(swept.hash, asked).running)
    assert time.monotonic() - before < 5
    test.run()
    assert problems(test) == []
    done = workbench.sweep_state(swept.hash, asked).standing.groups_done
    assert 1 <= done < 8
    assert f"Stopped at {7 * done - done} of" in words(test)
    assert " so far " in words(test)
    assert "Resume sweep" in labels(test)


def made(workbench, report, group):
    """Compute one group of a sweep, as a stopped sweep leaves it."""
    workbench.sweep_group(report.hash, group)


def test_a_part_of_a_sweep_is_shown_and_can_go_on(sweep, swept, house):
    workbench = house().workbench
    asked = SweepSettings(sample_rows=ROWS, seed=9)
    made(workbench, swept, asked.groups()[0])
    test = sweep(sweep_seed="9", sweep_tab="Ranking")
    assert problems(test) == []
    assert "Stopped at 6 of 55 settings (1 excluded)" in words(test)
    assert len(test.dataframe[0].value) == 6


@pytest.mark.slow
def test_rows_that_are_too_few_end_in_a_clear_message(sweep, swept, house):
    test = sweep(sweep_sample_rows="40")
    test.button(key="sweep_start").click().run()
    asked = SweepSettings(sample_rows=40)
    workbench = house().workbench
    until(lambda: any(job.state == "failed" for job in workbench.jobs()))
    workbench.cancel_sweep(swept.hash, asked)
    until(lambda: not workbench.sweep_state(swept.hash, asked).running)
    test.run()
    assert test.exception.len == 0
    assert "cannot hold two profiles" in " ".join(item.value for item in test.error).replace("\\", "")


def test_own_features_travel_by_the_address_to_profiles(sweep, app, swept, house):
    workbench = house().workbench
    features = ("cpu_usage_percent", "peak_memory_bytes")
    asked = SweepSettings(sample_rows=600, features=features)
    group = asked.groups()[0]
    made(workbench, swept, group)
    test = sweep(sweep_sample_rows="600", sweep_set="own", sweep_features=list(features))
    assert problems(test) == []
    assert "Stopped at " in words(test)
    run = workbench.sweep_state(swept.hash, asked).runs[0]
    test = app("profiles", ds=swept.hash, **parameters_of(FIT, run.settings))
    assert problems(test) == []
    assert tuple(test.multiselect(key="profiles_features").value) == features


def test_the_best_run_opens_in_profiles_whatever_the_form_was_set_to_before(sweep, swept):
    test = sweep()
    test.switch_page("pages/profiles.py").run()
    test.selectbox(key="profiles_method").set_value("leaf")
    test.number_input(key="profiles_seed").set_value(7)
    next(button for button in test.button if button.label.startswith("Find profiles with")).click().run()
    assert test.selectbox(key="profiles_method").value == "leaf"
    test.switch_page("pages/sweep.py").run()
    test.button(key="sweep_open").click().run()
    assert test.title[0].value == "Profiles"
    assert test.query_params["profiles_scaler"] in ("minmax", ["minmax"])
    assert test.selectbox(key="profiles_method").value == "eom"
    assert test.number_input(key="profiles_seed").value == 0
