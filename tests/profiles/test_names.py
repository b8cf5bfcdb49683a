"""Names of profiles: typical values first, words of behaviour where they do not part, numbers always."""

import numpy as np
import pandas as pd
import pytest

from tests.profiles.planted import job_table
from workprof.profiles.fit import fit_profiles
from workprof.profiles.names import (
    LONGEST_NAME,
    UNCLUSTERED,
    Labelled,
    fitted,
    name_at,
    name_of,
    number_of,
    shown_names,
    successors,
    typical_names,
    with_names,
)
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.summary import RowResults, feature_spread, summarise

FEATURES = ("cpu_usage_percent", "peak_memory_bytes")


def described(jobs, labels, values=None, features=FEATURES):
    labels = np.asarray(labels, dtype=np.int64)
    values = np.zeros((len(labels), len(features))) if values is None else np.asarray(values, dtype=np.float64)
    spread = feature_spread(values, values, labels, features)
    return summarise(jobs, RowResults(labels, labels * 0.1, labels * 0.2), spread).cards, spread


def shown(cards, spread, given=None):
    return shown_names(cards, typical_names(cards, spread), given)


def named(jobs, labels, values=None, features=FEATURES):
    return typical_names(*described(pd.DataFrame(jobs), labels, values, features))


def test_the_typical_workload_and_task_name_a_profile():
    jobs = {"workload": ["bert"] * 3 + ["ctr"] * 3, "task_name": ["worker", "worker", "ps", "ps", "ps", "ps"]}
    assert named(jobs, [0, 0, 0, 1, 1, 1]) == {0: "bert · worker", 1: "ctr · ps"}


def test_two_values_of_most_runs_that_few_have_together_are_not_named_together():
    jobs = {
        "workload": ["bert"] * 4 + ["ctr"] * 2 + ["nmt"] * 2,
        "task_name": ["ps", "worker", "ps", "worker", "worker", "worker", "ps", "ps"],
    }
    assert named(jobs, [0] * 6 + [1] * 2)[0] in ("bert", "worker")


def test_what_all_profiles_share_names_none():
    jobs = {"workload": ["rnaseq"] * 4, "task_name": ["FASTQC", "FASTQC", "STAR", "STAR"]}
    assert named(jobs, [0, 0, 1, 1]) == {0: "FASTQC", 1: "STAR"}
    assert named(jobs, [0, 0, -1, -1]) == {0: "rnaseq · FASTQC"}


def test_equal_names_are_told_apart_by_what_differs_most():
    jobs = {"workload": ["bert"] * 4 + ["ctr"] * 2, "task_name": ["worker"] * 6}
    values = [[0, 0]] * 2 + [[0, 3]] * 2 + [[5, 5]] * 2
    assert named(jobs, [0, 0, 1, 1, 2, 2], values) == {0: "bert, small memory", 1: "bert, large memory", 2: "ctr"}


def test_twice_as_long_is_long():
    jobs = {"task_name": ["worker"] * 4 + ["ps"], "duration_s": [60.0, 60.0, 130.0, 130.0, 1.0]}
    assert named(jobs, [0, 0, 1, 1, 2]) == {0: "worker, short", 1: "worker, long", 2: "ps"}


def test_alike_in_all_they_are_parted_by_their_numbers():
    jobs = pd.DataFrame({"task_name": ["worker"] * 4 + ["ps"]})
    names = shown(*described(jobs, [0, 0, 1, 1, -1]))
    assert names == {-1: UNCLUSTERED, 0: "average (P0)", 1: "average (P1)"}


def test_without_metadata_behaviour_names_a_profile():
    assert named({"x": range(4)}, [0, 0, 1, 1], [[0, 0]] * 2 + [[4, 0]] * 2) == {0: "low CPU", 1: "CPU-heavy"}
    assert named({"x": range(2)}, [0, 0]) == {0: "average"}


def test_a_rare_value_is_not_typical():
    jobs = {"task_name": list("abcdef") + ["ps"] * 6}
    assert named(jobs, [0] * 6 + [1] * 6, [[0, 0]] * 6 + [[4, 0]] * 6) == {0: "mixed, low CPU", 1: "ps"}


@pytest.mark.parametrize(
    ("field", "value", "name"),
    [
        ("user", "alice", "user alice"),
        ("group", "physics", "group physics"),
        ("job_name", "blast", "blast"),
        ("user", "9f8a7b6c5d4e", "low CPU"),
        ("user", "123", "low CPU"),
    ],
)
def test_other_fields_name_where_there_is_no_workload_and_hashes_never(field, value, name):
    jobs = {field: [value] * 2 + ["x", "y"]}
    assert named(jobs, [0, 0, 1, 1], [[0, 0]] * 2 + [[4, 0]] * 2)[0] == name


def test_long_values_are_cut_and_paths_end_with_their_last_part():
    jobs = {"task_name": ["NFCORE_RNASEQ:RNASEQ:ALIGN:SAMTOOLS_SORT"] * 2 + ["x" * 90] * 2, "workload": list("abcd")}
    names = named(jobs, [0, 0, 1, 1])
    assert names[0] == "SAMTOOLS_SORT"
    assert names[1].endswith("…")
    assert len(names[1]) <= LONGEST_NAME


def test_no_name_is_too_long_and_none_stands_twice():
    random = np.random.default_rng(3)
    labels = np.repeat(np.arange(60), 10)
    jobs = pd.DataFrame(
        {
            "workload": np.array(["graphlearn with a long name", "bert", "ctr"])[labels % 3],
            "task_name": np.array(["evaluator of everything", "ps"])[labels % 2],
            "duration_s": 10 ** random.uniform(1, 5, 60)[labels],
        }
    )
    names = shown(*described(jobs, labels, random.normal(size=(60, 2))[labels]))
    assert len(set(names.values())) == 60
    assert max(map(len, names.values())) <= LONGEST_NAME + len(" (P59)")


def test_a_users_name_wins_and_a_blank_one_does_not():
    cards, spread = described(pd.DataFrame({"task_name": ["a", "a", "b", "b"]}), [0, 0, 1, 1])
    assert shown(cards, spread, {0: " nightly ", 1: " "}) == {0: "nightly (P0)", 1: "b (P1)"}


def test_names_are_the_same_whatever_the_order_of_the_rows():
    jobs = job_table()
    fit = fit_profiles({"jobs": jobs}, ProfileSettings(min_cluster_size=30, min_samples=30))
    names = typical_names(fit.cards, fit.spread)
    assert len(names) == fit.scores.n_clusters >= 3
    for label, name in names.items():
        (cell,) = jobs[fit.labels == label][["workload", "task_name"]].mode().to_numpy()
        assert name.startswith(" · ".join(cell))
    turned = fit_profiles({"jobs": jobs.iloc[::-1]}, fit.settings)
    assert sorted(typical_names(turned.cards, turned.spread).values()) == sorted(names.values())


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("bert · worker (P3)", 3),
        ("P3", 3),
        ("P3 long readers", 3),
        ("3", 3),
        ("of (P1) and (P12)", 12),
        ("P1x", None),
        ("Unclustered", None),
        ("-1", None),
        ("(P3) behind", None),
        ("", None),
    ],
)
def test_the_number_of_a_name_is_read_in_every_form_of_a_link(text, number):
    assert number_of(text) == number


def test_a_label_has_the_name_at_its_place_and_a_number_where_names_are_not_there():
    names = ("bert (P0)", "ctr (P1)", UNCLUSTERED)
    assert [name_at(names, label) for label in (-1, 0, 1, 2)] == [UNCLUSTERED, "bert (P0)", "ctr (P1)", "P2"]
    assert [name_at((), label) for label in (-1, 0)] == [UNCLUSTERED, "P0"]


@pytest.mark.parametrize("longest", [6, 12, 20, 30, 60])
def test_a_name_is_cut_before_its_number(longest):
    name = "graphlearn · worker, large GPU memory (P22)"
    cut = fitted(name, longest)
    assert len(cut) <= longest
    assert cut == name if longest >= len(name) else "…" in cut
    assert cut.endswith("(P22)") or longest < 7


def slow_successors(old, new):
    """Say the rule in other words: run by run, in dictionaries."""
    after = dict(zip(new.row_ids.tolist(), new.labels.tolist(), strict=True))
    both = [
        (label, after[row])
        for row, label in zip(old.row_ids.tolist(), old.labels.tolist(), strict=True)
        if row in after
    ]
    found = {}
    for label in sorted({one for one, _ in both if one >= 0}):
        shares = {to: both.count((label, to)) for to in sorted({to for one, to in both if one == label and to >= 0})}
        if shares:
            best = min(shares, key=lambda to: (-shares[to], to))
            if shares[best] > sum(to == best for _, to in both) / 2:
                found[label] = best
    return found


@pytest.mark.parametrize("seed", range(30))
def test_names_follow_the_runs_as_a_slow_version_says(seed):
    random = np.random.default_rng(seed)
    rows = random.permutation(90)
    old = Labelled(rows[:70], random.integers(-1, 4, 70))
    moved = np.where(random.random(90) < 0.3, random.integers(-1, 4, 90), random.permutation(5)[rows % 4])
    new = Labelled(rows[10:], moved[10:])
    before = dict(zip(old.row_ids.tolist(), old.labels.tolist(), strict=True))
    kept = np.array([before.get(int(row), -1) for row in new.row_ids])
    for labels in (new.labels, np.where(random.random(80) < 0.6, kept, new.labels)):
        one = Labelled(new.row_ids, labels)
        assert successors(old, one) == slow_successors(old, one)


def cut_of(*labels):
    return Labelled(np.arange(len(labels)), np.array(labels))


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ((0, 0, 1, 1), (1, 1, 0, 0), {0: 1, 1: 0}),
        ((0, 0, 0, 0), (0, 0, 1, 1), {0: 0}),  # of two halves, the one with the lower label
        ((0, 0, 0, 1), (0, 0, 0, 0), {0: 0}),  # of two that were merged, the larger part
        ((0, 0, 1, 1), (0, 0, 0, 0), {}),  # a half is not more than a half
        ((0, 0, 0, -1), (-1, -1, 0, 0), {}),  # most runs are outliers, and what is left is no majority
        ((0, 0, -1, -1), (-1, -1, -1, -1), {}),
    ],
)
def test_splits_merges_and_ties(old, new, found):
    assert successors(cut_of(*old), cut_of(*new)) == found


def test_clusterings_without_a_common_run_share_no_name():
    assert successors(cut_of(0, 0), Labelled(np.array([7, 8]), np.array([0, 0]))) == {}


NAMED = ("bert · worker (P0)", "ctr (P1)", UNCLUSTERED)


def test_what_results_call_a_profile_gets_its_name():
    assert [name_of(word, NAMED) for word in ("profile 1", "P0", "no profile")] == ["ctr (P1)", NAMED[0], UNCLUSTERED]
    assert [name_of(word, NAMED) for word in ("P1 worker", "all runs", "profile 7")] == ["P1 worker", "all runs", "P7"]
    assert name_of("profile 1", ()) == "profile 1"
    assert name_of("no profile", ()) == "no profile"


def test_a_sentence_gets_the_names_once():
    assert with_names("moved in P0, P1 and P9", NAMED) == "moved in bert · worker (P0), ctr (P1) and P9"
    assert (
        with_names("profile 1: 3 runs; CPU1, ctr (P1)", dict(enumerate(NAMED[:-1])))
        == "ctr (P1): 3 runs; CPU1, ctr (P1)"
    )
    assert with_names("P0", ()) == "P0"
