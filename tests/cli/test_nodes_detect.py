"""`workprof nodes detect`: the contract's keys on simulated runs, and refusals."""

import json

import pytest

from workprof.synthetic.benchmarks import BenchmarkTraceSettings, write_benchmark_trace


@pytest.fixture(scope="module")
def loaded(run_workprof, home, tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "runs.jsonl"
    write_benchmark_trace(path, BenchmarkTraceSettings(nodes=2, repeat=16, seed=11))
    ran = run_workprof("ingest", path, "--format", "benchmarks", "--name", "bench", "--json", home=home)
    assert ran.status == 0, ran.err
    return path


@pytest.mark.slow
def test_the_contract(workprof, loaded):
    ran = workprof("nodes", "detect", "bench", "--epochs", 3, "--json")
    assert ran.status == 0, ran.err
    found = ran.json
    assert {"mse", "type_accuracy"} <= set(found["model"])
    assert {"perona", "robust-z", "ewma", "mahalanobis", "isolation-forest", "logistic"} <= set(found["detectors"])
    for one in found["detectors"].values():
        assert {"f1_normal", "f1_anomalous", "weighted_accuracy", "pr_auc", "brier"} <= set(one)
    assert {"node", "benchmark", "started", "p_anomalous", "flag", "drivers"} <= set(found["runs"][0])
    n_lines = len(loaded.read_text().splitlines())
    assert len(found["runs"]) + found["not_scored"] + found["parts"]["n_train"] == n_lines
    text = workprof("nodes", "detect", "bench", "--epochs", 3)
    assert text.status == 0
    assert f"{found['detector']} (used)" in text.out
    json.dumps(found, allow_nan=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--mode", "odd"), "mode is 'odd'"),
        (("--train", "absent"), "absent"),
    ],
)
def test_refusals_are_the_callers(workprof, loaded, options, said):
    ran = workprof("nodes", "detect", "bench", *options)
    assert ran.status == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
