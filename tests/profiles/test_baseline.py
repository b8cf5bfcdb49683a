import numpy as np
import pytest
from sklearn.metrics import silhouette_samples, silhouette_score

from tests.profiles.planted import job_table
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.records import canonical_json, pack, to_json, unpack
from workprof.profiles.baseline import (
    BASELINE_METRICS,
    PUBLISHED_SILHOUETTES,
    TABLE_II,
    Baseline,
    BaselineSettings,
    label_baseline,
)
from workprof.profiles.features import prepare

JOBS = job_table()
POINTS = prepare(JOBS, BaselineSettings().preparation()).points


def measure(jobs=JOBS, **settings):
    return label_baseline({"jobs": jobs}, BaselineSettings(**settings))


def by_name(found):
    return {each.by: each for each in found.labels}


def with_profiles():
    jobs = JOBS.copy()
    jobs["profile"] = jobs["truth_profile"]
    return jobs


@pytest.mark.slow
def test_equal_to_scikit_learn():
    found = by_name(measure())
    assert list(found) == ["workload", "task_name", "workload,task_name"]
    truth = {
        "workload": JOBS["workload"],
        "task_name": JOBS["task_name"],
        "workload,task_name": JOBS["workload"] + "/" + JOBS["task_name"],
    }
    for name, labels in truth.items():
        for metric in BASELINE_METRICS:
            expected = silhouette_score(POINTS, labels, metric=metric)
            assert getattr(found[name], metric) == pytest.approx(expected, abs=1e-4)
        assert found[name].method == "exact"
        assert set(found[name].standard_errors.values()) == {0.0}
        assert found[name].n_computed == found[name].n_rows == len(JOBS)


def test_rows_without_a_label_are_left_out_and_counted():
    jobs = JOBS.copy()
    jobs.loc[:99, "workload"] = None
    jobs.loc[50:149, "task_name"] = None
    found = by_name(measure(jobs))
    assert [each.n_missing for each in found.values()] == [100, 100, 150]
    kept = np.arange(len(jobs)) >= 100
    expected = silhouette_score(POINTS[kept], JOBS["workload"][kept])
    assert found["workload"].euclidean == pytest.approx(expected, abs=1e-4)
    assert found["workload"].n_values == 3
    assert any("workload: 100 rows without a value are left out" in note for note in measure(jobs).notes)


def test_the_profiles_beside_the_labels():
    found = measure(with_profiles())
    truth = JOBS["truth_profile"].to_numpy()
    inside = truth >= 0
    for metric in BASELINE_METRICS:
        proper = silhouette_score(POINTS[inside], truth[inside], metric=metric)
        published = silhouette_samples(POINTS, truth, metric=metric)[inside].mean()
        assert getattr(found.profiles, metric) == pytest.approx(proper, abs=1e-4)
        assert getattr(found.profiles_published, metric) == pytest.approx(published, abs=1e-4)
    assert found.profiles.n_outliers == (~inside).sum()
    assert found.profiles.euclidean > max(each.euclidean for each in found.labels)
    assert any("outliers, the labels keep them" in note for note in found.notes)
    assert measure().profiles is None


def test_labels_on_the_clustered_rows_only():
    jobs = with_profiles()
    jobs.loc[:9, "profile"] = np.nan
    found = measure(jobs, rows="clustered")
    kept = (jobs["profile"] >= 0).to_numpy()
    expected = silhouette_score(POINTS[kept], JOBS["workload"][kept])
    first = found.labels[0]
    assert first.euclidean == pytest.approx(expected, abs=1e-4)
    assert (first.n_rows, first.n_missing) == (kept.sum(), 0)
    assert found.profiles.n_missing == 10


def test_labels_that_say_nothing():
    jobs = with_profiles()
    jobs["one"], jobs["none"] = "x", None
    found = by_name(measure(jobs, by=(("one",), ("none",), ("job_name",))))
    assert all(
        np.isnan(each.euclidean) and np.isnan(each.cosine) and np.isnan(each.manhattan) for each in found.values()
    )
    assert "one value only" in found["one"].reason
    assert "no row has a value" in found["none"].reason
    assert found["none"].n_missing == len(JOBS)
    assert "value of its own" in found["job_name"].reason
    assert to_json(found["one"])["euclidean"] is None


def test_one_profile_and_outliers():
    jobs = JOBS.copy()
    jobs["profile"] = np.where(JOBS["truth_profile"] == 0, 0, -1)
    found = measure(jobs)
    assert np.isnan(found.profiles.euclidean)
    assert "one value only" in found.profiles.reason
    assert np.isfinite(found.profiles_published.euclidean)
    jobs["profile"] = -1
    assert "no row has a value" in measure(jobs).profiles.reason


def test_a_table_without_metadata():
    found = measure(JOBS.drop(columns=["workload", "user"]))
    assert [each.reason for each in found.labels] == [
        "the table has no column workload",
        "",
        "the table has no column workload",
    ]
    with pytest.raises(ColumnMissing, match=r"no column nothing.*workload"):
        measure(by=(("workload", "nothing"),))
    with pytest.raises(ColumnMissing, match="profile"):
        measure(rows="clustered")


def test_a_sample_has_its_error():
    jobs = job_table(6000)
    exact, part = measure(jobs, by=(("workload",),)), measure(jobs, by=(("workload",),), silhouette="sampled", seed=1)
    (whole,), (estimate,) = exact.labels, part.labels
    assert estimate.method == "sampled"
    assert estimate.n_computed < 5010
    for metric in BASELINE_METRICS:
        error = estimate.standard_errors[metric]
        assert 0 < error < 0.01
        assert abs(getattr(estimate, metric) - getattr(whole, metric)) < 4 * error
    assert any("standard error at most" in note for note in part.notes)
    assert part.labels == measure(jobs, by=(("workload",),), silhouette="sampled", seed=1).labels


@pytest.mark.slow
def test_many_rows_are_sampled_unless_published():
    jobs = job_table(20_500)
    assert measure(jobs, by=(("workload",),)).labels[0].method == "sampled"
    faithful = measure(jobs, by=(("workload",),), mode="faithful", features=("sensors10",))
    assert faithful.labels[0].method == "exact"


def test_the_published_values_stand_beside():
    found = measure()
    assert {",".join(by) for by in TABLE_II} == set(PUBLISHED_SILHOUETTES)
    assert found.labels[0].published == {"euclidean": 0.17, "cosine": 0.03, "manhattan": 0.21}
    assert measure(by=(("user",),)).labels[0].published == {}
    assert any("not verified" in note for note in found.notes)


def test_permuting_jobs_changes_nothing():
    order = np.random.default_rng(5).permutation(len(JOBS))
    for one, other in zip(measure().labels, measure(JOBS.iloc[order]).labels, strict=True):
        assert one.manhattan == pytest.approx(other.manhattan, abs=1e-6)
        assert one.cosine == pytest.approx(other.cosine, abs=1e-6)


def test_the_contract_and_the_stored_form():
    found = measure(with_profiles())
    assert {"by", "euclidean", "cosine", "manhattan"} <= set(to_json(found)["labels"][0])
    assert unpack(Baseline, pack(found)) == found
    assert unpack(Baseline, pack(measure())).profiles is None
    settings = BaselineSettings(by=(("user",), ("workload", "group")))
    assert unpack(BaselineSettings, pack(settings)) == settings
    assert canonical_json(settings)


def test_missing_features_and_samples_are_told():
    jobs = JOBS.copy()
    jobs.loc[:3, "read_bytes"] = np.nan
    found = measure(jobs, sample_rows=500)
    assert found.n_rows == 500
    assert any(note.startswith("Sample: 500 of 900 rows") for note in found.notes)


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_too_few_rows(rows):
    with pytest.raises(NotEnoughData, match="too few for a baseline"):
        measure(JOBS.iloc[:rows])


def test_refusals():
    jobs = JOBS.assign(cpu_usage_percent=1.0, gpu_usage_percent=1.0)
    with pytest.raises(NotEnoughData, match="usable feature"):
        measure(jobs, features=("cpu_usage_percent", "gpu_usage_percent"))
    with pytest.raises(SettingsError, match="label without a column"):
        BaselineSettings(by=((),))


def test_progress_rises_to_the_end():
    told = []
    label_baseline({"jobs": with_profiles()}, BaselineSettings(), lambda share, message: told.append(share))
    assert told == sorted(told)
    assert 0.5 < told[-1] <= 1
