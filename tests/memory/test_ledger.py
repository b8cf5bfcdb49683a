"""The ledger: against pandas and SQL on the raw files, and every number against the runs that it opens."""

import csv
import io
import json
from dataclasses import replace

import duckdb
import numpy as np
import pandas as pd
import pytest

from tests.memory.slurm_dump import MAPPING, dump
from tests.shared_data import PAI_SAMPLE, needs_shared_data
from workprof.answers.ledger import (
    advice_words,
    bars_sentence,
    finding_json,
    finding_sentence,
    ledger_answer,
    ledger_json,
    ledger_runs_answer,
    ledger_sentence,
    saved_words,
    tasks_in,
)
from workprof.answers.ledger_exports import EXPORTS, mails
from workprof.answers.verdict import key_words, rate_words
from workprof.core.answer import to_frame, to_json as answer_json
from workprof.core.causes import CAUSES, cause_of
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.fields import leaves
from workprof.core.records import pack, to_json, unpack
from workprof.core.settings import from_environment
from workprof.memory.assessment import AssessmentSettings
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.exports import Origin
from workprof.memory.ledger import Ledger, ledger_of, ledger_run_list
from workprof.memory.ledger_rules import NODES, RULES
from workprof.memory.ledger_settings import (
    GROUPINGS,
    LIMIT,
    MEMORY,
    NAMES,
    RESOURCES,
    LedgerPrices,
    LedgerRunsSettings,
    LedgerSettings,
    Thresholds,
)
from workprof.memory.over_time import OverTimeRunsSettings, OverTimeSettings
from workprof.store.reports import FieldSource, IngestOptions
from workprof.workbench import Workbench, question_methods

pytestmark = pytest.mark.slow

ORIGIN = Origin("trace", "ab12", "1.0")


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    """A home with the dump as 'slurm', its raw table beside it."""
    folder = tmp_path_factory.mktemp("ledger")
    dump().to_csv(folder / "slurm.csv", index=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKPROF_HOME", str(folder / "home"))
        with Workbench(from_environment()) as workbench:
            mapping = {field: FieldSource(one["from"], one.get("unit", "")) for field, one in MAPPING.items()}
            workbench.ingest([folder / "slurm.csv"], IngestOptions(name="slurm", format="generic", mapping=mapping))
            if PAI_SAMPLE.is_file():
                workbench.ingest([PAI_SAMPLE], IngestOptions(name="pai"))
            yield workbench


def by_name(ledger):
    return {row["name"]: row for row in ledger_json(ledger)["rows"]}


@needs_shared_data
def test_the_sums_of_the_shared_trace_are_those_that_pandas_finds_in_the_file(bench):
    raw = pd.read_csv(PAI_SAMPLE)
    hours = (raw["end_time"] - raw["start_time"]) / 3600
    gib = 1024**3 / 1e9
    pairs = {
        "gb_h": (raw["plan_mem"] * gib, raw["max_mem"] * gib),
        "core_h": (raw["plan_cpu"] / 100, raw["cpu_usage"] / 100),
        "gpu_h": (raw["plan_gpu"] / 100, raw["gpu_wrk_util"] / 100),
    }
    found = by_name(bench.ledger("pai"))
    assert set(found) == set(raw["user"])
    for key, (asked, used) in pairs.items():
        sums = {"requested": asked * hours, "used": used * hours, "wasted": (asked - used).clip(lower=0) * hours}
        for what, values in sums.items():
            for user, total in values.groupby(raw["user"]).sum().items():
                assert found[user][f"{what}_{key}"] == pytest.approx(total, rel=1e-9, abs=1e-12), (user, what, key)
            total = ledger_json(bench.ledger("pai"))["totals"][f"{what}_{key}"]
            assert total == pytest.approx(values.sum(), rel=1e-9)


SQL = """
SELECT {by} AS name, count(*) AS runs,
    sum(asked * {weight}) FILTER (WHERE asked > 0) AS requested,
    sum(used * {weight}) FILTER (WHERE used >= 0) AS used,
    sum(greatest(asked - used, 0) * {weight}) FILTER (WHERE asked > 0 AND used >= 0) AS wasted,
    count(*) FILTER (WHERE asked > 0 AND used >= 0 AND hours IS NOT NULL) AS judged
FROM (SELECT *, {hours} AS hours, {asked} AS asked, {used} AS used FROM raw WHERE State = 'COMPLETED')
GROUP BY {by}
"""
AMOUNTS = {
    "memory": ("ReqMemGB", "MaxRSSKiB * 1024 / 1e9", "hours"),
    "cores": ("ReqCPUS", "CPUUsed", "hours"),
    "gpus": ("ReqGPUS", "GPUUsed", "hours"),
    "time_limit": ("TimelimitRaw / 60.0", "ElapsedRaw / 3600.0", "1"),
}


@pytest.mark.parametrize("resource", NAMES)
@pytest.mark.parametrize(
    ("by", "column"), [("user", "User"), ("group", "Account"), ("partition", "Partition"), ("task", "JobName")]
)
def test_the_sums_of_a_dump_are_those_that_sql_finds_in_the_file(bench, by, column, resource):
    raw = dump()  # noqa: F841  the query names it
    asked, used, weight = AMOUNTS[resource]
    if resource == LIMIT:
        used = f"CASE WHEN ElapsedRaw IS NOT NULL THEN {used} END"
        asked = f"CASE WHEN ElapsedRaw IS NOT NULL THEN {asked} END"
    query = SQL.format(by=column, hours="ElapsedRaw / 3600.0", asked=asked, used=used, weight=weight)
    expected = {row[0]: row[1:] for row in duckdb.sql(query).fetchall()}
    ledger = bench.ledger("slurm", LedgerSettings(by=by))
    key = next(one.key for one in RESOURCES if one.name == resource)
    found = {
        row["name"]: (
            row["runs"],
            *(row[f"{what}_{key}"] for what in ("requested", "used", "wasted")),
            row["judged"][resource]["runs"],
        )
        for row in ledger_json(ledger)["rows"]
    }
    assert set(found) == set(expected)
    for name, sums in expected.items():
        assert found[name] == pytest.approx([value or 0 for value in sums], rel=1e-9)


@pytest.mark.parametrize("by", ["user", "group", "partition", "task", "week"])
def test_rows_sum_to_the_total_and_every_run_is_counted_once(bench, by):
    ledger = bench.ledger("slurm", LedgerSettings(by=by))
    raw = dump()
    assert ledger.totals.n_runs + ledger.totals.n_lost == len(raw)
    assert sum(row.n_runs + row.n_lost for row in ledger.rows) == len(raw)
    for at in range(len(NAMES)):
        whole = ledger.totals.amounts[at]
        parts = [row.amounts[at] for row in ledger.rows]
        for name in ("requested", "used", "wasted", "n_judged", "n_over", "n_no_time", "n_no_request", "n_no_use"):
            assert sum(getattr(part, name) for part in parts) == pytest.approx(getattr(whole, name), rel=1e-12)
        assert whole.n_judged + whole.n_no_time + whole.n_no_request + whole.n_no_use == ledger.totals.n_runs
    lost = {one.cause: one.n_runs for one in ledger.totals.lost}
    states = raw["State"].value_counts()
    assert lost == {
        "out of memory": states["OUT_OF_MEMORY"],
        "timed out": states["TIMEOUT"],
        "killed": states["CANCELLED by 1000"],
        "failed": states["FAILED"],
        "running": states["RUNNING"],
        "waiting": states["PENDING"],
    }


def test_what_lost_runs_held_is_summed_by_cause_and_running_ones_hold_to_the_end_of_the_trace(bench):
    raw = dump()
    last = raw[["Submit", "Start", "End"]].max().max()
    seconds = raw["ElapsedRaw"].where(raw["State"] != "RUNNING", last - raw["Start"])
    held = (raw["ReqCPUS"] * seconds / 3600).groupby(raw["State"]).sum()
    found = {one.cause: one for one in bench.ledger("slurm").totals.lost}
    at = NAMES.index("cores")
    for cause, state in (("out of memory", "OUT_OF_MEMORY"), ("failed", "FAILED"), ("running", "RUNNING")):
        assert found[cause].requested[at] == pytest.approx(held[state], rel=1e-9)
    assert found["waiting"].requested == (0.0,) * len(NAMES)
    assert found["waiting"].n_no_time == found["waiting"].n_runs


@pytest.mark.parametrize("by", ["user", "task"])
def test_every_number_opens_its_runs(bench, by):
    ledger = bench.ledger("slurm", LedgerSettings(by=by))
    usual = LedgerRunsSettings(ledger.settings, most=100_000)
    for row in ledger.rows:
        for amount in row.amounts:
            runs = bench.ledger_runs("slurm", replace(usual, row=row.name, resource=amount.resource))
            assert runs.n_runs == row.n_runs == len(runs.row_ids)
            assert runs.wasted == pytest.approx(amount.wasted, rel=1e-9)
            assert np.isfinite(runs.wasted_each).sum() == amount.n_judged
        for lost in row.lost:
            runs = bench.ledger_runs("slurm", replace(usual, row=row.name, cause=lost.cause))
            assert not bench.ledger_runs("slurm", replace(usual, row=row.name, cause=lost.cause, rule="memory")).n_runs
            assert runs.n_runs == lost.n_runs
            assert runs.wasted == pytest.approx(lost.requested[0], rel=1e-9)


@pytest.mark.some(1)
@pytest.mark.parametrize("by", ["user", "task", "week"])
def test_the_filter_of_a_finding_lists_the_runs_that_it_counts(bench, by):
    limits = Thresholds(gpu_memory_bytes=9e9, gpu_cores=2.0, node_cores=16.0)
    ledger = bench.ledger("slurm", LedgerSettings(by=by, rules=limits))
    assert {one.rule for one in ledger.findings} >= {
        *("memory", "serial", "gpu_zero", "gpu_low", "time_limit", "gpu_memory", "fragmentation"),
        *("out_of_memory", "timed_out", "failed"),
    }
    for one in ledger.findings:
        told = finding_json(one, ledger, tasks_in(ledger))
        chosen = {name: value for name, value in told["filter"].items() if name != "by"}
        assert told["filter"]["by"] == by
        runs = bench.ledger_runs("slurm", LedgerRunsSettings(ledger.settings, most=100_000, **chosen))
        assert (runs.n_runs, runs.unit) == (one.n_runs, one.unit)
        assert runs.wasted == pytest.approx(one.amount, rel=1e-9)
        assert (np.diff(runs.wasted_each) <= 1e-9).all()


def test_findings_in_a_file_have_their_amounts_as_numbers_with_a_unit_each(bench):
    ledger = bench.ledger("slurm")
    table = ledger_answer(ledger).tables[0].frame()
    assert table["wasted_amount"].tolist() == [one.amount for one in ledger.findings]
    assert table["wasted_unit"].tolist() == [one.unit for one in ledger.findings]
    for row, one in zip(table.itertuples(), ledger.findings, strict=True):
        if one.row is not None:
            assert (row.size_amount, row.saved_amount) == (one.row.size, one.row.saved)
            assert row.saved.endswith(row.saved_unit) and (one.amount_unit == row.amount_unit)


def test_a_finding_is_the_row_of_the_verdict_on_its_key(bench):
    ledger, verdict = bench.ledger("slurm"), bench.verdict("slurm")
    rows = {one.resource: list(one.rows) for one in verdict.resources}
    sized = [one for one in ledger.findings if one.row is not None]
    assert {one.sized for one in sized} == {"memory", "cpu", "gpu", "time limit"}
    assert all(one.row in rows[one.sized] for one in sized)
    assert {key_words(one.row) for one in sized} <= {key_words(row) for row in verdict.memory.rows}
    assert {one.row.action for one in sized} == {"lower", "keep", "raise"}
    for one in ledger.findings:
        assert (one.row is None) == bool(one.lacking)
        assert one.row is not None or one.rule == "failed" or one.key
    ended = [one for one in sized if one.rule in ("out_of_memory", "timed_out") and "no request" not in one.key]
    assert ended and all(one.n_of - one.n_runs == one.row.n_runs - one.row.n_killed for one in ended)
    found = {(one.key, one.rule): one for one in sized}
    blast, idle, killed = (
        found[key, rule].row
        for key, rule in (
            ("ann, blast, 16 cores", "serial"),
            ("ann, idle, 4 GPUs", "gpu_zero"),
            ("ann, align, 64 GB", "out_of_memory"),
        )
    )
    assert (blast.action, blast.request, blast.size) == ("lower", 16, 1)
    assert (idle.action, idle.request, idle.size) == ("lower", 4, 1)
    assert killed.action == "raise"
    assert killed.size > 64
    told = saved_words(found["ann, align, 64 GB", "out_of_memory"])
    assert told.endswith(f" more; of the next 1,000 runs {rate_words(killed)} killed")  # not 'none killed'


def test_nothing_is_advised_the_wrong_way(bench):
    for by in ("user", "group", "task", "partition"):
        for one in ledger_json(bench.ledger("slurm", LedgerSettings(by=by)))["findings"]:
            if (instead := one["instead"]) is not None:
                order = (instead["size"] > instead["request"]) - (instead["size"] < instead["request"])
                assert order == {"lower": -1, "keep": 0, "raise": 1}[instead["action"]]
                assert (one["plan"]["action"], one["plan"]["why"]) == (instead["action"], one["saved"]["why"])
                assert one["plan"]["why"] in one["sentence"]


def test_findings_are_the_same_rows_whatever_the_ledger_adds_up_by(bench):
    by_user, by_group = (
        {
            (one.key, one.rule): (one.n_runs, one.row)
            for one in bench.ledger("slurm", LedgerSettings(by=by)).findings
            if one.key
        }
        for by in ("user", "group")
    )
    assert by_user == by_group


def test_a_row_that_is_declined_is_a_finding_that_keeps(bench):
    def found():
        prices = LedgerSettings(prices=LedgerPrices(per_gpu_h=2.0))
        return next(one for one in bench.ledger("slurm", prices).findings if one.key == "bob, idle, 4 GPUs")

    before = found()
    key = "user=bob,task_name=idle,request=4,resource=gpu"
    bench.decide("slurm", key, "declined", note="a licence needs them")
    try:
        after = found()
        assert (before.row.action, after.row.action, after.row.size) == ("lower", "keep", 4)
        assert (before.saved_money > 0, after.saved_money) == (True, 0)
        assert "a licence needs them" in advice_words(after)
        assert (after.n_runs, after.amount) == (before.n_runs, before.amount)
    finally:
        bench.forget_decisions("slurm", key)
    assert found() == before


def test_runs_of_a_row_are_counted_by_a_loop(bench):
    raw = dump()
    asked, used = raw["ReqMemGB"], raw["MaxRSSKiB"] * 1024 / 1e9
    judged = (raw["State"] == "COMPLETED") & raw["ElapsedRaw"].notna() & asked.notna() & used.notna()
    expected = {}
    for at in np.flatnonzero(judged & (used < 0.5 * asked)):
        key = f"{raw['User'][at]}, {raw['JobName'][at]}, {asked[at]:g} GB"
        wasted = (asked[at] - used[at]) * raw["ElapsedRaw"][at] / 3600
        n, whole = expected.get(key, (0, 0.0))
        expected[key] = (n + 1, whole + wasted)
    found = {one.key: one for one in bench.ledger("slurm").findings if one.rule == "memory"}
    assert found
    for key, one in found.items():
        assert (one.n_runs, one.amount) == (expected[key][0], pytest.approx(expected[key][1]))


def jobs(n=40, **columns):
    """Return forty runs of one user and task, an hour each, one after the other."""
    base = {
        "row_id": np.arange(n),
        "user": "ann",
        "task_name": "t",
        "start_time_s": 1.7e9 + 4000.0 * np.arange(n),
        "duration_s": 3600.0,
        "finished": True,
    }
    return pd.DataFrame(base | columns)


def findings(table, **limits):
    return {one.rule: one for one in ledger_of({"jobs": table}, LedgerSettings(rules=Thresholds(**limits))).findings}


def test_nobody_wastes_most_where_nothing_is_wasted():
    full = jobs(requested_memory_bytes=8e9, peak_memory_bytes=8e9, user=["ann", "bob"] * 20)
    for table in (full, full.assign(duration_s=0.0, peak_memory_bytes=1e9)):
        ledger = ledger_of({"jobs": table}, LedgerSettings())
        assert "wastes most" not in ledger_sentence(ledger) and bars_sentence(ledger) == "Nothing is wasted."


def test_a_row_that_keeps_is_a_finding_that_keeps_with_the_reason():
    use = np.r_[np.full(40, 1e9), np.full(40, 7.9e9)]
    found = findings(jobs(80, requested_memory_bytes=8e9, peak_memory_bytes=use))["memory"]
    assert (found.n_runs, found.row.action, found.row.size) == (40, "keep", 8)
    assert advice_words(found) == "Keep 8 GB (kept: largest of 80 runs used 7.9 of 8 GB)"


def test_tasks_that_end_alike_are_told_apart():
    paths = ["RNASEQ:STAR:SORT", "RNASEQ:SALMON:SORT", "RNASEQ:FASTQC"]
    tables = [jobs(60, requested_memory_bytes=64e9, peak_memory_bytes=8e9, task_name=path) for path in paths]
    ledger = ledger_of({"jobs": pd.concat(tables, ignore_index=True)}, LedgerSettings())
    (findings_table,) = (one for one in ledger_answer(ledger).tables if one.name == "findings")
    whose = findings_table.frame()["whose"]
    assert sorted(set(whose)) == ["ann, FASTQC", "ann, SALMON:SORT", "ann, STAR:SORT"]
    told = {one["sentence"].split(": too")[0] for one in ledger_json(ledger)["findings"]}
    assert told == set(whose)


def test_a_row_that_the_plan_lowers_is_a_finding_whatever_share_is_used():
    path = "NFCORE_METHYLSEQ:METHYLSEQ:ALIGN"
    table = jobs(120, requested_memory_bytes=64e9, peak_memory_bytes=np.tile([34e9, 35e9, 36e9], 40), task_name=path)
    assert Thresholds().memory_share < 34 / 64
    found, whole = findings(table)["memory"], ledger_of({"jobs": table}, LedgerSettings())
    assert (found.n_runs, found.row.action) == (120, "lower")
    assert found.amount == pytest.approx(whole.totals.amounts[0].wasted)
    told = finding_sentence(found, tasks_in(whole))
    assert told.startswith("ann, ALIGN: too much memory requested in 120 of 120 runs")
    assert "memory" not in findings(table.assign(peak_memory_bytes=np.tile([34e9, 35e9, 64e9], 40)))


def test_few_runs_are_a_finding_that_keeps():
    found = findings(jobs(requested_memory_bytes=8e9, peak_memory_bytes=1e9).head(3))["memory"]
    assert (found.n_runs, found.share) == (3, pytest.approx(7 / 8))
    assert advice_words(found) == "Keep 8 GB (kept: too few runs to judge)"


def test_runs_of_several_requests_of_one_row_are_one_finding():
    table = jobs(120, requested_memory_bytes=8e9 + 1e6 * np.arange(120), peak_memory_bytes=1e9)
    (found,) = (one for one in ledger_of({"jobs": table}, LedgerSettings()).findings if one.rule == "memory")
    assert (found.key, found.n_runs) == ("ann, t", 120)
    assert found.row.by == ("user", "task_name")


def test_without_memory_the_other_resources_are_sized():
    table = jobs(80, requested_cpu_percent=800.0, cpu_usage_percent=np.tile([90.0, 100.0], 40))
    found = findings(table)["serial"]
    assert (found.row.action, found.row.request, found.row.size) == ("lower", 8, pytest.approx(2, abs=1))


def test_memory_of_further_gpus_is_found_and_that_of_a_need_is_not():
    table = jobs(
        requested_gpu_percent=100.0,
        gpu_usage_percent=90.0,
        requested_memory_bytes=192e9,
        peak_memory_bytes=np.r_[np.full(20, 60e9), np.full(20, 100e9)],
        cap_mem_machine_spec=256e9 / 1024**3,
        cap_gpu_machine_spec=4.0,
    )
    found = findings(table)["gpu_memory"]
    assert (found.n_runs, found.requested, found.sized) == (20, 192, "memory")
    assert found.amount == pytest.approx(20 * (192 / 64 - 1))
    assert "gpu_memory" not in findings(table, gpu_memory_bytes=200e9)


@pytest.mark.parametrize(
    ("columns", "missing"),
    [
        ({"requested_cpu_percent": 100.0, "cpu_usage_percent": 90.0}, "requested_memory_bytes"),
        ({"requested_memory_bytes": 1e9}, "peak_memory_bytes"),
        ({"requested_memory_bytes": 1e9, "peak_memory_bytes": 1e9}, "time_limit_s"),
    ],
)
def test_rules_without_their_columns_are_listed_with_what_is_missing(columns, missing):
    ledger = ledger_of({"jobs": jobs(**columns)}, LedgerSettings())
    assert any(missing in one.missing for one in ledger.unjudged)
    document = ledger_json(ledger)
    for one in RESOURCES:
        if one.name in ledger.absent:
            assert document["totals"][f"wasted_{one.key}"] is None
            assert any(one.hours in note for note in ledger.notes)
    judged = {rule for rule in RULES if rule not in {one.rule for one in ledger.unjudged}}
    assert {one.rule for one in ledger.findings} <= judged


def test_findings_are_ranked_by_money_where_a_price_is_given_and_limits_come_last(bench):
    usual = bench.ledger("slurm", LedgerSettings(by="task")).findings
    held = [one for one in usual if one.resource not in (LIMIT, NODES)]
    assert usual[: len(held)] == tuple(held)
    assert [one.share for one in held] == sorted((one.share for one in held), reverse=True)
    prices = LedgerPrices(per_gpu_h=2.0, per_gb_h=0.001)
    priced = bench.ledger("slurm", LedgerSettings(by="task", prices=prices))
    money = [np.nan_to_num(one.money) for one in priced.findings if one.resource not in (LIMIT, NODES)]
    assert money == sorted(money, reverse=True)
    first = priced.findings[0]
    assert first.money == pytest.approx(first.amount * 2.0)
    assert priced.totals.money == pytest.approx(
        priced.totals.of("gpus").wasted * 2 + priced.totals.of(MEMORY).wasted * 0.001
    )


@pytest.mark.parametrize("n_failed", [36, 40])
def test_what_failed_runs_held_is_a_share_of_what_all_runs_requested(n_failed):
    status = np.where(np.arange(40) < n_failed, "FAILED", "COMPLETED")
    done = status == "COMPLETED"
    found = findings(jobs(status=status, finished=done, requested_memory_bytes=8e9, peak_memory_bytes=7.9e9))
    assert found["failed"].share == pytest.approx(n_failed / 40)


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        ("OUT_OF_MEMORY", "out of memory"),
        ("OUT_OF_ME+", "out of memory"),
        ("OOMKilled", "out of memory"),
        ("TIMEOUT", "timed out"),
        ("CANCELLED by 1000", "killed"),
        ("PREEMPTED", "killed"),
        ("NODE_FAIL", "failed"),
        ("Failed", "failed"),
        (" running ", "running"),
        ("PENDING", "waiting"),
        ("odd", "other"),
    ],
)
def test_states_of_every_scheduler_have_one_word(status, cause):
    assert cause_of(status) == cause
    assert cause in CAUSES


def test_weeks_begin_on_mondays_and_those_of_a_clock_of_its_own_are_numbered():
    monday = pd.Timestamp("2026-03-02", tz="UTC").timestamp()
    table = jobs(start_time_s=np.r_[np.full(20, monday - 1), np.full(20, monday)])
    rows = ledger_of({"jobs": table}, LedgerSettings(by="week")).rows
    assert [(row.name, row.n_runs) for row in rows] == [("week of 2026-02-23", 20), ("week of 2026-03-02", 20)]
    rows = ledger_of({"jobs": table.assign(start_time_s=np.arange(40) * 86_400.0)}, LedgerSettings(by="week")).rows
    assert [row.name for row in rows] == [f"week {number}" for number in range(6)]


def test_profiles_are_rows_and_what_no_clustering_saw_is_one_too():
    table = jobs(**{PROFILE_COLUMN: np.r_[np.zeros(20), np.full(10, -1.0), np.full(10, np.nan)]})
    rows = ledger_of({"jobs": table}, LedgerSettings(by="profile")).rows
    assert {row.name: row.n_runs for row in rows} == {"profile 0": 20, "no profile": 10, "not clustered": 10}


def test_what_cannot_be_added_up_is_refused_in_words():
    with pytest.raises(ColumnMissing, match="no column partition or queue; choose rows by user"):
        ledger_of({"jobs": jobs()}, LedgerSettings(by="partition"))
    with pytest.raises(ColumnMissing, match="map duration_s"):
        ledger_of({"jobs": jobs().drop(columns="duration_s")}, LedgerSettings())
    with pytest.raises(NotEnoughData, match="no rows"):
        ledger_of({"jobs": jobs().head(0)}, LedgerSettings())
    table = {"jobs": jobs(requested_memory_bytes=8e9, peak_memory_bytes=1e9)}
    for given, words in (
        ({"row": "eve"}, "no row 'eve'; choose one of ann"),
        ({"task": "x"}, "no task 'x'"),
        ({"rule": "x"}, "no rule 'x'"),
        ({"rule": "gpu_low"}, "gpu_low cannot be judged"),
        ({"rule": "memory,failed"}, ""),
    ):
        if words:
            with pytest.raises(SettingsError, match=words):
                ledger_run_list(table, LedgerRunsSettings(**given))


def test_a_ledger_is_kept_and_read_again(bench):
    ledger = bench.ledger("slurm")
    assert to_json(unpack(Ledger, pack(ledger))) == to_json(ledger)


@pytest.mark.some(2)
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ledger", LedgerSettings(by="partition")),
        ("ledger_runs", LedgerRunsSettings(LedgerSettings(by="group"), rule="serial")),
        ("over_time", OverTimeSettings(by="group")),
        ("over_time_runs", OverTimeRunsSettings(OverTimeSettings(by="user"))),
        ("assessment", AssessmentSettings()),
    ],
)
def test_a_table_too_large_to_be_kept_gives_the_same_here_and_in_a_child(bench, monkeypatch, name, settings):
    question, dataset = getattr(bench, name), bench.dataset("slurm").hash
    whole = question(dataset, settings)
    monkeypatch.setattr(question_methods, "TABLE_BYTES", 0)
    for ask in (lambda: question(dataset, settings), lambda: bench.wait(question.start(dataset, settings).key)):
        bench._cache.forget(dataset)
        bench.verdict(dataset)
        ask()
        again = question.cached(dataset, settings).result
        assert {**to_json(again), "seconds": 0} == {**to_json(whole), "seconds": 0}


def test_every_export_says_the_same(bench):
    ledger = bench.ledger("slurm")
    document = json.loads(EXPORTS["json"](ledger, ORIGIN))
    assert document["totals"] == json.loads(json.dumps(to_json(ledger_json(ledger)["totals"])))
    rows = list(csv.DictReader(io.StringIO(EXPORTS["csv"](ledger, ORIGIN))))
    assert [row["user"] for row in rows] == [*(row.name for row in ledger.rows), "total"]
    for row, told in zip(rows, (*document["rows"], document["totals"]), strict=True):
        assert float(row["wasted_core_h"]) == pytest.approx(told["wasted_core_h"])
        assert int(row["not_finished"]) == sum(one["runs"] for one in told["not_finished"])
    listed = list(csv.DictReader(io.StringIO(EXPORTS["findings"](ledger, ORIGIN))))
    assert [row["sentence"] for row in listed] == [one["sentence"] for one in document["findings"]]


def test_a_text_per_user_holds_the_findings_of_that_user_alone(bench):
    ledger = bench.ledger("slurm")
    found = mails(ledger, ORIGIN)
    assert set(found) == {one.who for one in ledger.findings}
    for user, text in found.items():
        assert text.startswith(f"To: {user}\nSubject: ")
        own = [one for one in ledger.findings if one.who == user]
        assert f"1. {own[0].task}: " in text
        assert not any(f"To: {other}" in text for other in found if other != user)
    whole = EXPORTS["mail"](ledger, ORIGIN)
    assert "nothing was sent" in whole
    assert all(text in whole for text in found.values())
    with pytest.raises(SettingsError, match="--by user"):
        mails(bench.ledger("slurm", LedgerSettings(by="task")), ORIGIN)


def test_no_name_leaves_its_line_or_becomes_a_formula():
    evil = "=cmd()\nTo: all@example.org"
    table = jobs(requested_memory_bytes=8e9, peak_memory_bytes=1e9, user=evil, task_name=evil)
    ledger = ledger_of({"jobs": table}, LedgerSettings())
    text = EXPORTS["mail"](ledger, ORIGIN)
    assert sum(line.startswith("To: ") for line in text.splitlines()) == 1
    for kind in ("csv", "findings"):
        cells = [cell for row in csv.reader(io.StringIO(EXPORTS[kind](ledger, ORIGIN))) for cell in row]
        assert any("cmd()" in cell for cell in cells)
        assert not any(cell.startswith("=") for cell in cells)


def test_rows_are_users_where_the_trace_names_them_else_groups_or_tasks():
    table = jobs(group="g", requested_memory_bytes=8e9, peak_memory_bytes=1e9, queue=None)
    assert ledger_of({"jobs": table}, LedgerSettings()).settings.by == "user"
    assert ledger_of({"jobs": table.assign(user=None)}, LedgerSettings()).settings.by == "group"
    assert ledger_of({"jobs": table.assign(user=None, group=None)}, LedgerSettings()).settings.by == "task"
    found = ledger_run_list({"jobs": table.assign(user=None, group=None)}, LedgerRunsSettings(row="t"))
    assert (found.settings.ledger.by, found.n_runs) == ("task", 40)


def test_every_grouping_that_a_setting_offers_is_known():
    by = next(leaf for leaf in leaves(LedgerSettings) if leaf.path == "by")
    assert list(GROUPINGS) == list(by.about.choices)


def test_runs_of_a_rule_on_failures_held_what_they_took():
    table = jobs(60, status="failed", finished=False, requested_memory_bytes=8e9, peak_memory_bytes=1e9)
    found = ledger_run_list({"jobs": table}, LedgerRunsSettings(rule="failed"))
    assert found.unfinished
    assert ledger_runs_answer(found).sentence.startswith(f"60 runs held {found.wasted:.3g}")
    assert not ledger_run_list({"jobs": jobs(60)}, LedgerRunsSettings()).unfinished


def test_what_short_runs_waste_is_no_zero_and_a_file_names_its_unit():
    table = jobs(8, duration_s=4.0, requested_memory_bytes=1e9, peak_memory_bytes=2e8)
    told = ledger_runs_answer(ledger_run_list({"jobs": table}, LedgerRunsSettings()))
    first = to_frame(told).iloc[0]
    assert first["wasted"] == pytest.approx(4 / 3600 * 0.8)
    assert (first["unit"], first["wasted_unit"]) == ("GB", "GB·h")
    cells = {column.words: column.cell(0) for column in told.tables[0].columns if not column.aside}
    assert (cells["Run time"], cells["Wasted (GB·h)"]) == ("0.00111", "0.0008889")
    document = answer_json(told)
    assert (document["unit"], document["wasted_unit"]) == ("GB", "GB·h")


def test_one_run_that_waits_is_told_as_one():
    table = jobs(9, requested_memory_bytes=8e9, peak_memory_bytes=1e9, status=["PENDING"] + ["COMPLETED"] * 8)
    notes = ledger_of({"jobs": table.assign(finished=table["status"] == "COMPLETED")}, LedgerSettings()).notes
    assert "1 run waits, and holds nothing yet" in notes
