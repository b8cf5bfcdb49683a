"""`workprof memory`: the contract's keys on a small trace, defaults and modes, exports, input that cannot be used."""

import json

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow

MAPPING = {
    "task_name": {"from": "task"},
    "duration_s": {"from": "seconds", "unit": "s"},
    "peak_memory_bytes": {"from": "peak", "unit": "MB"},
    "requested_memory_bytes": {"from": "asked", "unit": "GB"},
    "submit_time_s": {"from": "at", "unit": "s"},
    "requested_cpu_percent": {"from": "cores", "unit": "cores"},
    "workload": {"from": "flow"},
    "input_bytes": {"from": "input", "unit": "MB"},
}


@pytest.fixture(scope="module")
def runs(run_workprof, home):
    """A generic trace of two tasks: what 'sort' needs grows with its input, what 'scan' needs does not."""
    draw = np.random.default_rng(0)
    n = 240
    task = np.where(np.arange(n) % 2 == 0, "flow:sort", "flow:scan")
    size = draw.choice([100.0, 1000.0, 8000.0], n)
    peak = np.where(task == "flow:sort", size * 1.5, 900.0) * draw.lognormal(0, 0.02, n)
    table = pd.DataFrame({"task": task, "seconds": draw.uniform(50, 500, n), "peak": peak, "asked": 20, "input": size})
    table["at"], table["cores"], table["flow"] = np.arange(n) * 60.0, 2, "nightly"
    table.to_csv(home / "runs.csv", index=False)
    (home / "map.json").write_text(json.dumps(MAPPING))
    made = run_workprof(
        "ingest", home / "runs.csv", "--format", "generic", "--map", home / "map.json", "--name", "runs", home=home
    )
    assert made.status == 0, made.err


def test_earlier_datasets_are_known_from_the_start(workprof, runs, home):
    older = pd.read_csv(home / "runs.csv").assign(peak=lambda table: table["peak"] * 1.1)
    older.head(100).to_csv(home / "older.csv", index=False)
    loaded = ("--format", "generic", "--map", home / "map.json", "--name", "older")
    assert workprof("ingest", home / "older.csv", *loaded).status == 0
    asked = ("memory", "replay", "runs", "--policies", "krr,workprof_task", "--prices", "0.05", "--json")
    fresh, told = workprof(*asked).json, workprof(*asked, "--train", "older").json
    assert (fresh["known"], fresh["n_history"], told["n_history"], told["n_cold"]) == ("finished", 0, 100, 0)
    assert set(fresh["policies"]["krr"]["n_sized_from"]) == {"request", "peers"}
    assert set(told["policies"]["krr"]["n_sized_from"]) == {"history", "peers"}
    assert told["policies"]["krr"]["wasted_gb_h"] < fresh["policies"]["krr"]["wasted_gb_h"]
    text = workprof(*asked[:-1], "--train", "older").err
    assert "100 runs of earlier datasets are known from the start" in text
    refused = workprof(*asked, "--train", "runs")
    assert refused.status == 2
    assert "give earlier ones" in refused.err


RISK = dict.fromkeys(("nextflow", "kubernetes", "slurm", "slurm-partitions"), "retry probability ") | {
    "csv": "retry_odds",
    "json": '"odds": ',
}
"""Kind of export -> how it names the probability of a retry: words for people, keys where a program reads."""


def test_by_default_the_rows_of_the_plan_are_exported(workprof, runs, tmp_path):
    path = tmp_path / "rows.json"
    plan = workprof("memory", "plan", "runs", "--acceptable-kills", "2%", "--json").json
    asked = ("memory", "export", "runs", "--acceptable-kills", "2%")
    workprof(*asked, "--to", "json", "-o", path)
    told = json.loads(path.read_text())
    assert plan["reason"] in told["about"]
    rows = [row for row in plan["rows"] if row["resource"] == "memory"]
    assert {row["action"] for row in rows} != {"keep"}
    for row, one in zip(told["rows"], rows, strict=True):
        assert (row["task_name"], row["action"], row["why"]) == (one["task_name"], one["action"], one["why"])
        assert row["size_bytes"] == round(one["size_gb"] * 1e9)
    printed = workprof(*asked, "--to", "csv", "-o", "-")
    assert printed.out.count("\n") == 1 + len(rows)
    assert "2%" in printed.out


@pytest.mark.some(3)
@pytest.mark.parametrize("kind", [one if one == "slurm" else pytest.param(one, marks=pytest.mark.slow) for one in RISK])
def test_any_policy_and_any_bins_are_exported(workprof, runs, tmp_path, kind):
    for words, told, rows in (
        (("--policy", "p95"), "policy p95", 2),
        (("--policy", "workprof", "--retry", "double"), "policy workprof", 2),
        (("--bins", "-k", 2, "--headroom", 5), "headroom 5", 2),
        (("--bins", "--task", "flow:sort", "--edges", "2GB,14GB", "--cap", "8GB"), "cap 8 GB", 1),
    ):
        path = tmp_path / "sizes"
        answer = workprof("memory", "export", "runs", "--to", kind, "-o", path, *words, "--json").json
        assert (answer["file"], answer["rows"]) == (str(path), rows)
        text = path.read_text()
        assert told in text
        assert RISK[kind] in text
        assert "flow:sort" in text


def test_sizes_of_the_release_before_are_the_plans_or_refused(workprof, runs):
    asked = ("memory", "export", "runs", "--to", "csv", "-o", "-")
    former = workprof(*asked, "--policy", "recommended")
    assert former.out == workprof(*asked).out
    assert "these are the rows of `memory plan`" in former.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("replay", "runs", "--policies", "magic"), "policies is 'magic'"),
        (("replay", "runs", "--seeds", "1,x"), "--seeds is '1,x'"),
        (("replay", "runs", "--input", "colour"), "colour"),
        (("rollup", "runs", "--cap", "9GB"), "memory plan --what-if-cap SIZE --node-size SIZE"),
        (("rollup", "runs", "--price", 1), "memory plan --price-gb-h P"),
        (("violations", "runs", "--rule", "percentile"), "lists who breaks"),
        (("export", "runs", "--to", "csv", "-o", "plan", "--policy", "magic"), "policies is 'magic'"),
        (("export", "runs", "--to", "csv", "-o", "plan", "--policy", "oracle_exact"), "does not look at the true use"),
        (("export", "runs", "--to", "csv", "-o", "plan", "--policy", "p95", "--bins"), "either --policy or --bins"),
        (("export", "runs", "--to", "csv", "-o", "plan", "--rule", "max_seen"), "--rule is no option any more"),
        (("export", "runs", "--to", "csv", "-o", "plan", "-k", 3), "-k changes nothing for the rows of the plan"),
        (
            ("export", "runs", "--to", "csv", "-o", "plan", "--cap", "9GB"),
            "--cap changes nothing for the rows of the plan",
        ),
        (("export", "runs", "--to", "csv", "-o", "-", "--json"), "leave out one"),
        (("export", "runs", "--to", "csv", "-o", "absent/plan"), "no folder absent"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(workprof, runs, arguments, words):
    ended = workprof("memory", *arguments)
    assert ended.status == 2, ended.err
    assert words in ended.err
    assert "Traceback" not in ended.err
