"""What somebody comes to do with the library, each in the words in which they would ask for it.

Those of a shell and the service are in `tests/cli/test_tasks`; a typed script is in `test_typed`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import workprof as wp
from tests.library.test_calls import jobs

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "pai_sample.parquet"
NEW = ["job_name", "user", "task_name", "requested_memory_bytes"]


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    path = tmp_path_factory.mktemp("sample") / "pai.parquet"
    pd.read_parquet(SAMPLE).head(2_500).to_parquet(path)
    return path


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    path = tmp_path_factory.mktemp("trace") / "jobs.parquet"
    jobs(450).to_parquet(path)
    return path


FIT_ONCE = """
import sys, workprof as wp
wp.Forecaster(sys.argv[1]).save("model.workprof")
"""
PREDICT_MANY = """
import sys, workprof as wp
fitted = wp.Forecaster.load("model.workprof")
for path in sys.argv[1:]:
    print(fitted.predict(path).to_frame().to_json(orient="records"))
"""


def script(folder, text, *arguments):
    done = subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def model(trace):
    script(trace.parent, FIT_ONCE, trace)
    return trace.parent / "model.workprof"


def test_a_forecaster_is_fitted_once_and_predicts_many_days_in_another_process(model, tmp_path):
    days = [tmp_path / f"{day}.csv" for day in range(3)]
    for at, path in enumerate(days):
        jobs(500)[NEW].iloc[20 * at : 20 * at + 20].to_csv(path, index=False)
    said = [json.loads(line) for line in script(model.parent, PREDICT_MANY, *days)]
    assert [len(one) for one in said] == [20, 20, 20]
    here = wp.Forecaster.load(model).predict(jobs(500)[NEW].head(60)).to_frame()
    assert [row["duration_s"] for day in said for row in day] == pytest.approx(here["duration_s"].to_list())


@pytest.mark.soak
def test_a_forecast_of_a_frame_with_names_of_ones_own_is_equal(trace, model):
    told, new = pd.read_parquet(trace), jobs(500).tail(50)[NEW]
    names = {"user": "owner", "task_name": "step", "requested_memory_bytes": "asked_gb"}

    def renamed(table):
        return table.rename(columns=names).assign(asked_gb=table["requested_memory_bytes"] / 1e9)

    columns = {"user": "owner", "task_name": "step", "requested_memory_bytes": ("asked_gb", "GB")}
    theirs = wp.Forecaster(renamed(told), columns=columns)
    said, ours = theirs.predict(renamed(new)).to_frame(), wp.Forecaster.load(model).predict(new).to_frame()
    pd.testing.assert_frame_equal(said[ours.columns], ours)
    assert theirs.explain(renamed(new)).to_shap().feature_names[0] in {*names.values(), "job_name"}


@pytest.mark.some(2)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"metric": "manhattan", "scaler": "robust"},
        {"method": "leaf", "epsilon": 0.1},
        {"mode": "faithful"},
        {"sample_rows": 1_000},
        {"algorithm": "package"},
    ],
    ids=str,
)
def test_the_condensed_tree_of_any_fit_is_plotted_by_hdbscan(settings, sample, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    found = wp.profile(sample, settings=wp.ProfileSettings(**settings))
    theirs = found.to_hdbscan(sample)
    assert theirs.condensed_tree_.plot(select_clusters=True).get_ylabel() == r"$\lambda$ value"
    assert len(set(theirs.labels_.tolist()) - {-1}) == found.scores.n_clusters


@pytest.mark.filterwarnings("ignore")  # of the drawing library
def test_a_beeswarm_of_two_hundred_jobs(model, monkeypatch):
    import shap

    monkeypatch.setenv("MPLBACKEND", "Agg")
    explained = wp.Forecaster.load(model).explain(jobs(200)[NEW])
    matrix = explained.to_shap()
    axes = shap.plots.beeswarm(matrix, show=False, max_display=len(explained.fields))
    assert matrix.shape == (200, len(explained.fields))
    assert explained.figure().layout.yaxis.ticktext
    assert {label.get_text() for label in axes.get_yticklabels()} >= set(matrix.feature_names)
