"""`classify` and `estimate`: the contract's keys, one job, a file of jobs, and input that cannot be used."""

import shutil

import pandas as pd
import pytest

from tests.made_once import made_once
from tests.service.conftest import fill
from workprof.cli.forecasts import _limit
from workprof.core.errors import SettingsError

ROWS = 1500


@pytest.fixture(scope="module")
def sample(home, tmp_path_factory):
    """A synthetic trace that is small enough to be learned from in every command, loaded as 'small'; its forecaster."""
    folder, _ = made_once(tmp_path_factory, "service", fill)
    shutil.copytree(folder / "home", home, dirs_exist_ok=True)


@pytest.fixture(scope="module")
def job():
    """Metadata of one job as options; the values need not be known."""
    return ["--set", "user=u1", "--set", "task_name=worker", "--set", "workload=ctr", "--set", "plan_mem=2"]


@pytest.mark.slow
def test_one_job(workprof, sample, job):
    (found,) = workprof("classify", "predict", "small", *job, "--json").json
    assert set(found) >= {"profile", "probability", "top", "abstained", "reason", "estimates", "shap"}
    for needed in ("duration_s", "peak_memory_gb"):
        assert (
            found["estimates"][needed]["p10"] <= found["estimates"][needed]["p50"] <= found["estimates"][needed]["p90"]
        )
    assert 0.1 < found["estimates"]["peak_memory_gb"]["p50"] < 100  # 1e9 bytes, not bytes
    shap = found["shap"]
    assert shap["base"] + sum(shap["fields"].values()) == pytest.approx(shap["output"], abs=1e-3)
    assert found["abstained"]  # nobody knows user u1
    assert "user" in found["reason"]
    text = workprof("classify", "predict", "small", *job).out
    assert f"none: {found['reason']}; most likely " in text
    assert f"P{found['most_likely']['profile']}) ({found['most_likely']['probability']:.0%}".replace("%", " %)") in text


@pytest.mark.slow
def test_a_file_of_jobs_gets_an_answer_per_row(workprof, sample, tmp_path):
    path = tmp_path / "jobs.csv"
    jobs = pd.DataFrame({"user": ["a", "", "b"], "task_name": "ps", "workload": "ctr", "inst_num": [1, 2, 400]})
    jobs.assign(colour="red").to_csv(path, index=False)
    found = workprof("classify", "predict", "small", "--jobs", path, "--json")
    assert len(found.json) == 3
    assert "colour" in found.err
    lines = "user,task_name,duration_s\na,ps,10\n,ps,20\n"
    (tmp_path / "few.csv").write_text(lines, encoding="utf-8")
    assert workprof("ingest", tmp_path / "few.csv", "--name", "few").status == 0
    of_file = workprof("classify", "predict", "small", "--jobs", tmp_path / "few.csv", "--json").json
    assert workprof("classify", "predict", "small", "--jobs", "few", "--json").json == of_file


@pytest.mark.slow
def test_another_dataset_is_tested(workprof, sample, tmp_path):
    assert workprof("synth", "pai", "--rows", 600, "-o", tmp_path / "other.parquet", "--seed", 6).status == 0
    assert workprof("ingest", tmp_path / "other.parquet", "--name", "other").status == 0
    found = workprof("estimate", "evaluate", "--train", "small", "--test", "other", "--json").json
    assert (found["n_train"], found["n_test"]) == (ROWS - found["n_left_out"], 600)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "empty"), (b"user,task_name\n", "no rows"), (b"\x00\x01\xff\xfe" * 50, "CSV"), (b"colour\nred\n", "colour")],
)
def test_bad_files_of_jobs(workprof, sample, tmp_path, content, words):
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    ended = workprof("classify", "predict", "small", "--jobs", path)
    assert ended.status == 2, ended.err
    assert words in ended.err


@pytest.mark.parametrize(
    ("text", "unit", "limit"),
    [("3600", "s", 3600), ("1h", "s", 3600), (" 1.5 min", "s", 90), ("4GB", "B", 4e9), ("1e3", "percent", 1000)],
)
def test_a_limit_is_in_the_unit_of_its_target_or_its_own(text, unit, limit):
    assert _limit(text, unit) == pytest.approx(limit)


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e999", "1 GB", "h", "1h 5min", "٣"])
def test_another_limit_is_refused(text):
    with pytest.raises(SettingsError, match=r"--slo is .*; give a number above 0 in the target's unit, or with ms"):
        _limit(text, "s")
