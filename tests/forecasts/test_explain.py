"""SHAP: the values of shap's own TreeExplainer, summed per field, adding up to the odds of the probability shown."""

import sys

import numpy as np
import pytest

from tests.forecasts.metadata import small_table
from workprof.core.errors import NoRows, SettingsError
from workprof.core.records import pack, unpack
from workprof.forecasts.boosting import from_json_bytes
from workprof.forecasts.classifier import ClassifierSettings, LoadedClassifier, fit_classifier
from workprof.forecasts.encoder import encode, sum_by_field, to_matrix
from workprof.forecasts.explain import (
    Contributions,
    GlobalExplanation,
    JobExplanation,
    contributions_of,
    explain_all,
    explain_job,
    of_odds,
    others_of,
)


@pytest.fixture(scope="module")
def loaded():
    return LoadedClassifier(fit_classifier({"jobs": small_table()}, ClassifierSettings()))


@pytest.mark.slow
def test_values_are_those_of_shap(loaded):
    import shap
    import xgboost

    encoder = loaded.model.encoder
    rows = encode(encoder, small_table(20, seed=5))
    ours = contributions_of(loaded.booster, encoder, rows)
    explainer = shap.TreeExplainer(from_json_bytes(loaded.model.booster))
    theirs = explainer.shap_values(xgboost.DMatrix(to_matrix(encoder, rows)))
    assert np.abs(np.moveaxis(ours.columns, 1, 2) - theirs).max() <= 1e-9
    assert np.abs(ours.base[0] - explainer.expected_value).max() <= 1e-9


def test_a_waterfall_adds_up_and_names_the_cause(loaded):
    jobs = small_table()
    job = jobs[jobs["task_name"] == "ps"].iloc[[0]]
    found = explain_job(loaded, job)
    assert found.profile == 1
    assert found.additive
    assert np.isclose(found.base + found.contributions.sum(), found.output, atol=1e-3)
    assert set(found.fields) == set(loaded.model.encoder.fields)
    assert (np.diff(np.abs(found.contributions)) <= 0).all()
    place = found.fields.index("requested_gpu_percent")
    assert (found.values[place], found.states[place]) == ("not given", "not given")
    assert any(s.startswith("task_name = ps raises the odds of P1 ") for s in found.sentences)


@pytest.mark.parametrize("profile", [-1, 0, 1])
def test_the_factors_make_the_probability_that_is_shown(loaded, profile):
    """The odds of the average job, times what each field makes of them, are those of the probability."""
    for user in ("u1", "new"):
        found = explain_job(loaded, small_table().iloc[[0]].assign(user=user), profile)
        odds = np.exp(found.base) * np.prod(np.exp(found.contributions))
        assert odds == pytest.approx(found.probability / (1 - found.probability), rel=1e-3)


def test_odds_are_against_all_other_classes_and_what_moves_all_scores_alike_counts_nothing():
    draw = np.random.default_rng(0)
    base, columns = draw.normal(0, 2, (3, 4)), draw.normal(0, 2, (3, 4, 5))
    columns[:, :, 0] = draw.normal(0, 5, (3, 1))
    warm = np.array([1.0, 0.5, 2.0])
    found = of_odds(Contributions(columns, base, base + columns.sum(axis=2)), warm)
    assert np.abs(found.columns[:, :, 0]).max() < 1e-9
    assert found.additivity_error.max() < 1e-9
    for row in range(3):  # the plain way: many short steps, each field's part of every one
        scores, steps, slow = base[row] / warm[row], 20_000, np.zeros((4, 5))
        for at in range(steps):
            here = np.exp(scores + (at + 0.5) / steps * columns[row].sum(axis=1) / warm[row])
            for one in range(4):
                others = np.where(np.arange(4) == one, 0.0, here)
                slow[one] += (columns[row, one] - others @ columns[row] / others.sum()) / warm[row] / steps
        assert found.columns[row] == pytest.approx(slow, abs=1e-6)
    two = of_odds(Contributions(columns[:, :2], base[:, :2], (base + columns.sum(axis=2))[:, :2]), 2.0)
    assert two.columns[:, 0] == pytest.approx((columns[:, 0] - columns[:, 1]) / 2)


def test_scores_that_lie_far_apart_still_add_up():
    far = Contributions(np.full((1, 3, 1), 60.0) * np.array([[[-1], [0], [1]]]), np.zeros((1, 3)), np.zeros((1, 3)))
    found = of_odds(Contributions(far.columns, far.base, far.columns[:, :, 0]), 0.75)
    assert found.additivity_error.max() < 1e-3
    assert np.isfinite(found.output).all()


def test_another_profile_can_be_asked_for(loaded):
    job = small_table().iloc[[0]].assign(user="new")
    for profile in (-1, 0, 1):
        found = explain_job(loaded, job, profile)
        assert found.profile == profile
        assert found.states[found.fields.index("user")] == "unseen"
        assert found.values[found.fields.index("user")] == "new"
    assert np.isclose(sum(explain_job(loaded, job, p).probability for p in (-1, 0, 1)), 1)


@pytest.mark.slow
def test_over_all_jobs(loaded):
    jobs = small_table(seed=5).assign(row_id=np.arange(400) + 7)
    found = explain_all(loaded, jobs, 100, seed=3)
    assert (found.n_sampled, found.n_rows) == (100, 400)
    assert found.additive
    assert found.fields[0] in {"task_name", "requested_gpu_percent"}
    assert found.by_field.shape == (len(found.fields), 3)
    assert len(found.values) == len(found.by_value) <= 20
    assert (np.diff(found.by_value.sum(axis=1)) <= 0).all()
    assert found.effects.shape == (100, len(found.fields), 3)
    assert found.shown.shape == found.positions.shape == found.numbers.shape == (100, len(found.fields))
    assert found.row_ids.min() >= 7
    row = int((found.row_ids - 7)[0])
    one = explain_job(loaded, jobs.iloc[[row]])
    assert one.profile == found.chosen[0]
    order = [found.fields.index(field) for field in one.fields]
    assert np.allclose(found.effects_on()[0][order], one.contributions, atol=1e-6)


def test_means_are_those_of_the_obvious_way(loaded):
    jobs = small_table(60, seed=6)
    encoder = loaded.model.encoder
    found = explain_all(loaded, jobs)
    rows = encode(encoder, jobs)
    columns = of_odds(
        contributions_of(loaded.booster, encoder, rows), loaded.model.tuning.of_rows(encoder, rows)
    ).columns
    by_field = np.abs(sum_by_field(encoder, columns)).mean(axis=0)
    order = [encoder.fields.index(field) for field in found.fields]
    assert np.allclose(found.by_field, by_field[:, order].T)
    place = [encoder.column_names.index(value) for value in found.values]
    assert np.allclose(found.by_value, np.abs(columns).mean(axis=0)[:, place].T)


def test_they_are_kept_as_records(loaded):
    jobs = small_table(30, seed=6)
    one, all_of_them = explain_job(loaded, jobs.iloc[[0]]), explain_all(loaded, jobs)
    assert unpack(JobExplanation, pack(one)).sentences == one.sentences
    assert unpack(GlobalExplanation, pack(all_of_them)).values == all_of_them.values


def test_bad_input_is_told(loaded):
    jobs = small_table()
    with pytest.raises(NoRows, match="no job to explain"):
        explain_job(loaded, jobs.iloc[:0])
    with pytest.raises(SettingsError, match="2 jobs were given"):
        explain_job(loaded, jobs.iloc[:2])
    with pytest.raises(SettingsError, match="profile 9 is unknown to this classifier; it knows -1, 0, 1"):
        explain_job(loaded, jobs.iloc[[0]], 9)
    with pytest.raises(SettingsError, match="n_sampled is 0"):
        explain_all(loaded, jobs, 0)
    with pytest.raises(NoRows, match="no jobs to explain"):
        explain_all(loaded, jobs.iloc[:0])


def test_shap_draws_an_explanation(loaded, monkeypatch):
    import shap

    monkeypatch.setenv("MPLBACKEND", "Agg")
    found = explain_job(loaded, small_table().iloc[[0]])
    theirs = found.to_shap()
    assert np.isclose(theirs.base_values + theirs.values.sum(), found.output, atol=1e-3)
    axes = shap.plots.waterfall(theirs, show=False)
    ticks = " ".join(label.get_text() for label in axes.get_yticklabels())
    assert f"{found.values[0]} = {found.fields[0]}" in ticks


PLOTS = ("beeswarm", "bar", "violin", "heatmap", "decision", "scatter", "waterfall", "force")


def drawn(shap, name, explanation):
    if name in ("waterfall", "force"):
        more = {"matplotlib": True} if name == "force" else {}
        return getattr(shap.plots, name)(explanation[0], show=False, **more)
    if name == "violin":  # it colours by numbers alone
        return shap.plots.violin(explanation.values, feature_names=explanation.feature_names, show=False)
    if name == "decision":
        data = explanation.display_data
        return shap.plots.decision(explanation.base_values[0], explanation.values, features=data, show=False)
    return getattr(shap.plots, name)(explanation[:, 0] if name == "scatter" else explanation, show=False)


@pytest.mark.slow
@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.filterwarnings("ignore")  # of the drawing library
def test_every_plot_of_shap_draws_a_sample(loaded, monkeypatch, name):
    import shap

    monkeypatch.setenv("MPLBACKEND", "Agg")
    found = explain_all(loaded, small_table(seed=5), 60)
    drawn(shap, name, found.to_shap(1, {"task_name": "the task"}))
    figures = sys.modules["matplotlib.pyplot"]
    assert figures.get_fignums()
    figures.close("all")


@pytest.mark.slow
def test_the_matrix_is_that_of_the_tree_explainer(loaded):
    import shap
    import xgboost

    encoder, jobs = loaded.model.encoder, small_table(40, seed=6)
    found = explain_all(loaded, jobs)
    explainer = shap.TreeExplainer(from_json_bytes(loaded.model.booster))
    matrix = xgboost.DMatrix(to_matrix(encoder, encode(encoder, jobs)))
    columns = np.moveaxis(explainer.shap_values(matrix).astype(np.float64), 1, 2)
    base = np.broadcast_to(explainer.expected_value, (40, 3))
    temperatures = loaded.model.tuning.of_rows(encoder, encode(encoder, jobs))
    theirs = of_odds(Contributions(columns, base, base + columns.sum(axis=2)), temperatures)
    by_field = np.moveaxis(sum_by_field(encoder, theirs.columns), 1, 2)
    order = [encoder.fields.index(field) for field in found.fields]
    assert np.abs(found.effects - by_field[:, order]).max() <= 1e-5  # scores are of single precision
    assert np.abs(found.base - theirs.base).max() <= 1e-9
    for place, profile in enumerate(found.classes):
        shown = found.to_shap(int(profile))
        assert np.abs(shown.values - found.effects[:, :, place]).max() == 0
        assert np.abs(shown.base_values - found.base[:, place]).max() == 0
    own = found.to_shap()
    rows, places = np.arange(40), np.searchsorted(found.classes, found.chosen)
    assert np.array_equal(own.values, found.effects[rows, :, places])
    assert own.feature_names == list(found.fields)


@pytest.mark.slow
def test_interactions_are_those_of_shap_and_add_up_to_its_values(loaded):
    import shap
    import xgboost

    encoder, jobs = loaded.model.encoder, small_table(8, seed=6)
    found = explain_all(loaded, jobs)
    assert found.n_interactions == 8
    explainer = shap.TreeExplainer(from_json_bytes(loaded.model.booster))
    matrix = xgboost.DMatrix(to_matrix(encoder, encode(encoder, jobs)))
    values = explainer.shap_interaction_values(matrix).astype(np.float64)  # (rows, columns, columns, classes)
    assert np.allclose(values.sum(axis=2), explainer.shap_values(matrix), atol=1e-4)
    edges = list(zip(encoder.starts[:-1], encoder.starts[1:], strict=True))
    rows = encode(encoder, jobs)
    scores, warm = contributions_of(loaded.booster, encoder, rows), loaded.model.tuning.of_rows(encoder, rows)[:, None]
    others = others_of(scores.base / warm, scores.output / warm)
    sums = [[values[:, a:b, c:d].sum(axis=(1, 2)) for c, d in edges] for a, b in edges]
    slow = [
        [np.abs((one - np.einsum("rkj,rj->rk", others, one)) / warm).mean(axis=0).sum() for one in row] for row in sums
    ]
    order = [encoder.fields.index(field) for field in found.fields]
    assert np.abs(found.interactions - np.array(slow)[np.ix_(order, order)]).max() <= 1e-9


def test_a_profile_that_there_is_not_is_told(loaded):
    found = explain_all(loaded, small_table(20, seed=6))
    with pytest.raises(SettingsError, match="profile 9 is unknown"):
        found.to_shap(9)
