"""Roll-up, money, plans, scenarios and the thesis' printed tables."""

import itertools

import numpy as np
import pandas as pd
import pytest

from tests.memory.traces import trace
from tests.shared_data import needs_shared_data
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.records import canonical_json, pack, to_json, unpack
from workprof.memory.bin_models import estimated_improvement, u_rate_of
from workprof.memory.plan import PlanSettings, least_waste, plan_of
from workprof.memory.published_memory import (
    HEAVY_2_TOP_EDGE_GB,
    TABLE_12,
    TABLE_13_CORES,
    TABLE_13_MEMORY_GB,
    TABLE_13_SAVED,
    TABLES_6_TO_11,
    published_rollup_cores,
    published_rollup_gb,
)
from workprof.memory.rollup import MONTH_HOURS, Price, RollupSettings, money_of, rollup_of
from workprof.memory.scenarios import Scenario, compare

GB = 1e9


def jobs_of(n=200, seed=0):
    rng = np.random.default_rng(seed)
    task = rng.choice(["a", "b", "c"], n)
    asked = pd.Series(task).map({"a": 8.0, "b": 16.0, "c": 4.0}).to_numpy()
    return pd.DataFrame(
        {
            "task_name": task,
            "workload": rng.choice(["w1", "w2"], n),
            "run_name": rng.choice(["r1", "r2", "r3"], n),
            "group": rng.choice(["team", None], n),
            "peak_memory_bytes": rng.uniform(0.05, 1.0, n) * asked * GB,
            "requested_memory_bytes": asked * GB,
            "requested_cpu_percent": 400.0,
            "cpu_usage_percent": np.where(task == "a", 90.0, 300.0),
            "start_time_s": rng.uniform(0, 36_000, n),
            "duration_s": rng.exponential(1800, n),
        }
    )


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


@pytest.mark.parametrize("by", ["task", "workflow", "run", "namespace"])
def test_rows_add_up_to_the_total(by):
    found = rollup_of({"jobs": jobs_of()}, RollupSettings(by=by))
    for side in ("before", "after"):
        for name in ("memory_gb", "cores", "memory_gb_h"):
            rows = sum(getattr(getattr(row, name), side) for row in found.rows)
            assert getattr(getattr(found.total, name), side) == pytest.approx(rows)
    assert sum(row.n_runs for row in found.rows) == found.total.n_runs == 200
    assert found.total.money.saved == pytest.approx(sum(row.money.saved for row in found.rows))


def test_mean_is_what_is_held_over_the_span_by_hand():
    jobs = pd.DataFrame(
        {
            "peak_memory_bytes": [1 * GB] * 12,
            "requested_memory_bytes": [8 * GB] * 12,
            "start_time_s": np.arange(12) * 3600.0,
            "duration_s": 1800.0,
        }
    )
    plan = PlanSettings(headroom=0.0, step_bytes=0.0, floor_bytes=1.0)
    found = rollup_of({"jobs": jobs}, RollupSettings(plan=plan, price=Price(2.0, "EUR"))).total
    assert found.memory_gb.before == pytest.approx(8 * 6 / 11.5)
    assert found.memory_gb.after == pytest.approx(1 * 6 / 11.5)
    assert (found.money.before, found.money.after, found.money.saved) == pytest.approx((96.0, 12.0, 84.0))
    assert found.money.monthly_saved == pytest.approx(84 * MONTH_HOURS / 11.5)


def test_failed_attempts_are_paid():
    jobs = pd.DataFrame(
        {
            "task_name": "t",
            "peak_memory_bytes": [1.0 * GB] * 9 + [3.0 * GB],
            "requested_memory_bytes": 4 * GB,
            "duration_s": 3600.0,
        }
    )
    found = rollup_of({"jobs": jobs}, RollupSettings(plan=PlanSettings(sizes_bytes={"t": 1 * GB}))).total
    assert found.n_failures == 2  # 1 GB, 2 GB, then 3 GB fits: size x attempt, as the export for Nextflow says
    assert found.memory_gb_h.after == pytest.approx(9 * 1 + 1 + 2 + 3)


def test_one_of_each_is_the_thesis_way():
    found = rollup_of({"jobs": jobs_of()}, RollupSettings(measure="one_each"))
    assert found.total.memory_gb.before == pytest.approx(8 + 16 + 4)
    assert found.total.cores.before == pytest.approx(12)
    assert found.one_core_tasks == ("a",)
    assert found.total.cores.after == pytest.approx(1 + 4 + 4)


@pytest.mark.parametrize(("by", "measure"), list(itertools.product(["task", "run"], ["mean", "peak", "one_each"])))
def test_savings_never_exceed_the_spend(by, measure):
    for seed, rule in enumerate(("max_seen", "percentile", "least_waste", "class_sizes")):
        found = rollup_of({"jobs": jobs_of(60, seed)}, RollupSettings(by=by, measure=measure, plan=PlanSettings(rule)))
        for row in (*found.rows, found.total):
            assert row.money.saved <= row.money.before
            assert row.memory_gb.after >= 0
            assert row.cores.after <= row.cores.before * (1 + row.n_failures)


def test_money_by_random_amounts():
    rng = np.random.default_rng(0)
    for before, after, span, price in rng.exponential(100, (500, 4)):
        money = money_of(before, after, span, Price(price))
        assert money.saved <= money.before
        assert money.monthly_saved <= money.monthly_before
    unknown = money_of(1.0, 0.5, float("nan"), Price())
    assert np.isnan(unknown.monthly_saved)
    assert "no clock" in unknown.note
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(SettingsError):
            Price(wrong)
        with pytest.raises(NotEnoughData):
            money_of(wrong, 1.0, 1.0, Price())


def test_what_is_missing_is_said():
    jobs = jobs_of()
    with pytest.raises(ColumnMissing, match="run_name"):
        rollup_of({"jobs": jobs.drop(columns="run_name")}, RollupSettings(by="run"))
    with pytest.raises(NotEnoughData, match="give one size"):
        rollup_of({"jobs": jobs.drop(columns="requested_memory_bytes")}, RollupSettings())
    bare = rollup_of(
        {"jobs": jobs.drop(columns=["start_time_s", "requested_memory_bytes"])}, RollupSettings(request_bytes=9 * GB)
    )
    assert "one after another" in bare.notes[0]
    assert bare.total.memory_gb.before == pytest.approx(9.0)
    with pytest.raises(SettingsError):
        RollupSettings(by="node")


@needs_shared_data
def test_a_published_trace_saves_what_its_tasks_waste_at_most():
    found = rollup_of({"jobs": trace("methylseq")}, RollupSettings())
    assert found.total.memory_gb_h.before == pytest.approx(55550, rel=2e-3)
    assert 20673 < found.total.memory_gb_h.after < 55550
    again = unpack(type(found), pack(found))
    assert again.total == found.total


def test_sizes_of_the_rules():
    used, hours = np.array([1, 1, 1, 1, 1, 1, 1, 1, 2, 9.0]) * GB, np.ones(10)
    jobs = pd.DataFrame({"task_name": "t", "peak_memory_bytes": used, "duration_s": hours})
    bare = {"headroom": 0.0, "step_bytes": 0.0, "floor_bytes": 1.0}
    sizes = {
        rule: plan_of({"jobs": jobs}, PlanSettings(rule, **bare)).tasks[0].size_bytes / GB
        for rule in ("max_seen", "percentile", "least_waste", "class_sizes")
    }
    assert sizes["max_seen"] == 9
    assert sizes["percentile"] == pytest.approx(np.quantile(used, 0.95) / GB)
    assert sizes["least_waste"] == 2  # 9 x 2 and 30 for the last are less than 8 + 3 + 45, and than 90
    assert sizes["class_sizes"] == 20


def tried(size, need):
    """Return what one hour of a run costs, attempt by attempt."""
    attempt, charged = 1, size
    while size * attempt < need:
        attempt += 1
        charged += size * attempt
    return charged


def test_least_waste_equals_trying_every_size():
    rng = np.random.default_rng(4)
    for _ in range(200):
        used, hours = rng.integers(1, 9, 12).astype(float), rng.choice([0.0, 1.0, 4.0], 12)
        weights = hours if hours.sum() else np.ones(12)
        costs = {size: sum(tried(size, need) * w for need, w in zip(used, weights, strict=True)) for size in used}
        assert costs[least_waste(used, hours)] == min(costs.values())


def test_odds_are_of_runs_that_the_size_has_not_seen():
    """Memory that grows: the size covers all of its own history and still most later runs would have failed."""
    jobs = pd.DataFrame(
        {"peak_memory_bytes": np.arange(1, 51) * GB, "duration_s": 60.0, "submit_time_s": np.arange(50)}
    )
    (task,) = plan_of({"jobs": jobs}, PlanSettings(headroom=0.0)).tasks
    assert task.risk.n_above_in_history == 0
    assert (task.risk.n_tested, task.risk.n_failed) == (40, 40)
    steady = jobs.assign(peak_memory_bytes=GB)
    (task,) = plan_of({"jobs": steady}, PlanSettings()).tasks
    assert task.risk.odds == 0.0
    assert 0 < task.risk.high < 0.1


def test_a_request_that_always_covered_is_not_raised():
    jobs = jobs_of().query("task_name == 'c'").assign(peak_memory_bytes=1 * GB)
    assert plan_of({"jobs": jobs}, PlanSettings("class_sizes")).tasks[0].size_bytes == 4 * GB
    tight = jobs.assign(peak_memory_bytes=3.9 * GB)
    assert plan_of({"jobs": tight}, PlanSettings("class_sizes")).tasks[0].size_bytes == 5 * GB


def test_thin_tasks_keep_their_request_and_given_sizes_win():
    jobs = pd.DataFrame(
        {
            "task_name": ["thin"] * 5 + ["full"] * 40,
            "peak_memory_bytes": 1 * GB,
            "requested_memory_bytes": 8 * GB,
            "duration_s": 60.0,
        }
    )
    thin, full = plan_of({"jobs": jobs}, PlanSettings()).tasks
    assert (thin.rule, thin.size_bytes, thin.too_few) == ("kept", 8 * GB, True)
    assert (full.rule, full.too_few) == ("max_seen", False)
    found = plan_of({"jobs": jobs}, PlanSettings(sizes_bytes={"thin": 2 * GB, "gone": 1 * GB}))
    assert (found.tasks[0].rule, found.tasks[0].size_bytes) == ("given", 2 * GB)
    assert "gone" in found.notes[0]
    assert "thin" in canonical_json(found.settings)
    assert unpack(type(found), pack(found)).settings == found.settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"rule": "x"},
        {"headroom": -1},
        {"percentile": 0},
        {"floor_bytes": 0},
        {"sizes_bytes": {"a": -1}},
        {"least_runs": 0},
    ],
)
def test_plan_settings_out_of_bounds(wrong):
    with pytest.raises(SettingsError):
        PlanSettings(**wrong)


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
