"""The classifier: planted profiles come back from metadata, strangers get no answer, and nothing is executed."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn.metrics import f1_score
from sklearn.preprocessing import OneHotEncoder

from tests.forecasts.metadata import sample, small_table
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, SettingsError, TraceError
from workprof.core.records import canonical_json, pack, unpack
from workprof.forecasts.boosting import (
    NEWNESS,
    TEMPERATURES,
    best_temperature,
    grow_trees,
    log_loss,
    margins,
    newness,
    softened,
    softmax,
    spread,
)
from workprof.forecasts.classifier import (
    ClassifierModel,
    ClassifierSettings,
    LoadedClassifier,
    fit_classifier,
    predict,
    train_classifier,
)
from workprof.forecasts.classifier_evaluation import reliability
from workprof.forecasts.encoder import Filled, encode, fit_encoder, is_seen, training_rows
from workprof.forecasts.explain import explain_all, explain_job
from workprof.forecasts.predictions import REASON_CODES
from workprof.forecasts.splits import holdout, make_folds


@pytest.fixture(scope="module")
def small():
    return fit_classifier({"jobs": small_table()}, ClassifierSettings())


@pytest.mark.slow
@pytest.mark.parametrize("split", ["by_group", "by_job"])
def test_planted_profiles_come_back_from_metadata(split):
    jobs = sample()
    fold = holdout(jobs, split, 0.2)
    train, test = jobs.iloc[fold.train], jobs.iloc[fold.test]
    answers = predict(train_classifier(train, train["truth_profile"].to_numpy(), ClassifierSettings()), test)
    clear = test["truth_identifiable"].to_numpy()
    truth = test["truth_profile"].to_numpy()[clear]
    assert f1_score(truth, answers.profile[clear], labels=np.unique(truth), average="macro") >= 0.9


@pytest.mark.slow
def test_users_and_groups_kept_out_of_training_abstain():
    jobs = sample()
    users = np.random.default_rng(0).permutation(jobs["user"].unique())
    out = jobs["user"].isin(users[: len(users) // 4]).to_numpy()
    out = out | jobs["group"].isin(jobs["group"][out]).to_numpy()
    model = train_classifier(jobs[~out], jobs["truth_profile"].to_numpy()[~out], ClassifierSettings())
    answers = predict(model, jobs[out])
    assert answers.abstained.mean() >= 0.8
    assert "neither its user nor its group" in answers.reason_text(int(answers.abstained.argmax()))
    assert (answers.best >= 0).all()  # what it would say is there all the same
    assert predict(model, jobs[~out]).abstained.mean() < 0.5


@pytest.mark.soak
@pytest.mark.slow
def test_the_same_at_the_published_size():
    jobs = sample(100_001, 0)
    fold = holdout(jobs, "by_group", 0.2)
    train, test = jobs.iloc[fold.train], jobs.iloc[fold.test]
    answers = predict(train_classifier(train, train["truth_profile"].to_numpy(), ClassifierSettings()), test)
    clear = test["truth_identifiable"].to_numpy()
    truth = test["truth_profile"].to_numpy()[clear]
    assert f1_score(truth, answers.profile[clear], labels=np.unique(truth), average="macro") >= 0.9


def test_merged_rows_grow_the_trees_of_all_rows():
    jobs = small_table(600)
    fields = ["user", "task_name", "group"]
    draw = np.random.default_rng(1)
    labels = np.where(draw.random(600) < 0.3, draw.integers(0, 2, 600), (jobs["task_name"] == "ps").to_numpy())
    labels[::7] = 2
    model = train_classifier(jobs, labels, ClassifierSettings(mode="faithful", fields=tuple(fields)))
    encoder = OneHotEncoder().fit(jobs[fields])
    plain = xgboost.XGBClassifier(base_score=0.5, n_jobs=1).fit(encoder.transform(jobs[fields]), labels)
    theirs = plain.predict_proba(encoder.transform(jobs[fields]))
    assert np.allclose(predict(model, jobs).probabilities, theirs, atol=2e-3)


def test_faithful_leaves_outliers_out_and_never_abstains():
    jobs = small_table()
    model = fit_classifier({"jobs": jobs}, ClassifierSettings(mode="faithful"))
    answers = predict(model, jobs.assign(user="new", group="new", job_name="new", task_name="new"))
    assert model.n_left_out == (jobs["profile"] == -1).sum()
    assert model.classes.tolist() == [0, 1]
    assert not answers.abstained.any()
    assert (answers.profile >= 0).all()


@pytest.mark.parametrize(
    ("left_out", "said"), [(["group"], "its user does not occur"), (["user", "group"], "none of its names occurs")]
)
def test_a_stranger_is_one_by_the_fields_that_there_are(left_out, said):
    jobs = small_table().drop(columns=left_out)
    model = fit_classifier({"jobs": jobs}, ClassifierSettings())
    new = jobs[:1].assign(job_name="new", task_name="new", **{"user": "new"} if "user" in jobs else {})
    assert predict(model, new).reason_text(0) == f"{said} in the training data"


def test_outliers_are_a_class_of_their_own(small):
    jobs = small_table(seed=5)
    answers = predict(small, jobs)
    assert small.classes.tolist() == [-1, 0, 1]
    assert (answers.profile == jobs["profile"]).mean() > 0.99
    outlier = (jobs["profile"] == -1).to_numpy()
    assert {REASON_CODES[code] for code in answers.reason[outlier]} == {"no_profile"}


def test_answers_are_consistent(small):
    answers = predict(small, small_table(seed=5))
    assert np.allclose(answers.probabilities.sum(axis=1), 1)
    assert np.array_equal(answers.abstained, answers.profile == -1)
    assert np.array_equal(answers.top_probability[:, 0], answers.probabilities.max(axis=1))
    assert (np.diff(answers.top_probability, axis=1) <= 0).all()
    assert answers.reason_text(0) == "" or answers.abstained[0]


def test_reasons_in_their_order(small):
    known = small_table().iloc[[int((small_table()["profile"] == 0).argmax())]]
    torn = np.random.default_rng(99).integers(0, 2, len(small_table()))
    strict = train_classifier(small_table(), torn, ClassifierSettings(threshold=0.95))
    needy = fit_classifier({"jobs": small_table()}, ClassifierSettings(least_support=300))
    found = [
        REASON_CODES[predict(model, jobs).reason[0]]
        for model, jobs in (
            (small, known),
            (small, known.assign(user="new", group="new")),
            (small, known.assign(user="new")),
            (strict, known),
            (needy, known),
        )
    ]
    assert found == ["answered", "unseen", "answered", "unsure", "unsupported"]


def test_without_user_and_group_all_values_must_be_new():
    jobs = small_table()[["job_name", "task_name", "profile"]]
    model = fit_classifier({"jobs": jobs}, ClassifierSettings())
    asked = pd.DataFrame({"job_name": ["new", "new"], "task_name": ["ps", "new"]})
    assert predict(model, asked).abstained.tolist() == [False, True]


def test_a_kept_classifier_says_the_same(small):
    packed = pack(small)
    assert all(array.dtype.kind in "biuf" for array in packed.arrays.values())
    again = unpack(ClassifierModel, packed)
    jobs = small_table(seed=5)
    assert np.array_equal(predict(again, jobs).probabilities, predict(small, jobs).probabilities)
    assert again.settings == small.settings
    assert canonical_json(ClassifierSettings()) == canonical_json(ClassifierSettings())


def test_a_seed_gives_the_same_trees(small):
    again = fit_classifier({"jobs": small_table()}, ClassifierSettings())
    assert np.array_equal(again.booster, small.booster)
    shuffled = small_table().sample(frac=1, random_state=1)
    assert predict(fit_classifier({"jobs": shuffled}, ClassifierSettings()), small_table()).profile.tolist() == (
        predict(small, small_table()).profile.tolist()
    )


def test_a_large_batch_is_told_in_parts(small):
    jobs = pd.concat([small_table(1_000, seed=7)] * 100, ignore_index=True)
    told = []
    answers = LoadedClassifier(small).predict(jobs, lambda share, words: told.append((share, words)))
    assert len(answers) == 100_000
    assert [share for share, _ in told] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert told[0][1] == "20,000 of 100,000 jobs classified"
    assert np.array_equal(answers.profile[:1_000], answers.profile[-1_000:])


def test_bad_input_is_told(small):
    jobs = small_table()
    with pytest.raises(NoRows, match="has no rows"):
        predict(small, jobs.iloc[:0])
    with pytest.raises(ColumnMissing, match="none of the classifier's fields"):
        predict(small, jobs[["duration_s"]])
    with pytest.raises(TraceError, match="requested_gpu_percent holds 'all'"):
        predict(small, jobs.assign(requested_gpu_percent="all"))
    with pytest.raises(ColumnMissing, match="no column profile; fit profiles first"):
        fit_classifier({"jobs": jobs.drop(columns="profile")}, ClassifierSettings())
    with pytest.raises(ColumnMissing, match="no column workload"):
        fit_classifier({"jobs": jobs}, ClassifierSettings(fields=("workload",)))
    with pytest.raises(NotEnoughData, match="400 rows in 1 profile"):
        train_classifier(jobs, np.where(jobs["profile"] == 1, -1, 0), ClassifierSettings())
    with pytest.raises(NotEnoughData, match="10 rows"):
        train_classifier(jobs[:10], jobs["profile"].to_numpy()[:10], ClassifierSettings())
    with pytest.raises(SettingsError, match="3 labels for 400 jobs"):
        train_classifier(jobs, np.zeros(3), ClassifierSettings())


def test_an_input_is_chosen_once():
    with pytest.raises(SettingsError, match="choose each once"):
        ClassifierSettings(fields=("user", "user"))


@pytest.mark.parametrize("seed", range(20))
def test_the_temperature_is_that_of_the_whole_grid(seed):
    draw = np.random.default_rng(seed)
    scores = draw.normal(size=(300, 5)) * draw.choice([0.1, 1.0, 5.0, 50.0])
    targets = np.where(draw.random(300) < 0.6, scores.argmax(axis=1), draw.integers(0, 5, 300))
    scores[:, draw.integers(0, 5)] = -1e9 if seed % 3 == 0 else 0.0
    weights = draw.integers(1, 9, 300).astype(float)
    losses = [log_loss(scores, targets, weights, float(one)) for one in TEMPERATURES]
    assert best_temperature(scores, targets, weights) == TEMPERATURES[int(np.argmin(losses))]


def test_temperature_undoes_overconfidence():
    draw = np.random.default_rng(0)
    scores = draw.normal(size=(4_000, 4)) * 2
    drawn = softmax(scores, 1.0).cumsum(axis=1)
    targets = (draw.random((4_000, 1)) > drawn).sum(axis=1).clip(0, 3)
    weights = np.ones(4_000)
    assert 2.6 < best_temperature(scores * 3, targets, weights) < 3.5
    assert np.isclose(
        log_loss(scores, targets, weights, 1.0), -np.log(softmax(scores, 1.0))[range(4_000), targets].mean()
    )


def test_the_threshold_follows_from_the_cost_of_a_wrong_answer_and_not_from_few_held_out_jobs():
    labels = np.random.default_rng(99).integers(0, 2, len(small_table()))
    for cost, least in ((1.0, 0.5), (4.0, 0.8)):
        for seed in range(3):
            found = train_classifier(small_table(), labels, ClassifierSettings(wrong_cost=cost, seed=seed))
            assert found.tuning.threshold == least
    assert train_classifier(small_table(), labels, ClassifierSettings(threshold=0.7)).tuning.threshold == 0.7


def test_reliability_counts_every_row_once():
    stated = np.array([0.05, 0.05, 1.0, 1.0])
    found = reliability(stated, np.array([False, False, True, False]))
    assert found.rows.sum() == 4
    assert np.isclose(found.error, (2 * 0.05 + 2 * 0.5) / 4)
    assert np.isnan(found.observed[4])


def test_a_column_per_field_grows_the_trees_of_a_column_per_value():
    jobs = sample(4_000)
    jobs["requested_gpu_percent"] = jobs["requested_gpu_percent"].where(np.arange(len(jobs)) % 3 > 0)
    fields = ("job_name", "user", "group", "task_name", "requested_gpu_percent", "requested_memory_bytes")
    train, test = jobs.iloc[:3_000], jobs.iloc[3_000:].assign(user=lambda rows: rows["user"].where(rows.index % 5 > 0))
    classes, targets = np.unique(train["profile"], return_inverse=True)
    encoder = fit_encoder(train, fields, "corrected", 5)
    learned, new = training_rows(encoder, encode(encoder, train), targets), encode(encoder, test)
    assert not is_seen(encoder, new)[:, :3].all(axis=0).any()
    assert np.isnan(new.numbers).any()
    by_value, by_field = (grow_trees(encoder, learned, len(classes), 6, by_field=by) for by in (False, True))
    assert (by_value.num_features(), by_field.num_features()) == (encoder.starts[-1], len(fields))
    for n_rounds in (2, 6):
        expected = margins(by_value, encoder, new, n_rounds)
        np.testing.assert_allclose(margins(by_field, encoder, new, n_rounds), expected, atol=1e-5)


@pytest.mark.slow
def test_each_kind_of_newness_has_a_temperature_of_its_own():
    jobs = sample()
    fold = holdout(jobs, "by_group", 0.2)
    train, test = jobs.iloc[fold.train], jobs.iloc[fold.test]
    model = train_classifier(train, train["profile"].to_numpy(), ClassifierSettings())
    kinds = newness(model.encoder, encode(model.encoder, test))
    known = newness(model.encoder, encode(model.encoder, train))
    assert set(kinds) <= {2, 3}
    assert (kinds == 3).sum() == (~test["user"].isin(train["user"])).sum()
    assert set(known) == {0}
    assert len(model.tuning.temperatures) == len(NEWNESS)
    assert model.tuning.temperatures[2] > model.tuning.temperatures[0]  # a new group is known less well
    scores = margins(LoadedClassifier(model).booster, model.encoder, encode(model.encoder, test))
    expected = softmax(scores, np.array(model.tuning.temperatures)[kinds])
    assert np.allclose(predict(model, test).probabilities, expected)


PARTS = (
    ("user", "task_name"),
    ("user",),
    ("task_name",),
    ("user", "requested_memory_bytes"),
    ("requested_memory_bytes", "requested_cpu_percent"),
)


@pytest.mark.slow
def test_what_is_stated_of_a_job_with_few_known_fields_is_about_as_often_right():
    """Without a temperature of blank fields the stated probability was .13 above the share that was right."""
    jobs = sample()
    stated, right, loss, loss_without = [], [], [], []
    for fold in make_folds(jobs, "by_group", 5, 1)[:3]:
        train, test = jobs.iloc[fold.train], jobs.iloc[fold.test].sample(400, random_state=0)
        model = train_classifier(train, train["profile"].to_numpy(), ClassifierSettings())
        assert model.tuning.blank > 1
        without = dataclasses.replace(model, tuning=dataclasses.replace(model.tuning, blank=1.0))
        test = test[test["profile"].isin(model.classes)]
        places = np.arange(len(test)), np.searchsorted(model.classes, test["profile"])
        for fields in PARTS:
            asked = test[list(fields)]
            shares, shares_without = (LoadedClassifier(m).predict(asked).probabilities for m in (model, without))
            assert np.array_equal(shares.argmax(axis=1), shares_without.argmax(axis=1))
            stated.append(shares.max(axis=1).mean())
            right.append((shares.argmax(axis=1) == places[1]).mean())
            for total, of in ((loss, shares), (loss_without, shares_without)):
                total.append(-np.log(np.maximum(of[places], 1e-12)).mean())
    assert abs(np.mean(stated) - np.mean(right)) < 0.08
    assert np.mean(loss) < np.mean(loss_without) - 0.1


def test_fillings_that_agree_leave_the_probabilities_and_others_soften_them():
    blank = np.array([[True, False], [True, False], [False, False]])
    filled = Filled(None, np.array([0, 0, 1, 1, 2]), np.array([0.25, 0.75, 0.5, 0.5, 1.0]), blank)
    shares = np.array([[0.9, 0.1], [0.9, 0.1], [1.0, 0.0], [0.2, 0.8], [0.3, 0.7]])
    means, gaps = spread(shares, filled)
    np.testing.assert_allclose(means, [[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    by_hand = -(0.6 * np.log(0.6) + 0.4 * np.log(0.4)) + 0.5 * (0.2 * np.log(0.2) + 0.8 * np.log(0.8))
    np.testing.assert_allclose(gaps, [0, by_hand, 0], atol=1e-12)
    power = 2.0**-by_hand
    expected = 0.6**power / (0.6**power + 0.4**power)
    np.testing.assert_allclose(softened(means, gaps, 2.0), [[0.9, 0.1], [expected, 1 - expected], [0.3, 0.7]])
    assert np.array_equal(softened(means, gaps, 1.0), means)


def test_a_field_that_every_run_had_is_taken_from_runs_alike_where_a_job_lacks_it():
    """`ann` trains and `cat` prepares; trees that split by the task alone called whatever lacks it the other one."""
    draw, n = np.random.default_rng(1), 240
    trains = draw.integers(0, 2, n) == 1
    jobs = pd.DataFrame(
        {
            "job_name": [f"j{at // 2}" for at in range(n)],
            "task_name": np.where(trains, "train", "prep"),
            "user": np.where(trains, draw.choice(["ann", "bob"], n), draw.choice(["cat", "dan"], n)),
            "requested_memory_bytes": np.where(trains, 16e9, 4e9),
            "start_time_s": np.arange(n) * 600.0,
        }
    )
    loaded = LoadedClassifier(train_classifier(jobs, np.where(trains, 0, 1), ClassifierSettings()))
    asked = pd.DataFrame(
        {
            "user": ["ann", "cat", "ann", None, "zoe"],
            "task_name": [None, None, "new", "train", None],
            "requested_memory_bytes": [16e9, np.nan, np.nan, np.nan, np.nan],
        }
    )
    answers = loaded.predict(asked)
    assert answers.best[:4].tolist() == [0, 1, 0, 0]
    assert np.allclose(answers.probabilities.sum(axis=1), 1)
    assert answers.probabilities[4, 0] == pytest.approx(trains.mean(), abs=0.01)  # nothing is known of it
    assert (answers.probability[:4] > 0.8).all()
    assert answers.profile[:3].tolist() == [0, 1, 0]
    for row in range(len(asked)):
        told = explain_job(loaded, asked.iloc[[row]])
        assert told.base + told.contributions.sum() == pytest.approx(told.output, abs=1e-5)
        assert told.probability == pytest.approx(answers.probabilities[row].max(), abs=1e-9)
        assert told.sentences[-1].startswith("every run in training had a known ")
    every = explain_all(loaded, asked, len(asked))
    assert every.additive
    assert np.array_equal(every.chosen, loaded.model.classes[answers.probabilities.argmax(axis=1)][every.row_ids])
    whole = jobs.head(20)
    scores = margins(loaded.booster, loaded.model.encoder, encode(loaded.model.encoder, whole))
    assert np.allclose(
        loaded.predict(whole).probabilities,
        softmax(scores, loaded.model.tuning.of_rows(loaded.model.encoder, encode(loaded.model.encoder, whole))),
    )
