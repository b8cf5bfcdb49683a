"""Other classifiers: rules and leaves say in words what is predicted, each against a plain look-up."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_classify
from tests.forecasts.metadata import small_table
from workprof.answers.alternatives import alternatives_answer, alternatives_sentence, condition_words, rule_words
from workprof.core.errors import NotEnoughData
from workprof.forecasts import alternatives
from workprof.forecasts.alternatives import (
    LEAST_RUNS,
    METHODS,
    RULE_FIELDS,
    Alternatives,
    AlternativeSettings,
    Rule,
    compare_classifiers,
)
from workprof.forecasts.encoder import encode, usable_fields

SETTINGS = AlternativeSettings(leaves=6)


def learned(name, jobs):
    labels = jobs["profile"].to_numpy(dtype=np.int64)
    return METHODS[name](jobs, labels, usable_fields(jobs, (), "corrected"), SETTINGS)


def answers(model, jobs):
    return model.classes[model.probabilities(jobs).argmax(axis=1)]


def fits(rule, row):
    for name, kind, value in rule.conditions:
        own = "" if pd.isna(row[name]) else row[name]
        number = -1.0 if own == "" or isinstance(own, str) else own
        told = {"is": own == value, "is not": own != value}
        told = told if kind in told else {"at most": number <= value, "above": number > value}
        if not told[kind]:
            return False
    return True


@pytest.fixture(scope="module")
def jobs():
    """Profiles follow the task, but those of user u3 do not."""
    table = small_table(600, seed=2)
    return table.assign(profile=np.where(table["user"] == "u3", 5, table["profile"]))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_rules_are_a_look_up_by_ever_fewer_fields(seed):
    jobs = small_table(300, seed)
    train, test = jobs.iloc[:200], jobs.iloc[200:]
    keys = [name for name in RULE_FIELDS if name in jobs]
    plain = []
    for _, row in test.iterrows():
        for first in range(len(keys) + 1):
            same = train
            for name in keys[first:]:
                same = same[(same[name] == row[name]) | (same[name].isna() & pd.isna(row[name]))]
            if len(same) >= (LEAST_RUNS if keys[first:] else 1):
                plain.append(same["profile"].value_counts(normalize=True))
                break
    model = learned("rules", train)
    told = model.probabilities(test)
    for place, shares in enumerate(plain):
        assert told[place] == pytest.approx([shares.get(one, 0.0) for one in model.classes])


def test_the_first_rule_that_fits_says_what_is_predicted(jobs):
    model = learned("rules", jobs)
    told = [next(rule.profile for rule in model.rules if fits(rule, row)) for _, row in jobs.iterrows()]
    assert told == answers(model, jobs).tolist()
    assert model.rules[-1].conditions == ()


def test_no_rule_says_what_a_later_one_would(jobs):
    rules = learned("rules", jobs).rules
    for place, rule in enumerate(rules[:-1]):
        known = {name: value for name, _, value in rule.conditions}
        later = next(
            one for one in rules[place + 1 :] if all(known.get(name) == value for name, _, value in one.conditions)
        )
        assert later.profile != rule.profile


def test_one_leaf_fits_each_run_and_says_what_the_tree_predicts(jobs):
    model = learned("tree", jobs)
    assert 2 <= len(model.rules) <= SETTINGS.leaves
    for (_, row), told in zip(jobs.iterrows(), answers(model, jobs), strict=True):
        assert [rule.profile for rule in model.rules if fits(rule, row)] == [told]
    assert sum(rule.runs for rule in model.rules) == len(jobs)


def test_the_nearest_runs_count_by_their_distance(jobs):
    train, test = jobs.iloc[:300], jobs.iloc[300:330]
    model = learned("nearest", train)
    columns, matrix = alternatives._scaled(train, usable_fields(train, (), "corrected"), SETTINGS)
    plain, tested = matrix.toarray(), columns.of(encode(columns.encoder, test)).toarray()
    labels, n_tied = train["profile"].to_numpy(), 0
    for place, row in enumerate(tested):
        away = np.maximum(np.sqrt(((plain - row) ** 2).sum(axis=1)), alternatives.ROUNDING)
        order = np.lexsort((np.arange(len(away)), np.round(away, 5)))  # of equal ones the first
        near = order[: alternatives.NEIGHBOURS]
        shares = [np.sum(1 / away[near[labels[near] == one]]) for one in model.classes]
        assert model.probabilities(test.iloc[[place]])[0] == pytest.approx(np.array(shares) / np.sum(shares), abs=1e-4)
        n_tied += away[order[len(near)]] - away[near[-1]] < alternatives.ROUNDING
    assert n_tied


@pytest.mark.slow
def test_all_are_tested_on_the_same_runs(jobs):
    found = compare_classifiers({"jobs": jobs}, SETTINGS)
    assert {one.name for one in found.methods} == set(METHODS)
    assert len({one.scores.n_test for one in found.methods}) == 1
    for one in found.methods:
        assert one.scores.abstained_share == 0
        assert one.scores.forced_macro_f1 > 0.75  # each learns what is planted
        assert len(one.by_fold) == one.scores.n_turns == 5
        assert one.size_bytes > 0
        assert bool(one.rules) == (one.name in ("rules", "tree"))
    answer = alternatives_answer(found)
    assert [len(one.rows) for one in answer.tables] == [5, sum(len(one.rules) for one in found.methods)]
    again = compare_classifiers({"jobs": jobs}, SETTINGS)
    assert [one.by_fold.tolist() for one in again.methods] == [one.by_fold.tolist() for one in found.methods]


def test_few_rows_are_refused(jobs):
    with pytest.raises(NotEnoughData, match="too few to learn from"):
        compare_classifiers({"jobs": jobs.iloc[:10]}, SETTINGS)


def test_conditions_in_words():
    assert condition_words(("requested_memory_bytes", "at most", 8.4e9)) == "Requested memory at most 8.4 GB"
    assert condition_words(("requested_gpu_percent", "is", "")) == "Requested GPU is not given"
    assert rule_words(Rule((), 3, 9, 0.5)) == "any run"


@pytest.mark.parametrize(
    ("ours", "other", "words"),
    [
        ((0.8, 0.8), (0.9, 0.9), "Macro F1: rules 0.900, boosted trees 0.800; better in every fold."),
        ((0.8, 0.8), (0.95, 0.75), "Macro F1: rules 0.850, boosted trees 0.800; not better in every fold."),
        (
            (0.8, 0.8),
            (0.7, 0.7),
            "No other classifier is better: macro F1 0.800 for the boosted trees, 0.700 for rules.",
        ),
        ((0.8, 0.8), (0.8, 0.8), "Macro F1: rules and boosted trees are equal at 0.800."),
    ],
)
def test_the_sentence_tells_whether_another_is_better(ours, other, words):
    found = records_for_classify.alternatives()
    methods = [
        replace(one, by_fold=np.array(folds), scores=replace(one.scores, forced_macro_f1=float(np.mean(folds))))
        for one, folds in zip(found.methods, (ours, other), strict=True)
    ]
    told = Alternatives(SETTINGS, tuple(methods), 100, 100, (), 1.0)
    assert alternatives_sentence(told) == words
