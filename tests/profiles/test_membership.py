"""Soft membership, outlier scores, exemplars and trees are hdbscan's own, in the numbering of the profiles."""

import numpy as np
import pandas as pd
import pytest

from tests.profiles.planted import job_table
from workprof.answers.membership import UNUSUAL, membership_answer
from workprof.charts.downloads import labels_table
from workprof.charts.profiles.membership import hdbscan_tree, outlier_histogram, runs_frame, single_linkage
from workprof.core.errors import SettingsError
from workprof.core.records import pack, unpack
from workprof.profiles.fit import fit_profiles
from workprof.profiles.membership import Membership, MembershipSettings, membership
from workprof.profiles.settings import ProfileSettings

JOBS = job_table()
STRANGE = 7
"""The row that is made unlike all others."""


def strange():
    sensors = {name: 40 * JOBS[name].abs().max() for name in ("read_bytes", "write_bytes", "peak_memory_bytes")}
    jobs = JOBS.copy()
    for name, value in sensors.items():
        jobs.loc[STRANGE, name] = value
    return jobs


@pytest.fixture(scope="module")
def weighed():
    return membership({"jobs": JOBS}, MembershipSettings())


@pytest.fixture(scope="module")
def fit():
    return fit_profiles({"jobs": JOBS}, ProfileSettings())


@pytest.fixture(scope="module")
def theirs(fit):
    return fit.to_hdbscan(JOBS)


def columns_of(weighed, theirs):
    """Profile -> hdbscan's label, from a member of each."""
    return [int(theirs.labels_[np.flatnonzero(weighed.labels == one)[0]]) for one in range(weighed.labels.max() + 1)]


def test_profiles_are_those_of_the_clustering(weighed, fit):
    assert np.array_equal(weighed.labels, fit.labels)
    assert np.array_equal(weighed.row_ids, fit.row_ids)


def test_membership_and_outlier_scores_equal_the_packages(weighed, theirs):
    from hdbscan import all_points_membership_vectors

    own = all_points_membership_vectors(theirs)[:, columns_of(weighed, theirs)]
    assert np.abs(weighed.membership - own).max() <= 1e-9
    assert np.abs(weighed.outlier_scores - theirs.outlier_scores_).max() <= 1e-9
    assert weighed.membership.shape == (len(JOBS), 3)
    inside = weighed.labels >= 0
    assert (weighed.membership.argmax(axis=1)[inside] == weighed.labels[inside]).mean() > 0.99


def test_typical_runs_are_the_packages_exemplars(weighed, theirs):
    points = theirs._raw_data
    place = {int(row): position for position, row in enumerate(weighed.row_ids)}
    for profile, label in enumerate(columns_of(weighed, theirs)):
        own = {tuple(point) for point in theirs.exemplars_[label]}
        listed = [run for run in weighed.typical if run.profile == profile]
        assert 0 < len(listed) <= weighed.settings.typical
        assert {tuple(points[place[run.row_id]]) for run in listed} <= own
        assert weighed.n_exemplars[profile] == len(own)


def test_trees_are_those_that_the_package_draws(weighed, theirs):
    drawn = theirs.condensed_tree_.get_plot_data()
    assert np.abs(weighed.branches.bars[:, 0] - drawn["bar_centers"]).max() <= 1e-9
    assert np.abs(weighed.branches.bars[:, 2] - drawn["bar_tops"]).max() <= 1e-9
    heights = np.sort(theirs.single_linkage_tree_.to_numpy()[:, 2])
    merges = np.sort(weighed.linkage[:, 3])
    assert np.abs(merges - heights[-len(merges) :]).max() <= 1e-9


def test_a_run_unlike_all_others_is_the_most_unusual():
    found = membership({"jobs": strange()}, MembershipSettings(fit=ProfileSettings(scaler="standard"), unusual=3))
    first = found.unusual[0]
    assert first.row_id == JOBS["row_id"].iloc[STRANGE]
    assert first.profile == -1
    assert first.outlier_score == found.outlier_scores.max() > 0.8
    assert first.feature in ("read_bytes", "write_bytes", "peak_memory_bytes")
    assert first.deviation > 3
    assert first.named["workload"] == JOBS["workload"].iloc[STRANGE]


def test_no_run_is_far_away_in_what_it_has_no_value_of():
    """The middle of all, which stands in for a missing value, is far from the middle of the smaller profile."""
    draw, second = np.random.default_rng(0), np.arange(200) >= 120
    jobs = pd.DataFrame({"row_id": np.arange(200), "cpu_usage_percent": draw.normal(second, 0.05)})
    jobs["read_bytes"] = np.where(np.arange(200) >= 195, np.nan, draw.normal(10 * second, 0.05))
    found = membership({"jobs": jobs}, MembershipSettings(fit=ProfileSettings(scaler="standard"), unusual=200))
    assert {run.feature for run in found.unusual if run.row_id >= 195} == {"cpu_usage_percent"}


def test_equal_runs_belong_to_their_own_profile():
    jobs = JOBS.iloc[np.repeat(np.argsort(JOBS["duration_s"].to_numpy())[[0, 300, 600, -1]], 50)]
    jobs = jobs.assign(row_id=np.arange(200), job_name=[f"j{i}" for i in range(200)])
    found = membership({"jobs": jobs}, MembershipSettings(fit=ProfileSettings(min_cluster_size=20)))
    assert found.membership.shape[1] > 1
    assert np.array_equal(found.membership, np.eye(found.membership.shape[1])[found.labels])


def test_without_a_profile_no_run_has_a_membership():
    found = membership({"jobs": JOBS.iloc[:900]}, MembershipSettings(fit=ProfileSettings(min_cluster_size=400)))
    assert found.membership.shape == (900, 0)
    assert found.typical == ()
    assert {run.nearest for run in found.unusual} == {-1}
    assert "no profile" in hdbscan_tree(found, {}).takeaway


def test_optics_weighs_nothing():
    with pytest.raises(SettingsError, match="no HDBSCAN tree"):
        membership({"jobs": JOBS}, MembershipSettings(fit=ProfileSettings(algorithm="optics")))


def test_of_a_sample_only_the_clustered_runs_are_weighed():
    found = membership({"jobs": JOBS}, MembershipSettings(fit=ProfileSettings(sample_rows=700)))
    assert len(found.row_ids) == 700
    assert "the 700 clustered runs" in found.notes[-1].replace("Weighed are ", "")


def test_survives_being_kept(weighed):
    again = unpack(Membership, pack(weighed))
    assert np.array_equal(again.membership, weighed.membership)
    assert again.unusual == weighed.unusual


def test_what_is_said_and_drawn(weighed):
    answer = membership_answer(weighed, ["a", "b", "c"])
    assert len(answer.sentence.split()) <= 20
    n_unusual = int((weighed.outlier_scores >= 0.9).sum())
    assert UNUSUAL.of(weighed) == n_unusual
    assert answer.table("unusual").frame()["outlier_score"].is_monotonic_decreasing
    assert set(answer.table("typical").frame()["profile_name"]) == {"a", "b", "c"}
    assert outlier_histogram(weighed).data["runs"].sum() == len(JOBS)
    assert len(single_linkage(weighed).data) == len(weighed.linkage)
    frame = runs_frame(weighed)
    assert list(frame.columns[-3:]) == ["membership_p0", "membership_p1", "membership_p2"]
    assert weighed.to_frame().equals(frame)
    assert len(weighed.figure().data) >= 1
    assert [mark.text for mark in hdbscan_tree(weighed, {}).figure.layout.annotations] == ["P0", "P1", "P2"]


def test_the_table_of_labels_has_memberships_and_outlier_scores_as_columns(weighed, fit):
    plain, table = labels_table(fit, {}), labels_table(fit, {}, weighed)
    assert table[plain.columns].equals(plain)
    assert np.array_equal(table["outlier_score"], weighed.outlier_scores)
    assert np.array_equal(table["membership_p1"], weighed.membership[:, 1])
    part = membership({"jobs": JOBS}, MembershipSettings(fit=ProfileSettings(sample_rows=700)))
    sampled = labels_table(fit, {}, part)
    assert sampled["outlier_score"].notna().sum() == 700
