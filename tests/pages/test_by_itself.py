"""What a page lacks starts by itself where it is short; what takes longer waits for its button beside a small part."""

import sys
from dataclasses import replace

import pytest

from pages._parts import long_question
from pages._profiles import scoring
from tests.faults.soundness import until
from tests.pages.conftest import labels, problems
from workprof.answers.how_long import expected_sweep
from workprof.core.settings import from_environment
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import SweepSettings
from workprof.workbench import Workbench


@pytest.fixture
def ahead(monkeypatch):
    def of(seconds):
        monkeypatch.setenv("WORKPROF_AHEAD", str(seconds))

    return of


def no_question_is_short(workbench):
    """An open home keeps what its environment said when it was opened."""
    workbench.settings = replace(workbench.settings, ahead_s=0.001)


def test_a_short_question_is_asked_when_its_tab_is_opened(app, loaded, house, ahead):
    ahead(100)
    test = app("profiles", profiles_tab="Cluster tendency")
    assert problems(test) == []
    sidebar = " ".join(str(item.value) for item in test.sidebar.markdown)
    assert "running" in sidebar and "Idle" not in sidebar  # of the very run that began them
    started = {job.step.partition("[")[0] for job in house().workbench.jobs()}
    assert {"profiles.hopkins", "profiles.baseline", "profiles.stability"} <= started
    long = ["Compute: Profiles without and with an autoencoder"]
    assert [label for label in labels(test) if label.startswith("Compute")] == long
    for job in house().workbench.jobs():
        house().workbench.cancel(job.key)


def test_switched_off_nothing_runs_and_the_button_says_how_long_it_takes(app, loaded, house, ahead):
    ahead(0)
    test = app("profiles", profiles_tab="Cluster tendency")
    assert "Compute: Hopkins statistic" in labels(test)
    assert any(" s (a guess)" in item.value for item in test.markdown)
    assert house().workbench.jobs() == ()


def test_what_was_cancelled_waits_for_its_button(app, loaded, house, ahead):
    ahead(100)
    app("profiles", profiles_tab="Cluster tendency")
    workbench = house().workbench
    job = next(job for job in workbench.jobs() if job.step.startswith("profiles.stability"))
    workbench.cancel(job.key)
    test = app("profiles", profiles_tab="Cluster tendency")
    assert "Compute: Stability of the profiles" in labels(test)
    assert workbench.job(job.key).state == "cancelled"
    for other in workbench.jobs():
        workbench.cancel(other.key)


@pytest.mark.soak
def test_where_all_runs_take_long_a_sample_is_clustered(app, loaded, house, ahead):
    settings = ProfileSettings(min_samples=37)  # a tree of its own: a kept one shows its cut at once
    with Workbench(from_environment()) as bench:
        whole = long_question.takes(bench, bench.profiles, bench.dataset(loaded.hash), settings).seconds
    ahead(0.9 * whole)  # two thirds of the runs are expected to take two thirds of it
    test = app("profiles", profiles_min_samples="37")
    assert "Find profiles" in labels(test)
    workbench = house().workbench
    until(lambda: not any(job.active for job in workbench.jobs()))
    no_question_is_short(workbench)  # where the part was quicker than expected, so is the whole: it would begin
    test.run()
    assert problems(test) == []
    assert any("A small part: 10,000 runs" in item.value for item in test.info)
    assert len(test.get("plotly_chart")) >= 2
    assert workbench.profiles.cached(loaded.hash, settings).result is None


def test_a_long_sweep_shows_a_small_one_at_once(app, loaded, house, ahead):
    asked = SweepSettings(min_samples=0, silhouette="exact", sample_rows=14_000)
    with Workbench(from_environment()) as bench:
        rows = bench.dataset(loaded.hash).finished_rows
    ahead(expected_sweep(asked, rows).seconds / 2)  # of an idle machine: a busy one expects more
    test = app("sweep", sweep_min_samples="coupled", sweep_silhouette="exact", sweep_sample_rows="14000")
    assert problems(test) == []
    assert "Start sweep" in labels(test)
    assert any("A small part: 2,000 runs" in item.value for item in test.info)
    workbench, small = house().workbench, replace(asked, preset="quick", sample_rows=2000)
    assert not workbench.sweep_state(loaded.hash, asked).running
    until(lambda: workbench.sweep_state(loaded.hash, small).runs)
    no_question_is_short(workbench)  # see above
    test.run()
    assert problems(test) == []
    assert "Start sweep" in labels(test)  # beside the results of the small one, whose answer is the page's
    workbench.cancel_sweep(loaded.hash, small)


def test_what_another_cut_needs_is_loaded_while_the_profiles_are_read(app, loaded, house, ahead):
    ahead(0.001)  # no question is that short
    assert problems(app("profiles")) == []
    preparing = house().preparing
    until(lambda: not any(view.active for view in preparing.views()))
    assert {view.state for view in preparing.views() if view.label == scoring.WARM} == {"done"}
    assert "hdbscan.validity" in sys.modules
    assert house().workbench.jobs() == ()
