"""Names that users give: on the clustering where they were given, and on every re-cut with the same runs."""

import numpy as np
import pytest

from tests.profiles.planted import job_table
from workprof.core.settings import Settings
from workprof.profiles.names import UNCLUSTERED
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import ProfileNote
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

FIRST = ProfileSettings(min_cluster_size=30, min_samples=30)
RECUT = ProfileSettings(min_cluster_size=60, min_samples=30)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("names")
    job_table().drop(columns=["row_id", "truth_profile"]).to_parquet(folder / "jobs.parquet")
    with Workbench(Settings(home=folder / "home", data=folder)) as bench:
        bench.ingest([folder / "jobs.parquet"])
        for settings in (FIRST, RECUT):
            bench.profiles("jobs", settings)
        yield bench


@pytest.fixture(autouse=True)
def nameless(bench):
    yield
    for settings in (FIRST, RECUT):
        for label in bench.profile_notes("jobs", settings):
            bench._store.set_note(bench.profiles.key("jobs", settings), ProfileNote(label, "", ""))


def same_runs(bench, label):
    """Return the profile of the second cut that holds most of a profile's runs."""
    first, second = bench.profiles("jobs", FIRST), bench.profiles("jobs", RECUT)
    return int(np.bincount(second.labels[(first.labels == label) & (second.labels >= 0)]).argmax())


@pytest.mark.slow
def test_names_stand_by_label_and_the_last_is_that_of_the_outliers(bench):
    names = bench.profile_names("jobs", FIRST)
    fit = bench.profiles("jobs", FIRST)
    assert len(names) == fit.scores.n_clusters + 1
    assert names[-1] == UNCLUSTERED
    assert [name.rpartition(" ")[2] for name in names[:-1]] == [f"(P{label})" for label in range(len(names) - 1)]


def test_a_result_says_the_names_that_people_gave(bench):
    before = bench.profiles("jobs", FIRST)
    bench.set_profile_note("jobs", FIRST, ProfileNote(1, "nightly", ""))
    to = same_runs(bench, 1)
    for settings, label in ((FIRST, 1), (RECUT, to)):
        for fit in (bench.profiles("jobs", settings), bench.profiles.cached("jobs", settings).result):
            assert fit.to_frame().set_index("profile").loc[label, "name"] == f"nightly (P{label})"
            assert f"nightly (P{label})" in fit.figure().to_json()
        assert bench.profiles("jobs", settings) is bench.profiles("jobs", settings)
    assert "nightly" not in before.figure().to_json()
    bench.set_profile_note("jobs", FIRST, ProfileNote(1, "weekly", ""))
    assert "weekly (P1)" in bench.profiles("jobs", FIRST).figure().to_json()


def test_a_clustering_that_is_not_there_has_no_names_and_computes_nothing(bench):
    assert bench.profile_names("jobs", ProfileSettings(min_cluster_size=77)) == ()
    assert bench.jobs() == ()


def test_a_given_name_survives_a_recut(bench):
    bench.set_profile_note("jobs", FIRST, ProfileNote(1, "nightly", "see the wiki"))
    to = same_runs(bench, 1)
    assert bench.profile_names("jobs", FIRST)[1] == "nightly (P1)"
    assert bench.profile_names("jobs", RECUT)[to] == f"nightly (P{to})"
    assert bench.profile_notes("jobs", RECUT) == {to: ProfileNote(to, "nightly", "see the wiki")}


def test_a_name_of_its_own_wins_over_one_that_follows(bench):
    to = same_runs(bench, 1)
    bench.set_profile_note("jobs", FIRST, ProfileNote(1, "nightly", ""))
    bench.set_profile_note("jobs", RECUT, ProfileNote(to, "weekly", ""))
    assert bench.profile_names("jobs", RECUT)[to] == f"weekly (P{to})"
    assert bench.profile_names("jobs", FIRST)[1] == "nightly (P1)"


def test_a_name_that_follows_can_be_taken_away_and_the_first_cut_keeps_it(bench):
    to = same_runs(bench, 1)
    before = bench.profile_names("jobs", RECUT)[to]
    bench.set_profile_note("jobs", FIRST, ProfileNote(1, "nightly", ""))
    bench.set_profile_note("jobs", RECUT, ProfileNote(to, "", ""))
    assert bench.profile_names("jobs", RECUT)[to] == before
    assert bench.profile_names("jobs", FIRST)[1] == "nightly (P1)"
    bench.set_profile_note("jobs", RECUT, ProfileNote(to, "weekly", ""))
    assert bench.profile_names("jobs", RECUT)[to] == f"weekly (P{to})"


def test_a_name_that_is_removed_is_removed_everywhere(bench):
    bench.set_profile_note("jobs", FIRST, ProfileNote(1, "nightly", ""))
    bench.set_profile_note("jobs", FIRST, ProfileNote(1, "", ""))
    assert bench.profile_notes("jobs", FIRST) == {}
    assert bench.profile_notes("jobs", RECUT) == {}
