"""Runs named as alike or unlike: the best of all cuts, what is never violated, names, and what pairs are worth."""

import itertools
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.metrics import adjusted_rand_score

from tests.profiles.planted import blobs, job_table
from workprof.core.errors import SettingsError
from workprof.profiles.fit import fit_keeping_tree, fit_profiles, recut
from workprof.profiles.membership import MembershipSettings, membership
from workprof.profiles.pairs import Pairs, find_pairs, named_pairs, settle
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.tree import build_spanning_tree, cut_with_fall, find_neighbours, numbered_cut

NONE = np.zeros((0, 2), dtype=np.int64)


def pairs_of(must, must_not):
    return Pairs(*(np.array(one, dtype=np.int64).reshape(-1, 2) for one in (must, must_not)))


def tree_of(points, min_samples=3):
    return build_spanning_tree(find_neighbours(points, "euclidean", (min_samples,)), min_samples)


def random_pairs(rng, n_rows, n_pairs, labels):
    """Return pairs that follow labels, which contradict nothing."""
    drawn = rng.integers(0, n_rows, (20 * n_pairs, 2))
    drawn = drawn[drawn[:, 0] != drawn[:, 1]]
    alike = labels[drawn[:, 0]] == labels[drawn[:, 1]]
    half = n_pairs // 2
    return Pairs(drawn[alike][:half], drawn[~alike][: n_pairs - half])


def every_cut(up):
    """Return every set of nodes, the root not among them, of which each leaf has exactly one above or is itself one."""
    children = {node: [one for one in range(len(up)) if up[one] == node] for node in range(len(up))}

    def below(node):
        if not children[node]:
            return [(node,)]
        inside = [sum(parts, ()) for parts in itertools.product(*(below(child) for child in children[node]))]
        return inside + ([(node,)] if node else [])

    return below(0) if children[0] else [()]


def naive_value(cut, fall, pairs):
    """Return how many pairs hold and how stable the nodes are, each row and its way up walked one by one."""
    labels, stability = np.full(len(fall.node), -1), 0.0
    for row, at in enumerate(fall.node):
        node, left = int(at), fall.lambda_[row]
        while node >= 0:
            if node in cut:
                labels[row] = cut.index(node)
                stability += left - fall.birth[node]
            node, left = int(fall.up[node]), fall.birth[node]
    held = sum(labels[a] == labels[b] >= 0 for a, b in pairs.must)
    held += sum(labels[a] != labels[b] or labels[a] < 0 for a, b in pairs.must_not)
    return held, stability


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_the_cut_is_the_best_of_all_cuts(seed):
    """With most pairs that hold, of these the most stable."""
    rng = np.random.default_rng(seed)
    points = np.concatenate([rng.normal(size=(14, 2)) * 0.5 + centre for centre in rng.uniform(-4, 4, (7, 2))])
    tree, truth = tree_of(points), rng.integers(0, 4, len(points))
    for n_pairs in (0, 2, 8):
        pairs = random_pairs(rng, len(points), n_pairs, truth)
        clusters, fall = cut_with_fall(tree, 5, pairs=pairs)
        chosen = tuple(np.flatnonzero(clusters.tree.selected >= 0).tolist())
        cuts = every_cut(fall.up.tolist())
        assert len(cuts) >= 2
        values = [naive_value(cut, fall, pairs) for cut in cuts]
        held, stability = naive_value(chosen, fall, pairs)
        best = max(value[0] for value in values)
        assert held == best == pairs.held(clusters.labels)
        assert stability == pytest.approx(max(value[1] for value in values if value[0] == best), rel=1e-5)


@st.composite
def labelled_and_paired(draw):
    n = draw(st.integers(2, 25))
    labels = np.array(draw(st.lists(st.integers(-1, 4), min_size=n, max_size=n)))
    truth = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    drawn = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=30))
    drawn = [pair for pair in drawn if pair[0] != pair[1]]
    must = [pair for pair in drawn if truth[pair[0]] == truth[pair[1]]]
    return labels, pairs_of(must, [pair for pair in drawn if pair not in must])


def assert_nothing_is_violated(labels, pairs):
    for a, b in pairs.must:
        assert labels[a] == labels[b]
    for a, b in pairs.must_not:
        assert labels[a] != labels[b] or labels[a] == -1


@pytest.mark.slow
@given(labelled_and_paired())
def test_no_pair_is_violated_whatever_the_cut(drawn):
    labels, pairs = drawn
    strength = np.where(labels >= 0, 0.5, 0.0)
    now, strengths = settle(labels, strength, pairs)
    assert_nothing_is_violated(now, pairs)
    assert np.array_equal(now >= 0, strengths > 0)
    free = np.setdiff1d(np.arange(len(labels)), pairs.rows)
    assert np.array_equal(now[free], labels[free])
    for row in np.flatnonzero(now >= 0):  # a run joins the profile of a run that it is linked with, never another
        assert now[row] in labels
    if pairs.held(labels) == len(pairs):
        assert np.array_equal(now, labels)


@settings(max_examples=50)
@given(st.integers(0, 2**31), st.integers(0, 60), st.sampled_from(["eom", "leaf"]), st.sampled_from([0.0, 1.0]))
def test_no_profile_of_a_fit_goes_against_a_pair(seed, n_pairs, method, epsilon):
    rng = np.random.default_rng(seed)
    points, truth = blobs(120, n_dims=2, n_groups=4, noise_share=0.3, seed=seed % 97)
    pairs = random_pairs(rng, len(points), n_pairs, truth)
    chosen = ProfileSettings(min_cluster_size=4, min_samples=3, method=method, epsilon=epsilon)
    clusters, fall = numbered_cut(tree_of(points), chosen, pairs)
    assert_nothing_is_violated(clusters.labels, pairs)
    assert set(clusters.labels.tolist()) | {-1} == set(range(int(clusters.labels.max()) + 1)) | {-1}
    assert set(fall.profile.tolist()) | {-1} == set(clusters.labels.tolist()) | {-1}
    if n_pairs:
        of_cut = fall.profile[fall.node]
        moved = (clusters.labels != of_cut) & (clusters.labels >= 0)
        assert clusters.pairs.moved == moved.sum()
        assert clusters.pairs.unclustered >= ((clusters.labels < 0) & (of_cut >= 0)).sum()
        assert epsilon or clusters.pairs.held_by_cut >= clusters.pairs.held_unaided


def test_a_run_is_named_by_its_job_or_its_row():
    jobs = job_table()
    jobs["job_name"] = [f"j{i}" for i in range(len(jobs))]
    jobs.loc[7, "job_name"] = "1003"  # the name comes before the row of this number
    found = find_pairs(jobs, ProfileSettings(must=(("j5", "1002", "1003"),), must_not=(("j5", "j9"),)))
    assert found.must.tolist() == [[2, 5], [2, 7], [5, 7]]
    assert found.must_not.tolist() == [[5, 9]]


@pytest.mark.parametrize(
    ("given_settings", "words"),
    [
        ({"must": (("j1", "j77777"),)}, "no finished run is named 'j77777'"),
        ({"must": (("j1", "twice"),)}, "2 runs are named 'twice'; give a row of them: 1010, 1011"),
        ({"must_not": (("j1", "j1"),)}, r"--must-not names one run \(j1, j1\); give two, --must-not A,B"),
        ({"must": (("j1", "j2"),), "algorithm": "optics"}, "optics has none; use hdbscan"),
        (
            {"must": (("j1", "j2"), ("j3", "j2"), ("j4", "j5")), "must_not": (("j3", "j1"),)},
            "--must-not j1,j3 contradicts --must j1,j2 and j2,j3; take one of these pairs out",
        ),
    ],
)
def test_what_cannot_hold_is_refused_with_its_pairs(given_settings, words):
    jobs = job_table(200)
    jobs["job_name"] = [f"j{i}" for i in range(len(jobs))]
    jobs.loc[[10, 11], "job_name"] = "twice"
    with pytest.raises(SettingsError, match=words):
        fit_profiles({"jobs": jobs}, ProfileSettings(min_cluster_size=20, **given_settings))


def split_table(seed, n_rows=1200):
    """Return jobs of two kinds, one of which is three sorts that lie close together; the usual cut joins the sorts."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, n_rows, p=[0.4, 0.2, 0.2, 0.2])
    centre = np.array([[9.0, 0.0], [0.0, 0.0], [2.9, 0.0], [1.4, 2.5]])[truth]
    points = centre + rng.normal(size=(n_rows, 2)) * np.where(truth == 0, 1.0, 0.6)[:, None]
    jobs = pd.DataFrame(points, columns=["cpu_usage_percent", "mean_memory_bytes"])
    return jobs.assign(job_name=[f"j{i}" for i in range(n_rows)], row_id=np.arange(n_rows)), truth


def agreement(seed, n_pairs):
    jobs, truth = split_table(seed)
    pairs = random_pairs(np.random.default_rng(seed), len(jobs), n_pairs, truth)
    named = {
        name: tuple((f"j{a}", f"j{b}") for a, b in rows)
        for name, rows in (("must", pairs.must), ("must_not", pairs.must_not))
    }
    plain = ProfileSettings(features=tuple(jobs.columns[:2]), scaler="none", min_cluster_size=40, min_samples=10)
    found = fit_profiles({"jobs": jobs}, replace(plain, **named))
    assert_nothing_is_violated(found.labels, pairs)
    named_runs = pairs.rows
    others = np.setdiff1d(np.arange(len(jobs)), named_runs)
    return adjusted_rand_score(truth[others], found.labels[others])


@pytest.mark.slow
def test_pairs_bring_the_profiles_closer_to_the_truth():
    """Among runs that nobody named, over six planted tables."""
    none, ten, fifty = (np.mean([agreement(seed, n_pairs) for seed in range(6)]) for n_pairs in (0, 10, 50))
    assert none < 0.75
    assert ten > none + 0.12
    assert fifty > none + 0.12


def test_a_cut_of_the_kept_tree_is_the_fit_with_pairs():
    jobs = job_table()
    names = jobs["job_name"].tolist()
    chosen = ProfileSettings(min_cluster_size=40, must=((names[0], names[1]),), must_not=((names[2], names[3]),))
    made = fit_keeping_tree({"jobs": jobs}, ProfileSettings(min_cluster_size=40))
    whole = fit_profiles({"jobs": jobs}, chosen)
    again = recut({"jobs": jobs}, whole.settings, made.extras["profiles.tree"])
    assert np.array_equal(whole.labels, again.labels)
    assert whole.pairs == again.pairs
    assert_nothing_is_violated(whole.labels, find_pairs(jobs, chosen))


@pytest.mark.slow
def test_named_runs_are_in_every_sample_and_hold_among_all_runs():
    jobs = job_table(900)
    rng = np.random.default_rng(3)
    pairs = random_pairs(rng, len(jobs), 30, jobs["truth_profile"].to_numpy())
    must, must_not = (tuple((f"{a + 1000}", f"{b + 1000}") for a, b in one) for one in (pairs.must, pairs.must_not))
    sampled = ProfileSettings(sample_rows=300, min_cluster_size=20, must=must, must_not=must_not)
    found = fit_profiles({"jobs": jobs}, sampled)
    assert found.sample_rows > 300
    assert len(found.labels) == 900
    assert_nothing_is_violated(found.labels, pairs)


def test_hdbscan_weighs_no_profiles_of_pairs():
    jobs = job_table(300)
    names = jobs["job_name"].tolist()
    with_pairs = ProfileSettings(min_cluster_size=20, must=((names[0], names[1]),))
    with pytest.raises(SettingsError, match="the package hdbscan knows no pairs of runs"):
        membership({"jobs": jobs}, MembershipSettings(fit=with_pairs))


def test_pairs_are_read_from_a_csv():
    text = '\ufeffkind,run,run\nmust,a,b\nUnlike, c ,"d, e",\n\nmust-not,f,g,h\n'
    assert named_pairs(text) == ((("a", "b"),), (("c", "d, e"), ("f", "g", "h")))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kind,run,run\n", "names no runs; give lines such as must,A,B"),
        ("must,a,b\nmust,a,a\n", "line 2 is 'must,a,a'"),
        ("must,a,b\nsame,c,d\n", "line 2 is 'same,c,d'"),
        ("", "names no runs"),
    ],
)
def test_pairs_that_cannot_be_read_are_refused_with_their_line(text, told):
    with pytest.raises(SettingsError, match=re.escape(told)):
        named_pairs(text)
