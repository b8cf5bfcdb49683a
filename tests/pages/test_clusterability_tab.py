"""The re-cut controls, and the tab that asks whether there is anything to cluster, in every state."""

import itertools
from urllib.parse import parse_qs, urlsplit

import pytest

from pages._profiles import form
from tests.pages.conftest import labels, problems, words
from workprof.answers.help.terms import glossary_of
from workprof.answers.profiles import recut_sentence
from workprof.core.question import address_of
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.names import Labelled, successors
from workprof.profiles.questions import STABILITY
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings

TAB = "Cluster tendency"
STARTS = ("Compute: Hopkins statistic", "Compute: Label baseline (Table II)", "Compute: Stability of the profiles")


@pytest.fixture
def answered(loaded, house):
    """The three answers for the default profiles, kept."""
    workbench = house().workbench
    workbench.hopkins(loaded.hash, HopkinsSettings())
    workbench.baseline(loaded.hash, BaselineSettings(), fit=ProfileSettings())
    workbench.stability(loaded.hash, StabilitySettings(resamples=2))
    return loaded


def test_nothing_is_computed_before_it_is_asked_for(app, loaded, house):
    test = app("profiles", profiles_tab=TAB)
    assert problems(test) == []
    assert set(STARTS) <= set(labels(test))
    assert "near 0 = clusterable" in words(test).replace("\\", "")
    assert house().workbench.jobs() == ()


def test_a_computation_runs_in_the_background_and_can_be_cancelled(app, loaded, house):
    test = app("profiles", profiles_tab=TAB)
    next(button for button in test.button if button.label == STARTS[0]).click().run()
    assert problems(test) == []
    job = house().workbench.jobs()[0]
    assert job.step == "profiles.hopkins"
    house().workbench.cancel(job.key)
    test.run()
    assert problems(test) == []


@pytest.mark.soak
def test_kept_answers_are_shown_as_charts_with_words(app, answered):
    test = app("profiles", profiles_tab=TAB, profiles_resamples="2")
    assert problems(test) == []
    assert not set(STARTS) & set(labels(test))
    charts = [
        chart for chart in test.get("plotly_chart") if not chart.key.startswith(("profiles_fingerprints", "arrivals"))
    ]
    assert len(charts) == 3
    assert all(chart.proto.alt for chart in charts)
    told = words(test).replace("\\", "")
    assert "Hopkins 0." in told
    assert told.count("not verified") >= 2
    assert "profiles come back stable" in told


def test_an_address_of_the_shell_sets_the_controls_of_its_question(app, loaded):
    study = StabilitySettings(ProfileSettings(min_samples=45), resamples=3, sample_rows=500)
    query = parse_qs(urlsplit(address_of(STABILITY, loaded.hash, study)).query)
    test = app("profiles", **{name: values[0] for name, values in query.items()})
    assert problems(test) == []
    controls = {"min_samples": 45, "sample_rows": 0, "resamples": 3, "resample_rows": 500, "hopkins_resamples": 5}
    assert {name: test.number_input(key=f"profiles_{name}").value for name in controls} == controls


def test_a_field_of_the_form_carries_the_glossary_s_help_whatever_0_means_there(app, loaded):
    test = app("profiles")
    for name in ("min_cluster_size", "min_samples", "epsilon"):
        assert glossary_of(name)
        assert glossary_of(name) in test.number_input(key=f"profiles_{name}").help


def n_profiles(test):
    return next(metric.value for metric in test.metric if metric.label == "Profiles")


def test_a_recut_changes_the_page_and_the_form_without_a_job(app, loaded, house):
    test = app("profiles", profiles_quality="true", profiles_sizes_fold="true")
    before = n_profiles(test)
    test.select_slider(key="recut_size").set_value(419).run()
    test.run()
    assert problems(test) == []
    if not test.metric:
        assert "The scores of this cut are being computed." in words(test)
        for view in house().preparing.views():
            house().preparing.wait(view.key)
        test.run()
    assert test.number_input(key="profiles_min_cluster_size").value == 419
    assert test.number_input(key="profiles_min_samples").value == 45
    assert n_profiles(test) != before
    assert house().workbench.jobs() == ()
    cut = house().workbench.profiles.quick(loaded.hash, ProfileSettings(min_cluster_size=419, min_samples=45))
    assert n_profiles(test) == str(cut.scores.n_clusters)


def test_a_control_without_a_value_takes_that_of_the_clustering_shown(app, loaded, house):
    test = app("profiles", profiles_quality="true")
    before = test.metric[0].value
    test.segmented_control(key="recut_method").set_value(None).run()  # as of a run of the page that was interrupted
    assert problems(test) == []
    assert test.segmented_control(key="recut_method").value == "eom"
    assert (test.metric[0].value, house().workbench.jobs()) == (before, ())


def test_coupling_says_that_a_fit_is_needed_and_offers_it(app, loaded, house):
    test = app("profiles")
    test.toggle(key="recut_coupled").set_value(True).run()
    test.select_slider(key="recut_size").set_value(215).run()
    assert problems(test) == []
    assert "need a fit" in words(test)
    test.button(key="recut_fit").click().run()
    jobs = house().workbench.jobs()
    assert [job.step for job in jobs] == ["profiles.fit"]
    house().workbench.cancel(jobs[0].key)


@pytest.mark.slow
def test_optics_has_nothing_to_cut_again(app, loaded, house):
    settings = ProfileSettings(algorithm="optics", sample_rows=600, min_cluster_size=30)
    house().workbench.profiles(loaded.hash, settings)
    test = app("profiles", profiles_algorithm="optics", profiles_sample_rows="600", profiles_min_cluster_size="30")
    assert problems(test) == []
    assert "OPTICS and DBSCAN keep no tree" in words(test)


@pytest.mark.parametrize(("n_rows", "usual"), [(15_000, 45), (100_001, 300), (500, 20)])
def test_the_slider_has_equal_steps_around_the_usual_size(n_rows, usual):
    sizes = form.sizes_below(n_rows, usual, usual)
    assert usual in sizes and 2 * sizes[-1] < n_rows
    steps = [after / before for before, after in itertools.pairwise(sizes)]
    assert all(1.15 < step < 1.36 for step in steps)
    assert set(sizes) < {*form.sizes_below(n_rows, usual + 1, usual)}


def test_the_selected_profile_keeps_its_runs_and_its_number_in_another_cut(app, loaded, house):
    workbench = house().workbench
    before = workbench.profiles(loaded.hash, ProfileSettings())
    after = workbench.first_cut(loaded.hash, ProfileSettings(min_cluster_size=110, min_samples=45))
    became = successors(Labelled(before.row_ids, before.labels), Labelled(after.row_ids, after.labels))
    assert len(became) > 10 and all(old == new for old, new in became.items())
    chosen = max(became)
    test = app("profiles", profiles_profile=str(chosen))
    test.select_slider(key="recut_size").set_value(110).run()
    test.run()
    assert problems(test) == []
    assert test.session_state["profiles_profile"] == str(chosen)
    assert f"{len(became)} of {before.scores.n_clusters} profiles keep their runs and their numbers." in words(test)
    same = (before.labels == chosen) & (after.labels == chosen)
    assert 2 * same.sum() > (after.labels == chosen).sum()


def test_what_became_of_the_profiles_is_said_in_a_sentence():
    assert recut_sentence({0: 0, 1: 1}, 3, 2) == "2 of 3 profiles keep their runs and their numbers."
    told = recut_sentence({0: 0, 1: 1}, 3, 3)
    assert told == "2 of 3 profiles keep their runs and their numbers. P2 is another group now."
    assert recut_sentence({3: 1}, 4, 3).endswith("their runs: P3 is now P1. P0, P2 are other groups now.")
    told = recut_sentence({0: 0, 1: 2, 2: 1, 3: 4, 4: 3, 5: 5}, 6, 6)
    assert told == "6 of 6 profiles keep their runs: P1 is now P2, P2 is now P1, P3 is now P4 and 1 other moved."
