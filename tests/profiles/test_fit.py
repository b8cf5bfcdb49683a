from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import silhouette_samples, silhouette_score

from tests.profiles.planted import job_table
from workprof.answers.profiles import summary_table
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.profiles.fit import ProfileFit, fit_profiles, result_notes
from workprof.profiles.settings import SENSORS10, ProfileSettings, preset
from workprof.profiles.summary import project

JOBS = job_table()
TRACE_COLUMNS = (
    "cpu_usage",
    "gpu_wrk_util",
    "avg_mem",
    "max_mem",
    "avg_gpu_wrk_mem",
    "max_gpu_wrk_mem",
    "read",
    "write",
    "read_count",
    "write_count",
)
"""The ten sensors under the trace's own names. Memory is in GiB there."""


def fit(jobs=JOBS, **settings):
    return fit_profiles({"jobs": jobs}, ProfileSettings(**settings))


@pytest.fixture(scope="module")
def plain():
    return fit()


def test_finds_the_planted_kinds(plain):
    assert plain.scores.n_clusters == 3
    assert plain.scores.truth_adjusted_rand > 0.95
    assert plain.scores.n_outliers == (plain.labels == -1).sum() < 300
    assert [card.profile for card in plain.cards] == [-1, 0, 1, 2]
    assert sum(card.size for card in plain.cards) == len(JOBS)


def test_every_part_has_the_clustered_rows(plain):
    n = len(JOBS)
    assert plain.row_ids.tolist() == JOBS["row_id"].tolist()
    for part in (plain.labels, plain.probabilities, plain.silhouettes, plain.silhouettes_clustered):
        assert part.shape == (n,)
    assert plain.map_xy.shape == (n, 2)
    assert plain.settings.min_cluster_size == plain.settings.min_samples == 20
    assert plain.seconds >= sum(plain.step_seconds.values()) > 0
    assert {heatmap.field for heatmap in plain.heatmaps} == {"workload", "task_name", "user", "group", "job_name"}


def test_survives_being_kept(plain):
    again = unpack(ProfileFit, pack(plain))
    assert np.array_equal(again.labels, plain.labels)
    assert again.cards[1].takeaway == plain.cards[1].takeaway
    assert again.transform.features == plain.transform.features
    assert again.scores == plain.scores


def test_the_same_settings_give_the_same_result(plain):
    again = fit()
    assert np.array_equal(again.labels, plain.labels)
    assert again.scores == plain.scores
    assert [card.takeaway for card in again.cards] == [card.takeaway for card in plain.cards]


def test_permuting_jobs_changes_only_the_order(plain):
    order = np.random.default_rng(5).permutation(len(JOBS))
    mixed = fit(JOBS.iloc[order])
    assert np.array_equal(mixed.labels, plain.labels[order])
    assert mixed.row_ids.tolist() == plain.row_ids[order].tolist()
    assert mixed.scores.avg_silhouette == pytest.approx(plain.scores.avg_silhouette, abs=1e-6)


def test_the_truth_is_never_used(plain):
    blind = fit(JOBS.drop(columns="truth_profile"))
    assert np.array_equal(blind.labels, plain.labels)
    assert np.isnan(blind.scores.truth_adjusted_rand)


@pytest.mark.parametrize("mode", ["corrected", "faithful"])
def test_both_silhouettes(mode):
    found = fit(mode=mode, features=("sensors10",))
    inside = found.labels >= 0
    from workprof.profiles.features import apply_transform, read_features

    points = apply_transform(found.transform, read_features(JOBS, found.features, mode).numbers)
    proper = silhouette_score(points[inside], found.labels[inside])
    assert found.scores.silhouette_clustered == pytest.approx(proper, abs=1e-4)
    assert found.scores.avg_silhouette == pytest.approx(np.nanmean(found.silhouettes[inside]))
    with_outliers = silhouette_samples(points, found.labels)  # -1 is one of the clusters
    assert found.scores.avg_silhouette == pytest.approx(with_outliers[inside].mean(), abs=1e-4)
    assert found.scores.avg_silhouette <= found.scores.silhouette_clustered + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("scaler", ["none", "standard", "minmax", "robust", "power"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_every_scaler_and_metric_runs(scaler, metric):
    found = fit(scaler=scaler, metric=metric, method="leaf", epsilon=0.01)
    assert found.scores.n_rows == len(JOBS)
    assert found.scores.silhouette_method == "exact"


@pytest.mark.slow
def test_optics():
    found = fit(algorithm="optics", sample_rows=400)
    assert found.tree is None
    assert np.isnan(found.scores.relative_validity)
    assert len(found.labels) == 400
    assert any(note.startswith("Sample: 400 of 900 rows") for note in found.notes)
    assert set(found.row_ids) <= set(JOBS["row_id"])


def test_a_profile_of_runs_that_lack_a_feature_is_told():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(300, 2)) + np.repeat([0, 12], [200, 100])[:, None]
    jobs = pd.DataFrame(points, columns=["a", "b"]).assign(c=rng.normal(size=300) * 0.1)
    jobs.loc[200:, "c"] = np.nan
    found = fit(jobs, features=("a", "b", "c"), min_cluster_size=30)
    assert any(note.startswith("P1: nearly all runs lack c. ") for note in found.notes)
    jobs.loc[100:, "c"] = np.nan  # half of the other profile, too
    assert not any("nearly all runs lack" in note for note in fit(jobs, features=("a", "b", "c")).notes)


def test_the_separation_shown_is_that_of_the_mode(plain):
    def shown(found):
        return {one.name for one in summary_table(found, {}).columns if not one.aside and "silhouette" in one.name}

    assert shown(plain) == {"silhouette_clustered"}
    assert shown(replace(plain, settings=replace(plain.settings, mode="faithful"))) == {"silhouette"}


def test_purity_is_told_as_it_is_counted(plain):
    (purity,) = (one for one in summary_table(plain, {}).columns if one.name == "purity")
    assert purity.help == "Share of the runs with its most frequent workload and task."


def test_a_separation_without_structure_is_told(plain):
    rng = np.random.default_rng(2)
    jobs = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    found = fit(jobs, features=("a", "b"), method="leaf", min_cluster_size=15, min_samples=2, scaler="none")
    assert found.scores.n_clusters > 1
    scores = replace(found.scores, silhouette_clustered=0.2)
    assert any("no substantial structure" in note for note in result_notes(scores, found.labels))
    assert not any("no substantial structure" in note for note in plain.notes)


def test_missing_values_are_counted_and_told():
    jobs = JOBS.copy()
    jobs.loc[:200, "gpu_usage_percent"] = np.nan
    jobs.loc[3, "read_bytes"] = np.inf
    found = fit(jobs)
    assert found.imputed == {"gpu_usage_percent": 201, "read_bytes": 1}
    assert found.transform.indicators == ("gpu_usage_percent",)
    assert found.spread.features == found.features
    assert any("201 missing values stand as the median, and a further column" in note for note in found.notes)


def test_all_outliers():
    rng = np.random.default_rng(0)
    jobs = pd.DataFrame(rng.uniform(size=(60, 2)), columns=["a", "b"])
    found = fit(jobs, features=("a", "b"), min_cluster_size=29)
    assert found.scores.n_clusters == 0
    assert np.isnan(found.scores.mean_cluster_size)
    assert np.isnan(found.scores.acquires)
    assert any("No profile was found" in note for note in found.notes)
    assert [card.profile for card in found.cards] == [-1]


def test_nearly_all_equal_rows():
    jobs = pd.DataFrame({"a": np.r_[np.zeros(150), np.ones(150)], "b": np.r_[np.zeros(299), 1.0]})
    found = fit(jobs, features=("a", "b"), min_cluster_size=10)
    assert found.scores.n_clusters == 2
    assert np.isfinite(found.silhouettes).all()


@pytest.mark.parametrize("rows", [0, 1, 2, 40])
def test_too_few_rows(rows):
    with pytest.raises(NotEnoughData, match="rows cannot hold two profiles"):
        fit(JOBS.iloc[:rows])


def test_progress_rises_to_the_end():
    told = []
    fit_profiles({"jobs": JOBS}, ProfileSettings(), lambda share, message: told.append((share, message)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= shares[-1] <= 1
    assert [message for _, message in told][-1] == "Describing the profiles"


def test_the_map_has_fixed_signs():
    points = np.random.default_rng(0).normal(size=(300, 4)) * [5, 2, 1, 1]
    flat = project(points)
    assert flat.xy == pytest.approx(project(points[::-1]).xy[::-1])
    assert np.all(flat.loadings[np.arange(2), np.abs(flat.loadings).argmax(axis=1)] > 0)
    assert flat.explained[0] > flat.explained[1] > 0
    assert flat.explained.sum() < 1


@pytest.mark.soak
def test_the_paper_preset_on_the_synthetic_sample(tmp_path):
    """The full-size bar."""
    import pyarrow.parquet as pq

    from workprof.synthetic.pai import write_pai_sample

    write_pai_sample(tmp_path / "sample.parquet", 100_001, seed=0)
    names = dict(zip(TRACE_COLUMNS, SENSORS10, strict=True))
    table = pq.read_table(tmp_path / "sample.parquet", columns=[*names, "truth_profile"])
    jobs = table.to_pandas().rename(columns=names)
    found = fit(jobs, **preset("paper", len(jobs)))
    assert found.scores.truth_adjusted_rand >= 0.99
    assert found.scores.n_outliers <= 0.35 * len(jobs)  # 24.6 % are planted; rims and two small behaviours join them
    assert found.settings.min_cluster_size == found.settings.min_samples == 300


@pytest.mark.slow
def test_the_librarys_object_draws_and_predicts(plain, monkeypatch):
    from hdbscan import approximate_predict

    monkeypatch.setenv("MPLBACKEND", "Agg")
    theirs = plain.to_hdbscan(JOBS)
    inside = plain.labels >= 0
    assert np.array_equal(theirs.labels_ >= 0, inside)
    pairs = set(zip(plain.labels[inside].tolist(), theirs.labels_[inside].tolist(), strict=True))
    assert len(pairs) == plain.scores.n_clusters
    assert np.allclose(theirs.probabilities_, plain.probabilities)
    assert theirs.condensed_tree_.plot().get_ylabel() == r"$\lambda$ value"
    assert len(theirs.single_linkage_tree_.to_numpy()) == len(JOBS) - 1
    labels, _ = approximate_predict(theirs, theirs._raw_data)
    assert (labels[inside] == theirs.labels_[inside]).mean() > 0.95


@pytest.mark.slow
def test_the_librarys_object_is_refused_for_optics_and_other_rows(plain):
    with pytest.raises(SettingsError, match="has no HDBSCAN tree"):
        fit(algorithm="optics", min_samples=20).to_hdbscan(JOBS)
    with pytest.raises(SettingsError, match="give the table that was clustered"):
        plain.to_hdbscan(JOBS.iloc[1:])
    for other in (
        JOBS.iloc[::-1].reset_index(drop=True),
        JOBS.assign(**{plain.features[0]: 1.5 * JOBS[plain.features[0]]}),
    ):
        with pytest.raises(SettingsError, match="other numbers"):
            plain.to_hdbscan(other.assign(row_id=plain.row_ids))
    with pytest.raises(SettingsError, match="this fit is of"):
        plain.to_hdbscan(JOBS.assign(**{plain.features[0]: 1.0, "row_id": plain.row_ids}))
