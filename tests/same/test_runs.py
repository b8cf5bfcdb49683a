"""Runs: the list, one run and two side by side hold what the command lists and what the results themselves say."""

import json

import pytest

from tests.charts import records_for_memory as given
from workprof.answers.saved_runs import number_changes_table, run_label, setting_changes_table, when
from workprof.core.table import csv_bytes
from workprof.memory.bin_search import BinSettings
from workprof.memory.rollup import RollupSettings

pytestmark = pytest.mark.slow

NUMBERS = {
    "effect.time_based_saved_share": "time_based_saved_share",
    "effect.saved_gb_h": "saved_gb_h",
    "time_based_optimal_improvement": "time_based_optimal_improvement",
}
"""Number of a kept result -> the command's key of the same."""


@pytest.fixture(scope="module")
def runs(tasks):
    """Two kept runs of one step, and one of another."""
    for k in (2, 3):
        tasks.library(lambda bench, k=k: bench.bins("tasks", BinSettings(task=given.HEAVY, k=k)))
    tasks.library(lambda bench: bench.rollup("tasks", RollupSettings(by="workflow")))
    tasks.library(lambda bench: bench.ledger("tasks"))  # Home would add it up on the way
    kept = tasks.library(lambda bench: bench.stored_runs())
    return sorted((one for one in kept if one.step == "memory.bins"), key=lambda one: one.settings["k"])


def test_the_list_is_the_commands(tasks, runs):
    told = tasks.command("runs")
    page = tasks.page("runs", "tasks")
    shown = page.csv("runs.csv", dtype={"run": str, "hash": str})  # 925e0873 is a number, too
    assert len(shown) == len(told) >= 3
    for name, key in {"run": "run", "dataset": "dataset", "step": "step", "pinned": "pinned"}.items():
        assert shown[name].tolist() == [one[key] for one in told]
    assert shown["hash"].tolist() == [one["dataset_hash"][:8] for one in told]
    assert shown["created (UTC)"].tolist() == [one["created"][:16].replace("T", " ") for one in told]
    assert shown["seconds"].tolist() == [one["seconds"] for one in told]
    assert shown["MB"].tolist() == [one["size_bytes"] / 1e6 for one in told]
    assert shown["seed"].dropna().tolist() == [one["seed"] for one in told if one["seed"] is not None]
    table = next(table for table in page.tables if "created (UTC)" in table.columns)
    assert csv_bytes(table) == page.files["runs.csv"]


def test_one_run_has_its_settings_and_the_ways_to_have_it_again(tasks, runs):
    told = tasks.command("runs", "show", runs[0].run)
    page = tasks.page("runs", "tasks", runs_run=run_label(runs[0]), runs_settings="true")
    shown = page.csv(f"run-{runs[0].run}.csv", dtype=str).fillna("").set_index("setting")["value"]
    flat = {name: value for name, value in told["settings"].items() if not isinstance(value, dict)}
    assert flat["k"] == 2
    for name, value in flat.items():
        assert shown[name] == (value if isinstance(value, str) else json.dumps(value))
    assert {told["python"], told["shell"]} <= set(page.code)


def test_two_runs_differ_by_what_the_commands_tell(tasks, runs):
    before, after = (
        tasks.command("memory", "bins", "tasks", "--task", given.HEAVY, "-k", one.settings["k"]) for one in runs
    )
    address = {"runs_run": run_label(runs[0]), "runs_other": run_label(runs[1])}
    page = tasks.page("runs", "tasks", **address)
    names = [f"{one.run}, {when(one)}" for one in runs]
    found = tasks.library(lambda bench: bench.compare_runs(runs[0].run, runs[1].run))
    stem = f"runs-{runs[0].run}-{runs[1].run}"
    assert page.files[f"{stem}-settings.csv"] == csv_bytes(setting_changes_table(found.settings, names))
    assert page.files[f"{stem}-numbers.csv"] == csv_bytes(number_changes_table(found.numbers, names))
    settings = page.csv(f"{stem}-settings.csv").set_index("setting")
    assert settings.loc["k"].tolist() == [2, 3]
    assert len(settings) == 1
    numbers = page.csv(f"{stem}-numbers.csv").set_index("number")
    for path, key in NUMBERS.items():
        assert numbers.loc[path, names].tolist() == [before[key], after[key]]
        assert numbers.loc[path, "difference"] == pytest.approx(after[key] - before[key], abs=1e-12)
    shown = next(table for table in page.tables if "number" in table.columns)
    assert shown.set_index("number")["difference"].tolist() == numbers["difference"].tolist()
    assert f"{len(numbers)} of {len(numbers) + found.n_equal} numbers" in page.words
