"""A forecaster is fitted once: what it says, saved or not, is what the workbench says; names may be the trace's own."""

import dataclasses
import json
import zipfile

import numpy as np
import pytest

import workprof as wp
from tests.command_line import run_here
from tests.library.test_calls import FIT, jobs

pytestmark = pytest.mark.slow

NEW = ["job_name", "user", "task_name", "requested_memory_bytes"]
SETTINGS = dataclasses.replace(
    wp.ForecasterSettings(split="random"),
    classifier=dataclasses.replace(wp.ForecasterSettings().classifier, profiles=FIT),
)


@pytest.fixture(scope="module")
def many():
    return jobs(500)


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def fitted(many, told):
    return wp.Forecaster(many.head(450), settings=SETTINGS, progress=lambda share, words: told.append((share, words)))


@pytest.fixture(scope="module")
def said(fitted, many):
    return fitted.predict(many.tail(50)[NEW])


def same(one, other):
    assert np.array_equal(one.forecasts.profiles.probabilities, other.forecasts.profiles.probabilities)
    assert one.forecasts.estimates.keys() == other.forecasts.estimates.keys()
    for target, own in one.forecasts.estimates.items():
        assert np.array_equal(own.quantiles, other.forecasts.estimates[target].quantiles)


@pytest.mark.soak
def test_it_is_told_how_far_the_training_is(fitted, told):
    shares = [share for share, _ in told if share is not None]
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.3 < shares[-1] <= 1


def test_one_call_says_the_same(said, many):
    same(said, wp.forecast(many.head(450), many.tail(50)[NEW], settings=SETTINGS))


def test_a_second_table_takes_no_training(fitted, many, monkeypatch):
    import xgboost

    monkeypatch.setattr(xgboost, "train", None)
    assert len(fitted.predict(many.head(3)[NEW]).to_frame()) == 3


def test_what_a_job_took_stands_beside_what_was_predicted(fitted, said, many):
    table = fitted.predict(many.tail(50)).to_frame()
    assert table.columns.is_unique
    assert table["given_duration_s"].tolist() == many.tail(50)["duration_s"].tolist()
    assert table["duration_s"].tolist() == said.to_frame()["duration_s"].tolist()


def test_saved_and_loaded_it_says_the_same(fitted, said, many, tmp_path):
    path = fitted.save(tmp_path / "model.workprof")
    again = wp.Forecaster.load(path)
    same(said, again.predict(many.tail(50)[NEW]))
    assert repr(again) == repr(fitted)
    assert again.settings == fitted.settings
    assert again.notes == fitted.notes
    with zipfile.ZipFile(path) as archive:
        assert sorted(archive.namelist()) == ["arrays.npz", "forecaster.json"]
        json.loads(archive.read("forecaster.json"))


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x05\x06" + bytes(18)])
def test_a_file_of_something_else_is_refused(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(wp.TraceError, match="x is no saved forecaster"):
        wp.Forecaster.load(tmp_path / "x")


def test_pickles_are_not_read(fitted, tmp_path):
    path = fitted.save(tmp_path / "model.workprof")
    with zipfile.ZipFile(path) as archive:
        document = archive.read("forecaster.json")
    with zipfile.ZipFile(path, "w") as archive, archive.open("arrays.npz", "w") as target:
        np.savez(target, evil=np.array([{}], dtype=object))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("forecaster.json", document)
    with pytest.raises(wp.TraceError, match="no saved forecaster"):
        wp.Forecaster.load(path)


def test_columns_that_are_not_used_are_told(fitted, many):
    told = fitted.predict(many.tail(3)[NEW].assign(colour="red"))
    assert any(note.startswith("New jobs: Not used, as they are no field: colour") for note in told.notes)


def test_it_explains_new_jobs_with_one_matrix_for_shap(fitted, said, many):
    found = fitted.explain(many.tail(50)[NEW])
    assert found.n_sampled == 50
    assert np.array_equal(np.sort(found.row_ids), np.arange(50))
    profiles = said.forecasts.profiles
    assert np.array_equal(found.chosen[np.argsort(found.row_ids)], profiles.best)
    shown = found.to_shap()
    assert shown.values.shape == (50, len(found.fields))
    assert found.additive
    assert len(found.figure().data) == len(found.fields)


def test_what_new_jobs_lack_or_cannot_be_is_told(fitted, many):
    new = many.tail(5)[["user", "task_name", "requested_memory_bytes"]]
    assert not any("lack" in note for note in fitted.predict(new).notes)
    lacking = fitted.predict(new.drop(columns="task_name").assign(requested_memory_bytes=-5.0))
    assert (
        "New jobs lack task_name, requested_memory_bytes, which every run learned had: their profiles are means"
        in (lacking.notes[-1])
    )
    assert any("missing: requested_memory_bytes (5)" in note for note in lacking.notes)
    same(lacking, fitted.predict(new[["user"]]))


def test_a_trace_without_names_of_jobs_is_estimated_by_run(many, tmp_path):
    nameless = many.drop(columns="job_name")
    fitted = wp.Forecaster(nameless.head(450), settings=dataclasses.replace(SETTINGS, split="by_job"))
    by_run = wp.Forecaster(nameless.head(450), settings=SETTINGS)
    new = many.tail(20)[["user", "task_name", "requested_memory_bytes"]]
    assert fitted.predict(new).forecasts.estimates.keys() >= {"duration_s", "peak_memory_bytes"}
    same(fitted.predict(new), by_run.predict(new))
    assert any("No run names its job" in note for note in fitted.notes)
    assert not any("No run names its job" in note for note in by_run.notes)
    home = tmp_path / "home"
    nameless.to_csv(tmp_path / "runs.csv", index=False)
    assert run_here("ingest", tmp_path / "runs.csv", "--name", "runs", home=home).status == 0
    told = run_here("classify", "predict", "runs", "--set", "user=a", "--json", home=home)
    assert "duration_s" in told.json[0]["estimates"]
    assert "note: No run names its job" in told.err
    by_group = run_here("classify", "predict", "runs", "--set", "user=a", "--split", "by_group", home=home)
    assert "note: duration is not predicted: a split by_group needs the column group" in by_group.err
