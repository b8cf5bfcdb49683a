"""Computed results as MLflow runs: read back by the layout that it documents, and by a real MLflow."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from tests.charts import records_for_memory as given
from tests.command_line import run_here
from workprof.core.errors import SettingsError
from workprof.core.runs import StoredRun
from workprof.core.settings import Settings
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.report.mlflow import export_mlflow
from workprof.workbench import Workbench

pytestmark = pytest.mark.slow

BINS = BinSettings(task=given.HEAVY, k=2)
SVM = PredictorSettings(bins=BINS, models=("svm",), sampling=("none",), trials=0)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A home with bins, and with models that were trained."""
    folder = tmp_path_factory.mktemp("mlflow")
    given.jobs().to_parquet(folder / "jobs.parquet")
    with Workbench(Settings(folder / "home", data=folder)) as bench:
        dataset = bench.ingest([folder / "jobs.parquet"]).hash
        bench.bins(dataset, BINS)
        bench.bin_models(dataset, SVM)
    return folder / "home"


def read(folder):
    """Name of an experiment -> its runs by name, as files say: meta, parameters, metrics and tags."""
    found = {}
    for experiment in folder.iterdir():
        about = yaml.safe_load((experiment / "meta.yaml").read_text())
        assert about["experiment_id"] == experiment.name
        runs = found[about["name"]] = {}
        for run in (one for one in experiment.iterdir() if one.is_dir()):
            meta = yaml.safe_load((run / "meta.yaml").read_text())
            assert (meta["run_id"], meta["experiment_id"], meta["tags"]) == (run.name, experiment.name, [])
            texts = {
                kind: {one.name: one.read_text() for one in (run / kind).iterdir()}
                for kind in ("params", "metrics", "tags", "artifacts")
            }
            runs[meta["run_name"]] = meta | texts
    return found


def test_every_result_is_a_run_and_every_model_a_run_within_it(home, tmp_path):
    folder = tmp_path / "mlruns"
    done = run_here("runs", "export", "--mlflow", folder, "--json", home=home).json
    assert done == {"folder": str(folder), "written": 2, "models": 4, "already_there": 0, "without_numbers": 0}
    found = read(folder)
    trained = found["workprof memory.train"]
    with Workbench(Settings(home, data=home)) as bench:
        stored = next(one for one in bench.stored_runs() if one.step == "memory.train")
        result = bench.stored_result(stored.run)
    whole = trained["models that predict bins of jobs"]
    assert set(trained) - {whole["run_name"]} == {
        one.name for one in (*result.models, *result.cheapest, result.constant, result.cheapest_constant)
    }
    ended, value, step = trained["svm, none"]["metrics"]["u_score"].split()
    assert (float(value), step) == (result.models[0].u_score, "0")
    assert int(ended) == whole["end_time"]
    assert trained["svm, none"]["tags"]["mlflow.parentRunId"] == whole["run_id"]
    assert "mlflow.parentRunId" not in whole["tags"]
    assert whole["end_time"] - whole["start_time"] == round(stored.seconds * 1000)
    assert whole["params"]["bins.k"] == "2"
    assert json.loads(whole["artifacts"]["answer.json"])["task"] == given.HEAVY
    assert whole["artifacts"]["again.sh"].startswith("workprof memory train")
    (bins,) = found["workprof memory.bins"].values()
    assert 0 < float(bins["metrics"]["optimal_improvement"].split()[1]) < 1


def test_what_is_there_stays_as_it_is(home, tmp_path):
    with Workbench(Settings(home, data=home)) as bench:
        (bins,) = (one.run for one in bench.stored_runs() if one.step == "memory.bins")
        assert export_mlflow(bench, tmp_path, (bins, bins[:8])).written == 1
        (tag,) = tmp_path.glob("*/*/tags/workprof.run")
        tag.with_name("mine").write_text("kept")
        again = export_mlflow(bench, tmp_path)
    assert (again.written, again.already_there) == (1, 1)
    assert tag.with_name("mine").read_text() == "kept"
    assert not list(tmp_path.rglob(".part-*"))


def test_a_place_that_mlflow_cannot_read_is_refused(home, tmp_path):
    (tmp_path / "file").write_text("")
    with Workbench(Settings(home, data=home)) as bench:
        with pytest.raises(SettingsError, match="cannot be written"):
            export_mlflow(bench, tmp_path / "file")
        with pytest.raises(SettingsError, match="below a folder named artifacts"):
            export_mlflow(bench, tmp_path / "artifacts" / "mine")
        with pytest.raises(SettingsError, match="no such saved result"):
            export_mlflow(bench, tmp_path, ("0123456789ab",))


def test_no_name_leaves_its_folder_and_an_older_result_has_no_numbers(tmp_path):
    settings = {"../../up": 1, "a/b%": "ü" * 9000, ".": 2, "x" * 999: None}
    made, more = "2026-01-01T00:00:00+00:00", (settings, {}, None, {}, False, 1.0)
    stored = StoredRun("ab", "key", "odd.step", "odd", "", "../name", "h", *more, made, False, 1)
    again = SimpleNamespace(python="", shell="")
    bench = SimpleNamespace(stored_runs=lambda: [stored], stored_result=lambda _: None, run_again=lambda _: again)
    assert export_mlflow(bench, tmp_path / "in").without_numbers == 1
    run = read(tmp_path / "in")["workprof odd.step"]["odd of ../name"]
    assert run["params"]["a_b_"] == "ü" * 6000
    assert set(run["params"]) == {"dataset", "__.._up", "a_b_", "_", "x" * 250}
    assert [one.name for one in tmp_path.iterdir()] == ["in"]


READ = """
import sys
from mlflow import MlflowClient
client = MlflowClient(sys.argv[1])
for experiment in client.search_experiments():
    for run in client.search_runs([experiment.experiment_id]):
        files = [one.path for one in client.list_artifacts(run.info.run_id)]
        print(experiment.name, run.info.run_name, run.info.status, len(run.data.metrics), files, sep="|")
"""


@pytest.mark.soak
def test_a_real_mlflow_reads_it(home, tmp_path):
    """MLflow stands in an environment that `WORKPROF_TEST_MLFLOW` names, or in a new one; with its database tools."""
    place = Path(os.environ.get("WORKPROF_TEST_MLFLOW") or tmp_path / "mlflow")
    if not (place / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        wanted = ("mlflow-skinny", "sqlalchemy", "alembic", "pandas")
        subprocess.run([place / "bin" / "pip", "install", "--quiet", *wanted], check=True)
    with Workbench(Settings(home, data=home)) as bench:
        export_mlflow(bench, tmp_path / "runs")
    own = {"MLFLOW_ALLOW_FILE_STORE": "true", "PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    database = f"sqlite:///{tmp_path}/mlflow.db"
    move = ["-m", "mlflow", "migrate-filestore", "--source", tmp_path / "runs", "--target", database]
    lines = []
    for words in (["-c", READ, f"file:{tmp_path}/runs"], move, ["-c", READ, database]):
        done = subprocess.run([place / "bin" / "python", *words], env=own, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        lines.append(sorted(one for one in done.stdout.splitlines() if one.startswith("workprof ")))
    assert len(lines[0]) == 6
    assert lines[0] == lines[2]
    assert all("|FINISHED|" in one for one in lines[0])
    assert any("answer.json" in one for one in lines[0])
