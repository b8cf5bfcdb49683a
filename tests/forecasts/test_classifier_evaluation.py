"""The evaluation: leaks show, nothing of the test rows is learned, and what cannot be split is named."""

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

from tests.forecasts.metadata import sample, small_table
from tests.shared_data import PAI_SAMPLE, needs_shared_data
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.forecasts.classifier import ClassifierSettings, train_classifier
from workprof.forecasts.classifier_evaluation import (
    ClassifierEvaluation,
    class_scores,
    confusion_of,
    evaluate_classifier,
    macro_f1,
    weighted_f1,
)
from workprof.forecasts.splits import SPLITS, make_folds
from workprof.profiles.fit import fit_profiles
from workprof.profiles.settings import ProfileSettings

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def evaluated():
    return evaluate_classifier({"jobs": sample(5_000)}, ClassifierSettings())


@pytest.mark.soak
def test_a_random_split_flatters(evaluated):
    assert list(evaluated.splits) == list(SPLITS)
    assert [split.n_turns for split in evaluated.splits.values()] == [1, 5, 5, 1]
    assert evaluated.splits["by_group"].n_test == 5_000
    scores = evaluated.splits
    assert scores["random"].accuracy > scores["by_group"].accuracy
    assert evaluated.shown == "by_job"
    assert evaluated.classes == scores["by_job"].classes


@pytest.mark.soak
def test_counts_add_up(evaluated):
    for scores in evaluated.splits.values():
        assert scores.confusion.counts.sum() == scores.n_test
        assert scores.reliability.rows.sum() == scores.n_test
        assert sum(line.support for line in scores.classes) == scores.n_test
        assert sum(scores.reasons.values()) == round(scores.abstained_share * scores.n_test)
        assert np.isclose(scores.accuracy, np.trace(scores.confusion.counts) / scores.n_test)
        assert [line.f1 for line in scores.classes] == sorted(line.f1 for line in scores.classes)
    assert evaluated.splits["random"].calibration_error < 0.1


def test_fitting_never_sees_test_categories():
    jobs = sample()
    for split, column in (("by_job", "job_name"), ("by_group", "group")):
        fold = make_folds(jobs, split, 5)[1]
        train, test = jobs.iloc[fold.train], jobs.iloc[fold.test]
        model = train_classifier(train.iloc[:3_000], train["profile"].to_numpy()[:3_000], ClassifierSettings())
        known = next(values for values in model.encoder.categories if values.field == column)
        assert not {*known.kept, *known.rare} & set(test[column])


def test_scores_are_those_of_scikit_learn():
    draw = np.random.default_rng(0)
    truth, answers = draw.integers(-1, 5, 500), draw.integers(-1, 6, 500)
    scores = class_scores(confusion_of(truth, answers))
    labels = np.array([line.profile for line in scores])
    theirs = precision_recall_fscore_support(truth, answers, labels=labels, zero_division=0)
    ours = [[getattr(line, name) for line in scores] for name in ("precision", "recall", "f1", "support")]
    assert np.allclose(ours, theirs)
    profiles = range(6)
    assert np.isclose(macro_f1(scores), f1_score(truth, answers, labels=profiles, average="macro", zero_division=0))
    assert np.isclose(
        weighted_f1(scores), f1_score(truth, answers, labels=profiles, average="weighted", zero_division=0)
    )
    assert np.array_equal(confusion_of(truth, answers).counts, confusion_matrix(truth, answers))


def test_faithful_knows_no_outliers():
    jobs = small_table()
    found = evaluate_classifier({"jobs": jobs}, ClassifierSettings(mode="faithful"))
    scores = found.splits["random"]
    assert scores.n_train + scores.n_test == (jobs["profile"] >= 0).sum()
    assert scores.abstained_share == 0
    assert found.shown == "random"
    assert any("As published" in note for note in found.notes)


def test_splits_that_cannot_be_made_are_named():
    jobs = small_table().drop(columns=["start_time_s", "group"])
    found = evaluate_classifier({"jobs": jobs}, ClassifierSettings())
    assert set(found.splits) == {"random", "by_job"}
    assert "needs the column group" in found.not_made["by_group"]
    assert "split by time" in found.not_made["by_time"]
    assert any(note.startswith("Not split by group: ") for note in found.notes)


def test_training_rows_are_clustered_alone():
    jobs = small_table(600)
    draw = np.random.default_rng(1)
    for name, shift in (("cpu_usage_percent", 3), ("mean_memory_bytes", 5)):
        jobs[name] = draw.normal(size=600) + shift * (1 + jobs["profile"])
    clustering = ProfileSettings(features=("cpu_usage_percent", "mean_memory_bytes"), scaler="standard")
    fit = fit_profiles({"jobs": jobs}, clustering)
    jobs["profile"] = fit.labels
    usual = evaluate_classifier({"jobs": jobs}, ClassifierSettings(clustering))
    found = evaluate_classifier({"jobs": jobs}, ClassifierSettings(clustering, cluster_on="train"))
    assert usual.beside == usual.label_agreement == {}
    assert set(found.beside) == set(found.splits) == set(found.label_agreement)
    for split, agreement in found.label_agreement.items():
        assert found.beside[split].confusion.counts.tolist() == usual.splits[split].confusion.counts.tolist()
        assert 0.8 < agreement < 1  # the same profiles, not the same rows
        assert found.splits[split].n_test == usual.splits[split].n_test
        assert abs(found.splits[split].profile_accuracy - usual.splits[split].profile_accuracy) < 0.1  # same numbers
    assert any("each fold's training runs" in note for note in found.notes)
    with pytest.raises(SettingsError, match="take no further runs"):
        evaluate_classifier({"jobs": jobs}, ClassifierSettings(ProfileSettings(algorithm="optics"), cluster_on="train"))


def test_rows_without_a_label_take_no_part():
    jobs = small_table()
    jobs["profile"] = jobs["profile"].astype(float).where(jobs.index % 4 > 0)
    assert evaluate_classifier({"jobs": jobs}, ClassifierSettings()).n_rows == 300


def test_it_is_kept_as_a_record(evaluated):
    again = unpack(ClassifierEvaluation, pack(evaluated))
    assert again.splits["by_job"].classes == evaluated.classes
    assert np.array_equal(again.splits["random"].confusion.counts, evaluated.splits["random"].confusion.counts)


def test_progress_only_rises():
    told = []
    evaluate_classifier(
        {"jobs": small_table(200)}, ClassifierSettings(), lambda share, words: told.append((share, words))
    )
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert {words for _, words in told} == {
        f"Testing on {words}" for words in ("rows at random", "other jobs", "other groups", "later jobs")
    }


def test_bad_tables_are_told():
    with pytest.raises(ColumnMissing, match="no column profile"):
        evaluate_classifier({"jobs": small_table().drop(columns="profile")}, ClassifierSettings())
    with pytest.raises(NotEnoughData, match="cannot be tested on this table"):
        evaluate_classifier({"jobs": small_table(12)}, ClassifierSettings())


@needs_shared_data
def test_the_development_sample():
    import pandas as pd

    from tests.forecasts.metadata import NAMES

    jobs = pd.read_csv(PAI_SAMPLE, na_values=["NULL"]).rename(columns=NAMES)
    jobs["duration_s"] = jobs["end_time"] - jobs["start_time_s"]
    cells = jobs.groupby(["workload", "task_name"])["job_name"].transform("size")
    label = jobs.groupby(["workload", "task_name"]).ngroup().where(cells >= 10, -1)
    found = evaluate_classifier({"jobs": jobs.assign(profile=label)}, ClassifierSettings())
    assert set(found.splits) >= {"random", "by_job", "by_group"}
    assert found.splits["by_group"].profile_accuracy > 0.9  # the label is a function of the metadata
