import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

from tests.profiles.planted import blobs, job_table
from workprof.core.errors import Cancelled, NotEnoughData, SettingsError
from workprof.core.parts import parts_in
from workprof.profiles import fit, settings
from workprof.profiles.assign import make_assigner, make_quick_assigner, settle_rim
from workprof.profiles.features import apply_transform
from workprof.profiles.fit import TREE, fit_keeping_tree, fit_profiles, recut
from workprof.profiles.settings import ProfileSettings, default_min_cluster_size
from workprof.profiles.tree import build_spanning_tree, cut, cut_with_fall, find_neighbours, to_hdbscan

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]


def tree_of(points, metric, min_samples):
    return build_spanning_tree(find_neighbours(points, metric, (min_samples,)), min_samples)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize(("size", "min_samples"), [(20, 20), (15, 5), (40, 1), (10, 2)])
def test_equal_to_approximate_predict(metric, method, size, min_samples):
    from hdbscan import approximate_predict

    points, _ = blobs(900, noise_share=0.25)
    new = np.vstack([blobs(700, noise_share=0.4, seed=7)[0], points[:50]])
    tree = tree_of(points, metric, min_samples)
    labels, strength = make_assigner(points, tree, cut_with_fall(tree, size, method)[1]).assign(new)
    theirs, strengths = approximate_predict(to_hdbscan(points, tree, size, method, 0.0), new)
    pairs = set(zip(labels.tolist(), theirs.tolist(), strict=True))
    assert len(pairs) == len(set(labels.tolist())) == len(set(theirs.tolist())) > 2
    assert np.array_equal(labels < 0, theirs < 0)
    assert 0 < (labels < 0).mean() < 1
    assert np.allclose(strength, strengths, rtol=1e-12)


def test_profiles_of_a_sample_are_those_of_all_rows():
    points, _ = blobs(12_000)
    whole = cut(tree_of(points, "euclidean", 36), 36).labels
    sample = np.random.default_rng(0).permutation(len(points))[:3_000]
    tree = tree_of(points[sample], "euclidean", 9)
    labels, strength = make_assigner(points[sample], tree, cut_with_fall(tree, 9)[1]).assign(points)
    assert adjusted_rand_score(whole, labels) > 0.9
    assert np.array_equal(strength > 0, labels >= 0)


def test_rows_equal_to_fitted_ones_have_their_profile():
    points = np.repeat(np.array([[0.0, 0.0], [9.0, 9.0]]), 30, axis=0)
    tree = tree_of(points, "euclidean", 5)
    labels, strength = make_assigner(points, tree, cut_with_fall(tree, 10)[1]).assign(points)
    assert np.array_equal(labels, cut(tree, 10).labels)
    assert (strength == 1).all()


def test_other_columns_and_missing_values_are_refused():
    points, _ = blobs(200)
    tree = tree_of(points, "euclidean", 5)
    assigner = make_assigner(points, tree, cut_with_fall(tree, 10)[1])
    with pytest.raises(NotEnoughData, match="the clustering has 4 columns"):
        assigner.assign(points[:, :3])
    with pytest.raises(NotEnoughData, match="missing or infinite"):
        assigner.assign(np.full((2, 4), np.nan))
    assert len(assigner.assign(points[:0])[0]) == 0


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize(("size", "min_samples"), [(20, 20), (40, 1)])
def test_the_quick_way_is_the_slow_one_where_the_profile_is_sure_and_exact_elsewhere(metric, size, min_samples):
    points, _ = blobs(900, noise_share=0.25)
    new, _ = blobs(700, noise_share=0.4, seed=7)
    tree = tree_of(points, metric, min_samples)
    assigner = make_quick_assigner(points, tree, cut_with_fall(tree, size)[1])
    labels, strength, own = assigner.assign_with_core(new)
    exact, strengths = replace(assigner, rim=None).assign(new)
    order, fall = assigner.blocks.order, assigner.fall
    root = np.sqrt if metric == "euclidean" else np.asarray
    core = root(assigner.core)
    distances = cdist(new, points[order], "cityblock" if metric == "manhattan" else "euclidean")
    reach = np.maximum(distances, core[None, :])
    searched = (labels == exact) & (strength == strengths)
    rim = assigner.at_rim(labels, own)
    assert searched[rim].all()
    assert np.allclose(own[rim], np.sort(distances[rim])[:, min_samples])
    assert 0 < rim.mean() < 0.9
    for row in np.flatnonzero(~searched):
        first = np.lexsort((distances[row], reach[row]))[0]
        at = 1 / reach[row, first]
        node = fall.node[order[first]]
        if fall.lambda_[order[first]] > at:
            while fall.up[node] >= 0 and fall.birth[node] >= at:
                node = fall.up[node]
        assert labels[row] == fall.profile[node] >= 0
        assert np.isclose(strength[row], min(at, fall.death[node]) / fall.death[node])
    assert (labels == exact).mean() > 0.99


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_with_all_rows_at_the_rim_the_profiles_are_those_of_all_rows(metric):
    points, _ = blobs(6_000, noise_share=0.25)
    tree = tree_of(points, metric, 36)
    whole = cut(tree, 36).labels
    order = np.random.default_rng(0).permutation(len(points))
    own, others = order[:2_000], order[2_000:]
    sample = tree_of(points[own], metric, 12)
    fall = cut_with_fall(sample, 12)[1]
    known = replace(sample, core_distance=tree.core_distance[own])
    rim = settle_rim(points[own], known, fall, points[others], tree.core_distance[others])
    assert adjusted_rand_score(whole[order], np.concatenate([rim.fitted, rim.labels])) == 1.0
    assert np.array_equal(rim.strength > 0, rim.labels >= 0)


def test_the_quick_assigner_has_the_core_distances_of_the_clustering():
    points, _ = blobs(900, noise_share=0.25)
    for metric in ("euclidean", "manhattan"):
        tree = tree_of(points, metric, 20)
        clusters, fall = cut_with_fall(tree, 20)
        assigner = make_quick_assigner(points, tree, fall)
        own = assigner.core if metric == "manhattan" else np.sqrt(assigner.core)
        assert np.allclose(own, tree.core_distance[assigner.blocks.order])
        assert (assigner.assign(points)[0] == clusters.labels).mean() > 0.99


def test_a_fit_on_a_sample_assigns_every_run():
    jobs = job_table(3_000)
    fit = fit_profiles({"jobs": jobs}, ProfileSettings(sample_rows=1_000, seed=4))
    assert (len(fit.labels), fit.sample_rows, fit.scores.n_rows) == (3_000, 1_000, 3_000)
    assert np.array_equal(fit.row_ids, jobs["row_id"])
    assert fit.scores.n_outliers == (fit.labels < 0).sum()
    assert {card.profile: card.size for card in fit.cards} == {
        label: int((fit.labels == label).sum()) for label in np.unique(fit.labels)
    }
    assert np.isfinite(fit.map_xy).all()
    assert np.isfinite(fit.silhouettes).sum() == 1_000  # of the sample
    assert (fit.probabilities > 0).tolist() == (fit.labels >= 0).tolist()
    truth = jobs["truth_profile"].to_numpy()
    kept = (truth >= 0) & (fit.labels >= 0)
    assert kept.sum() > 0.9 * (truth >= 0).sum()
    assert adjusted_rand_score(truth[kept], fit.labels[kept]) > 0.98
    assert any("1,000 of 3,000 rows were clustered" in note and "assigned" in note for note in fit.notes)
    labels, _ = fit.assigner(jobs).assign(apply_transform(fit.transform, jobs[list(fit.transform.features)].to_numpy()))
    assert (labels == fit.labels).mean() > 0.97
    with pytest.raises(SettingsError, match="not the 3,000 of this fit"):
        fit.assigner(jobs.iloc[:2_000])


def test_a_recut_of_a_sample_assigns_every_run_again():
    frames = {"jobs": job_table(3_000)}
    made = fit_keeping_tree(frames, ProfileSettings(sample_rows=1_000))
    wanted = replace(made.record.settings, min_cluster_size=60)
    again = recut(frames, wanted, made.extras[TREE])
    whole = fit_profiles(frames, wanted)
    assert again.settings == whole.settings
    assert np.array_equal(again.labels, whole.labels)
    assert np.array_equal(again.probabilities, whole.probabilities)


def test_a_row_equal_to_many_outliers_has_the_core_distance_of_these():
    """Nothing is nearer than they are, so that no row is looked for: it was read from beyond the array."""
    points, _ = blobs(600)
    points = np.vstack([points, np.full((6, points.shape[1]), 40.0)])
    tree = tree_of(points, "euclidean", 4)
    labels, fall = cut_with_fall(tree, 30)
    assert (labels.labels[600:] < 0).all()
    found, strength, core = make_quick_assigner(points, tree, fall).assign_with_core(points[600:])
    assert (found.tolist(), strength.tolist(), core.tolist()) == ([-1] * 6, [0.0] * 6, [0.0] * 6)


def test_a_large_trace_is_fitted_on_a_sample_by_default(monkeypatch):
    monkeypatch.setattr(settings, "MOST_FITTED_ROWS", 2_000)
    monkeypatch.setattr(settings, "FITTED_ROWS", 1_000)
    jobs = job_table(3_000)
    fit = fit_profiles({"jobs": jobs}, ProfileSettings())
    assert (fit.settings.sample_rows, fit.sample_rows, len(fit.labels)) == (1_000, 1_000, 3_000)
    assert fit.settings.min_cluster_size == default_min_cluster_size(1_000)
    assert fit_profiles({"jobs": jobs.iloc[:2_000]}, ProfileSettings()).sample_rows == 0
    for every in (ProfileSettings(sample_rows=3_000), ProfileSettings(mode="faithful", min_cluster_size=20)):
        assert fit_profiles({"jobs": jobs}, every).sample_rows == 0


def test_an_assignment_that_was_halted_goes_on_where_it_was(tmp_path, monkeypatch):
    monkeypatch.setattr(fit, "ROWS_AT_ONCE", 500)
    frames, wanted = {"jobs": job_table(3_000)}, ProfileSettings(sample_rows=1_000)
    whole = fit_profiles(frames, wanted)
    made, assign_part = [], fit._assign_part

    def counted(*given):
        made.append(given)
        return assign_part(*given)

    def halt(fraction, message):
        if len(made) == 3:
            raise Cancelled(message)

    monkeypatch.setattr(fit, "_assign_part", counted)
    with parts_in(tmp_path / "parts"):
        with pytest.raises(Cancelled):
            fit_profiles(frames, wanted, halt)
        kept = sorted((tmp_path / "parts").iterdir())
        assert len(kept) == 3
        kept[0].write_bytes(kept[0].read_bytes()[:-100])  # as a killed writer's disk would leave it
        again = fit_profiles(frames, wanted)
    assert len(made) == 3 + 2  # of four: the damaged one and the last
    assert np.array_equal(again.labels, whole.labels)
    assert np.array_equal(again.probabilities, whole.probabilities)
    assert np.array_equal(again.map_xy, whole.map_xy)


FIT = """
import sys
import numpy as np
from pathlib import Path
from tests.profiles.planted import job_table
from workprof.core.parts import parts_in
from workprof.profiles import fit
from workprof.profiles.settings import ProfileSettings
fit.ROWS_AT_ONCE = 1_000
with parts_in(Path(sys.argv[1])):
    found = fit.fit_profiles({"jobs": job_table(40_000)}, ProfileSettings(sample_rows=2_000))
np.savez(sys.argv[2], labels=found.labels, strength=found.probabilities)
"""


@pytest.mark.soak
def test_an_assignment_whose_process_is_killed_goes_on_where_it_was(tmp_path):
    """kill -9 three times, each when five more parts are done: nothing that was done is done again."""

    def started(parts, answer):
        return subprocess.Popen([sys.executable, "-c", FIT, str(parts), str(answer)], cwd=ROOT)

    assert started(tmp_path / "none", tmp_path / "whole.npz").wait(300) == 0
    parts, seen = tmp_path / "parts", {}
    for more in (5, 10, 15):
        process = started(parts, tmp_path / "never.npz")
        until = time.monotonic() + 120
        while len(list(parts.glob("*.npz"))) < more and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
        now = {one.name: one.stat().st_mtime_ns for one in parts.glob("*.npz")}
        assert more <= len(now) < 40
        assert seen.items() <= now.items()
        seen = now
    assert started(parts, tmp_path / "again.npz").wait(300) == 0
    assert seen.items() <= {one.name: one.stat().st_mtime_ns for one in parts.glob("*.npz")}.items()
    whole, again = np.load(tmp_path / "whole.npz"), np.load(tmp_path / "again.npz")
    assert all(np.array_equal(whole[name], again[name]) for name in ("labels", "strength"))
