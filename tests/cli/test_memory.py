"""`workprof memory`: the contract's keys on a small trace, defaults and modes, exports, input that cannot be used."""

import json

import numpy as np
import pandas as pd
import pytest

pytestmark = pytest.mark.slow

TASK_KEYS = {"task", "n", "requested_gb", "peak_gb", "utilisation", "utilisation_by_time", "wasted_gb_h", "class"}
MODEL_KEYS = {
    "model", "sampling", "accuracy", "u_score", "u_rate", "confusion", "estimated_improvement", "replayed_improvement",
    "n_test", "u_rate_interval",
}  # fmt: skip
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


def test_assess(workprof, runs):
    found = workprof("memory", "assess", "runs", "--json").json
    assert {"tasks", "features"} <= set(found)
    assert all(set(task) >= TASK_KEYS and set(task["peak_gb"]) == {"p50", "p95", "max"} for task in found["tasks"])
    assert {task["task"]: task["class"] for task in found["tasks"]} == {"flow:sort": "moderate", "flow:scan": "light"}
    strongest = next(fact for fact in found["features"] if fact["task"] == "flow:sort")
    assert strongest["column"] == "input_bytes"


def test_bins_have_the_defaults_of_each_mode(workprof, runs):
    found = workprof("memory", "bins", "runs", "--task", "sort", "-k", 3, "--json").json
    assert set(found) >= {"edges_gb", "optimal_improvement", "time_based_optimal_improvement", "search", "seconds"}
    assert found["search"] == "exact"
    assert found["edges_gb"][-1] < 20
    given = workprof("memory", "bins", "runs", "--task", "sort", "--edges", "0.5,2GiB,20", "--json").json
    assert given["edges_gb"] == [0.5, pytest.approx(2.147483648), 20.0]
    published = workprof("memory", "bins", "runs", "--task", "sort", "--mode", "faithful", "--json").json
    assert (published["search"], published["edges_gb"][-1]) == ("stride", 20.0)
    stepped = workprof("memory", "bins", "runs", "--task", "sort", "--step", "500MB", "--json").json
    assert all(abs(edge * 2 - round(edge * 2)) < 1e-9 for edge in stepped["edges_gb"])


def test_models_tell_the_bin_from_the_input(workprof, runs):
    found = workprof("memory", "train", "runs", "--task", "sort", "-k", 3, "--trials", 2, "--json").json
    assert all(set(model) >= MODEL_KEYS for model in found["models"])
    assert {(model["model"], model["sampling"]) for model in found["models"]} == {
        (model, sampling) for model in ("xgboost", "svm") for sampling in ("none", "random", "smote", "weighted")
    }
    assert max(model["accuracy"] for model in found["models"]) > 0.95
    low, high = found["models"][0]["u_rate_interval"]
    assert low <= found["models"][0]["u_rate"] <= high


def test_the_tables_of_the_thesis_for_any_task(workprof, runs):
    asked = ("memory", "train", "runs", "--task", "sort", "--trials", 0, "--sampling", "none,random", "--tables")
    found = workprof(*asked, "--json").json
    assert [row["k"] for row in found["table_11"]] == [2, 3, 4]
    assert len(found["tables_7_8"]) == 3 * 2
    assert len(found["tables_9_10"]) == 3 * 2 * 2
    for row in found["table_11"]:
        estimated = row["optimal_improvement"] * row["accuracy"] - row["u_rate"]
        assert row["estimated_improvement"] == pytest.approx(estimated)
    assert "Table 11" in workprof(*asked).out


def test_replay(workprof, runs):
    found = workprof("memory", "replay", "runs", "--policies", "all", "--json").json
    assert {"protocol", "seed", "n_tasks", "n_test", "policies", "tasks", "frontier"} <= set(found)
    names = {"preset", "p95", "krr", "vpa", "tovar", "linear_offset", "thesis_bins", "min_waste", "local_min_waste"}
    assert names | {"workprof", "workprof_cautious"} <= set(found["policies"])
    assert all(
        set(policy) >= {"wasted_gb_h", "charged_gb_h", "failures", "seconds"} for policy in found["policies"].values()
    )
    assert found["policies"]["preset"]["failures"] == 0
    assert found["policies"]["workprof"]["wasted_gb_h"] < found["policies"]["preset"]["wasted_gb_h"]
    assert found["protocol"] == "submit-time"
    informed = workprof("memory", "replay", "runs", "--input", "input_bytes", "--policies", "workprof", "--json").json
    assert informed["policies"]["workprof"]["wasted_gb_h"] < found["policies"]["workprof"]["wasted_gb_h"]


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


def test_lifting_time_to_failure_and_cap_change_the_charges(workprof, runs):
    asked = ("memory", "replay", "runs", "--policies", "p95", "--json")
    late, early, capped = (
        workprof(*asked, *more).json["policies"]["p95"]
        for more in ((), ("--time-to-failure", 0.1), ("--retry", "max_seen", "--cap", "1GB"))
    )
    assert early["failures"] == late["failures"] > 0
    assert early["charged_gb_h"] < late["charged_gb_h"]
    assert capped["n_never_fit"] > 0


def test_rollup_adds_up_the_judged_runs_of_the_plan(workprof, runs):
    asked = workprof("memory", "rollup", "runs", "--by", "workflow", "--json")
    found, plan = asked.json, workprof("memory", "plan", "runs", "--json").json
    assert "`memory plan`" in asked.err
    assert [row["name"] for row in found["rows"]] == ["nightly"]
    assert set(found["rows"][0]["memory_gb"]) == set(found["rows"][0]["cores"]) == {"before", "after"}
    assert found["total"]["n_runs"] == plan["recommended"]["n_runs"]
    assert found["total"]["n_failures"] == plan["recommended"]["failures"]
    held = found["total"]["memory_gb_h"]
    assert held["before"] == pytest.approx(plan["today"]["booked_gb_h"])
    assert 1 - held["after"] / held["before"] == pytest.approx(plan["recommended"]["saved_share"])
    assert "nightly" in workprof("memory", "rollup", "runs", "--by", "workflow").out


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
        (("assess", "nothing"), "nothing"),
        (("assess", "runs", "--target", "vmem"), "target is 'vmem'"),
        (("bins", "runs", "--task", "mow"), "there is no task 'mow'"),
        (("bins", "runs", "--task", "sort", "-k", 9), "k is 9"),
        (("bins", "runs", "--task", "sort", "--edges", "2,huge"), "huge"),
        (("bins", "runs", "--task", "sort", "-k", 2, "--edges", "3"), "either -k or --edges"),
        (("bins", "runs", "--task", "sort", "--mode", "fair"), "mode is 'fair'"),
        (("train", "runs", "--task", "sort", "--models", "oracle"), "models is 'oracle'"),
        (("replay", "runs", "--policies", "magic"), "policies is 'magic'"),
        (("replay", "runs", "--protocol", "weekly"), "protocol is 'weekly'"),
        (("replay", "runs", "--retry", "pray"), "rule is 'pray'"),
        (("replay", "runs", "--time-to-failure", 2), "time_to_failure is 2"),
        (("replay", "runs", "--cap", "huge"), "huge"),
        (("replay", "runs", "--seeds", "1,x"), "--seeds is '1,x'"),
        (("replay", "runs", "--input", "colour"), "colour"),
        (("rollup", "runs", "--by", "colour"), "by is 'colour'"),
        (("rollup", "runs", "--cap", "9GB"), "memory plan --what-if-cap SIZE --node-size SIZE"),
        (("rollup", "runs", "--price", 1), "memory plan --price-gb-h P"),
        (("violations", "runs", "--rule", "percentile"), "lists who breaks"),
        (("export", "runs", "--to", "xml", "-o", "plan"), "--to is 'xml'"),
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


def test_text_for_people(workprof, runs):
    assert "Wasted (GB·h)" in workprof("memory", "assess", "runs").out
    told = workprof("memory", "bins", "runs", "--task", "sort", "--json").json
    printed = workprof("memory", "bins", "runs", "--task", "sort")
    assert printed.out.startswith(told["sentence"])
    limits = [line.split()[0] for line in printed.out.partition("Limit (GB)")[2].splitlines()[1:]]
    assert limits == [f"{edge:,.6g}" for edge in told["edges_gb"]]
    assert all(note in printed.err for note in told["notes"])
    assert "workprof_cautious" in workprof("memory", "replay", "runs").out
