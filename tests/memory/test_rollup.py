"""The roll-up of the judged runs, scenarios and the thesis' printed tables."""

import numpy as np
import pandas as pd
import pytest

from tests.memory.published_memory import (
    HEAVY_2_TOP_EDGE_GB,
    TABLE_12,
    TABLE_13_CORES,
    TABLE_13_MEMORY_GB,
    TABLE_13_SAVED,
    TABLES_6_TO_11,
    published_rollup_cores,
    published_rollup_gb,
    u_rate_of,
)
from tests.memory.test_verdict import jobs
from workprof.answers.rollup import rollup_answer
from workprof.core.answer import to_text
from workprof.core.errors import ColumnMissing, SettingsError
from workprof.core.records import pack, to_json, unpack
from workprof.memory.bin_models import estimated_improvement
from workprof.memory.rollup import RollupSettings, rollup_of
from workprof.memory.scenarios import Scenario, compare
from workprof.memory.verdict import VerdictSettings, verdict_of


def table(seed=3):
    """Return runs with a workflow, a run of it and a group, one of them without a name, and cores."""
    found = jobs(seed)
    rng = np.random.default_rng(seed)
    names = {name: rng.choice(list(values), len(found)) for name, values in COLUMNS.items()}
    group = pd.Series(rng.choice(["team", "other"], len(found))).mask(rng.random(len(found)) < 0.1)
    cores = {"requested_cpu_percent": 400.0, "cpu_usage_percent": rng.uniform(50, 90, len(found))}
    return found.assign(**names, **cores, group=group.to_numpy())


COLUMNS = {"workload": ("w1", "w2"), "run_name": ("r1", "r2", "r3")}


def test_table_13_memory_and_cores():
    memory, cores = published_rollup_gb(), published_rollup_cores()
    assert (memory.before, cores.before, cores.after) == (1520.0, 132.0, 43.0)
    assert memory.after == pytest.approx(325.35)
    assert round(memory.after) == TABLE_13_MEMORY_GB.after
    assert (cores.before, cores.after) == (TABLE_13_CORES.before, TABLE_13_CORES.after)
    saved = round(1 - memory.after / memory.before, 3), round(1 - cores.after / cores.before, 3)
    assert saved == TABLE_13_SAVED


def test_heavy_task_2_is_inconsistent_and_the_conclusion_survives():
    against_its_own_top = published_rollup_gb(HEAVY_2_TOP_EDGE_GB)
    assert against_its_own_top.after == pytest.approx(355.65)
    assert round(1 - against_its_own_top.after / 1520, 3) == 0.766


def test_light_and_moderate_counts_are_the_only_ones():
    heavy = published_rollup_gb().after - (17 * 5 + 8 * 20)
    fitting = [light for light in range(26) if round(5 * light + 20 * (25 - light) + heavy) == 325]
    assert fitting == [17]


@pytest.mark.parametrize("row", TABLES_6_TO_11, ids=lambda row: f"task {row.task} k={row.k}")
def test_table_11_and_the_identity_of_the_scores(row):
    """Table 11 = Table 6 by time x accuracy - u_rate; u_rate follows from accuracy and u-score, all six rows."""
    best = min((row.xgboost, row.svm), key=lambda scores: scores[1])
    if row.accuracy != best[0]:
        best = row.xgboost if row.xgboost[0] == row.accuracy else row.svm
    u_rate = u_rate_of(row.accuracy, best[1])
    assert u_rate == pytest.approx(row.u_rate, abs=6e-4)
    assert round(estimated_improvement(row.time_based_optimal, row.accuracy, row.u_rate), 3) == row.estimated


def test_table_12_follows_from_its_own_columns_where_they_are_printed():
    for row in TABLE_12[:3]:
        assert 1 - row.after / row.before == pytest.approx(row.saved, abs=2e-3)
    assert TABLE_12[3].saved == max(one.estimated for one in TABLES_6_TO_11 if one.task == 1)
    assert TABLE_12[4].saved == max(one.estimated for one in TABLES_6_TO_11 if one.task == 2)


@pytest.mark.parametrize("applied", ["table", "submission"])
@pytest.mark.parametrize("by", ["task", "workflow", "run", "namespace"])
def test_rows_add_up_to_the_judged_runs_of_the_verdict(by, applied):
    asked = VerdictSettings(applied=applied)
    found = rollup_of({"jobs": table()}, RollupSettings(by, asked))
    verdict = verdict_of({"jobs": table()}, asked)
    judged = verdict.memory.judged
    assert found.total.n_runs == sum(row.n_runs for row in found.rows) == judged.n_runs
    assert found.total.n_failures == judged.kills
    assert found.total.memory_gb_h.before == pytest.approx(verdict.memory.today.booked)
    assert found.total.memory_gb_h.after == pytest.approx(judged.charged)
    cpu = next(one for one in verdict.resources if one.resource == "cpu")
    share = found.total.cores.after / found.total.cores.before
    assert share == pytest.approx(1 - cpu.judged.saved_share)
    for side in ("before", "after"):
        for name in ("memory_gb", "cores", "memory_gb_h"):
            rows = sum(getattr(getattr(row, name), side) for row in found.rows)
            assert getattr(getattr(found.total, name), side) == pytest.approx(rows)
    if by == "namespace":
        assert {row.name for row in found.rows} == {"team", "other", "(no name)"}
    assert unpack(type(found), pack(found)) == found


def test_a_row_is_what_its_runs_hold_on_average_by_hand():
    """Short traces keep their requests: 20 judged runs of half an hour in 19.5 h, each of 8 GB."""
    runs = pd.DataFrame(
        {
            "task_name": ["a", "b"] * 20,
            "peak_memory_bytes": 1e9,
            "requested_memory_bytes": 8e9,
            "start_time_s": np.arange(40) * 3600.0,
            "duration_s": 1800.0,
            "finished": True,
        }
    )
    found = rollup_of({"jobs": runs}, RollupSettings())
    assert [row.name for row in found.rows] == ["a", "b"]
    assert found.rows[0].memory_gb.before == pytest.approx(8 * 10 * 0.5 / 19.5)
    assert found.total.memory_gb.before == found.total.memory_gb.after == pytest.approx(8 * 20 * 0.5 / 19.5)
    assert np.isnan(found.total.cores.before) and np.isnan(found.rows[0].cores.after)  # not that none are held
    assert "Cores" not in to_text(rollup_answer(found))
    timeless = rollup_of({"jobs": runs.drop(columns="start_time_s")}, RollupSettings()).total
    assert timeless.memory_gb.before == pytest.approx(8)


def test_runs_without_a_time_are_in_no_average_and_cores_are_of_all_runs():
    whole = table()
    found = rollup_of({"jobs": whole}, RollupSettings())
    late = whole.index >= 450
    times = ["submit_time_s", "start_time_s", "end_time_s"]
    lost = rollup_of({"jobs": whole.mask(late[:, None] & whole.columns.isin(times))}, RollupSettings())
    assert lost.n_untimed == late.sum() and not found.n_untimed
    assert lost.total.memory_gb_h.before == pytest.approx(found.total.memory_gb_h.before)
    seconds = whole[300:450]["end_time_s"].max() - whole[300:450]["start_time_s"].min()
    held = whole["duration_s"] * whole["requested_memory_bytes"] / 1e9
    assert lost.total.memory_gb.before == pytest.approx(held[300:450].sum() / seconds)
    bare = whole.assign(requested_memory_bytes=whole["requested_memory_bytes"].mask(whole["task_name"] == "t0"))
    of_cores = rollup_of({"jobs": bare}, RollupSettings())
    assert of_cores.total.cores.before == pytest.approx(found.total.cores.before)
    assert of_cores.total.cores.after == pytest.approx(found.total.cores.after)


def test_the_future_changes_no_earlier_size():
    """Nothing after the judged runs of a task is looked at: its last run, grown, changes its own charge alone."""
    runs = table()
    later = runs.sort_values("submit_time_s").index[-1]
    grown = runs.copy()
    grown.loc[later, "peak_memory_bytes"] = 0.9 * grown.loc[later, "requested_memory_bytes"]
    before, after = (rollup_of({"jobs": one}, RollupSettings()) for one in (runs, grown))
    task = runs.loc[later, "task_name"]
    charged = {row.name: row.memory_gb_h.after for row in before.rows}
    assert all(row.memory_gb_h.after == charged[row.name] for row in after.rows if row.name != task)


def test_rows_that_no_column_makes_are_refused():
    bare = table().drop(columns="run_name")
    with pytest.raises(ColumnMissing, match="run_name"):
        rollup_of({"jobs": bare}, RollupSettings("run"))
    (row,) = rollup_of({"jobs": bare.drop(columns="task_name")}, RollupSettings()).rows
    assert row.name == "all runs"
    with pytest.raises(SettingsError):
        RollupSettings(by="node")


def scenario(**changes):
    given = {
        "name": "bins",
        "dataset": "eager",
        "dataset_hash": "h",
        "task": "",
        "policy": "thesis_bins",
        "settings": {"k": 3, "headroom": 0.05},
        "saved_share": 0.5,
        "optimal_share": 0.6,
        "estimated_share": float("nan"),
        "charged_gb_h": 10.0,
        "wasted_gb_h": 4.0,
        "n_runs": 100,
        "n_failures": 3,
        "money_saved": 1.5,
        "currency": "USD",
    }
    return Scenario(**(given | changes))


def test_scenarios_are_compared_kept_and_refused():
    two = scenario(name="other", settings={"k": 4, "headroom": 0.05}, saved_share=0.55, n_failures=5, dataset_hash="x")
    found = compare((scenario(), two))
    (difference,) = found.differences
    assert to_json(difference) == {"setting": "k", "values": [3, 4]}
    assert (found.best_saving, found.fewest_failures) == (1, 0)
    assert "different datasets" in found.warnings[0]
    kept = unpack(Scenario, pack(two))
    assert (kept.settings, kept.name) == (two.settings, "other")
    assert to_json(two)["estimated_share"] is None
    without = compare((scenario(), scenario(name="capped", saved_share=0.9, n_failures=0, n_never=5)))
    assert (without.best_saving, without.fewest_failures) == (0, 0)  # five runs were left out, which is no saving
    empty = compare((scenario(saved_share=float("nan"), n_failures=-1),))
    assert (empty.best_saving, empty.fewest_failures) == (-1, -1)
    with pytest.raises(SettingsError, match="1 to 4"):
        compare((scenario(),) * 5)
    with pytest.raises(SettingsError, match="no more than all"):
        scenario(saved_share=1.2)
    with pytest.raises(SettingsError, match="give a name"):
        scenario(name=" ")
