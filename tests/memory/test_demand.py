"""Demand over time: series equal a loop, anomalies name their runs, what is left out is counted, words are short."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from workprof.answers.demand import anomalies_table, demand_answer, demand_sentence
from workprof.charts.memory.demand import demand_chart
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.memory.assessment import AssessmentSettings, assessment_of
from workprof.memory.demand import ALL_RUNS, DURATION, REQUESTED, RUNS, SHORT, USED, DemandSettings, demand_of
from workprof.memory.ledger import ledger_of
from workprof.memory.ledger_settings import LedgerSettings
from workprof.synthetic.demand import BURST_TASK, MONDAY_S, DemandTrace, demand_trace


def asked(jobs, **settings):
    return demand_of({"jobs": jobs}, DemandSettings(**settings))


def few_jobs(n=400, days=12, seed=0):
    rng = np.random.default_rng(seed)
    start = MONDAY_S + np.sort(rng.uniform(0, days * 86400, n))
    return pd.DataFrame(
        {
            "task_name": rng.choice(["a", "b"], n),
            "status": "COMPLETED",
            "submit_time_s": start - 60,
            "start_time_s": start,
            "duration_s": rng.uniform(60, 3 * 86400, n),
            "requested_memory_bytes": rng.integers(1, 9, n) * 1e9,
            "peak_memory_bytes": rng.integers(1, 9, n) * 5e8,
        }
    )


def looped(jobs, edges, of):
    result = []
    for begin, end in itertools.pairwise(edges.tolist()):
        total, took = 0.0, []
        for one in jobs.itertuples():
            inside = min(one.start_time_s + one.duration_s, end) - max(one.start_time_s, begin)
            arrived = begin <= one.submit_time_s < end
            if of in (REQUESTED, USED):
                size = one.requested_memory_bytes if of == REQUESTED else one.peak_memory_bytes
                total += max(inside, 0) * size / 1e9 / (end - begin)
            elif arrived:
                total += 1
                took.append(one.duration_s)
        result.append(total if of != DURATION else float(np.median(took)) if took else np.nan)
    return np.array(result)


@pytest.mark.parametrize("of", [REQUESTED, USED, RUNS, DURATION])
def test_a_series_is_what_a_loop_over_bins_and_runs_adds_up(of):
    jobs = few_jobs()
    found = asked(jobs, of=of, bins="day")
    assert len(found.rows) == 3 and found.rows[0].name == ALL_RUNS
    for row in found.rows:
        own = jobs if row.name == ALL_RUNS else jobs[jobs["task_name"] == row.name]
        assert row.amounts == pytest.approx(looped(own, found.edges_s, of))
    if of != DURATION:
        assert found.rows[0].amounts == pytest.approx(found.rows[1].amounts + found.rows[2].amounts)


@pytest.mark.parametrize("name", [None, "all runs"])
def test_runs_without_a_task_name_and_those_called_all_runs_are_not_the_whole(name):
    jobs = few_jobs()
    jobs.loc[jobs.index % 4 == 0, "task_name"] = name
    found = {row.name: row for row in asked(jobs, bins="day").rows}
    assert found.keys() == {ALL_RUNS, "a", "b", "(no task name)" if name is None else "all runs (task)"}
    assert found[ALL_RUNS].n_runs == len(jobs)
    whole = sum(row.amounts for row in found.values()) - found[ALL_RUNS].amounts
    assert found[ALL_RUNS].amounts == pytest.approx(whole)
    settings = LedgerSettings(by="task")
    names = {row.name for row in ledger_of({"jobs": jobs}, settings).rows}
    assert names == {
        row.task for row in assessment_of({"jobs": jobs.assign(finished=True)}, AssessmentSettings()).tasks
    }


def test_bins_are_whole_and_begin_at_local_midnight():
    jobs = few_jobs()
    jobs.attrs["utc_offset_s"] = 7200.0
    found = asked(jobs, bins="day")
    assert (found.edges_s + 7200) % 86400 == pytest.approx(0)
    assert found.edges_s[0] >= jobs["start_time_s"].min() and found.edges_s[-1] <= jobs["start_time_s"].max()
    assert asked(jobs).settings.bins == "hour"


@pytest.mark.slow
def test_anomalies_name_the_runs_behind_them_and_the_week_starts_on_monday():
    jobs, truth = demand_trace(DemandTrace(days=140, seed=3))
    found = asked(jobs.assign(row_id=1000 + np.arange(len(jobs))), by="user")
    row = found.row("no such row")
    assert [one.bin + 1 for one in row.anomalies] == truth.bursts.tolist()
    for one in row.anomalies:
        assert one.task == BURST_TASK and one.task_share > 0.5 and one.value > 1.5 * one.expected
        began = jobs["start_time_s"].to_numpy()[one.row_ids - 1000]
        assert ((began >= found.edges_s[one.bin]) & (began < found.edges_s[one.bin + 1])).all()
    (season,) = row.seasons
    assert int(season.effects.argmin()) in (5, 6)
    assert not row.ahead.why_not and len(row.ahead.weeks) == 4 and len(row.ahead.days) == 28
    assert row.ahead.error < row.ahead.error_naive
    told = demand_answer(found)
    assert len(told.sentence.split()) <= 20 and "next week" in told.sentence
    assert {one.name for one in told.tables} == {"rows", "anomalies", "weeks"}
    assert len(anomalies_table(found).rows) >= 3
    chart = demand_chart(found)
    assert [trace.name for trace in chart.figure.data][-1] == "forecast"


def test_anomalies_of_other_rows_are_told_beside_the_number_and_a_trend_of_less_than_a_week():
    jobs, _ = demand_trace(DemandTrace(days=140, seed=3))
    found = asked(jobs, by="user")
    row, other = found.rows[0], next(one for one in found.rows[1:] if one.anomalies)
    quiet = replace(found, rows=(replace(row, anomalies=()), other))
    detail = {one.label: one.detail for one in demand_answer(quiet).figures}["Anomalies"]
    assert detail == f"{len(other.anomalies)} of other rows"
    assert len(anomalies_table(quiet).rows) == len(other.anomalies)
    (told,) = [note for note in demand_answer(asked(few_jobs(days=3), bins="hour")).notes if "a week" in note]
    assert told.endswith("the trend of them is scaled up to a week.") and told.startswith("These bins cover ")
    assert not [note for note in demand_answer(found).notes if "scaled up" in note]


def test_a_short_trace_has_no_forecast_and_says_so():
    found = asked(few_jobs())
    assert {row.ahead.why_not for row in found.rows} == {SHORT}
    assert all(len(row.ahead.weeks) == 0 for row in found.rows)
    assert "too few weeks" in demand_sentence(found, found.rows[0])
    told = demand_answer(found)
    assert told.document["weeks"] == ()
    (next_week,) = (one for one in told.figures if one.label == "Mean of next week")
    assert (next_week.value, next_week.detail) == ("no forecast", "too few weeks")
    assert len(demand_chart(found, "a").figure.data) == 3


def test_what_is_not_followed_is_counted():
    jobs = few_jobs()
    jobs.loc[:9, "requested_memory_bytes"] = np.nan
    jobs["task_name"] = [f"t{at % 11}" for at in range(len(jobs))]
    found = asked(jobs)
    assert (found.n_runs, found.n_left_out, found.n_rows_left_out, len(found.rows)) == (390, 10, 3, 9)
    assert len(set(demand_answer(found).notes)) == len(demand_answer(found).notes) >= 4


def test_what_cannot_be_followed_is_refused_in_words():
    jobs = few_jobs()
    with pytest.raises(ColumnMissing, match="no run has peak_memory_bytes"):
        asked(jobs.drop(columns="peak_memory_bytes"), of=USED)
    with pytest.raises(NotEnoughData, match=r"whole days .* choose hours"):
        asked(few_jobs(days=5), bins="day")
    with pytest.raises(NotEnoughData, match="no run says when it ran"):
        asked(jobs.drop(columns=["submit_time_s", "start_time_s"]))
    with pytest.raises(NotEnoughData, match="choose days"):
        asked(few_jobs(days=200), bins="hour")


def steady(mean_days, days=70, n=2_000, seed=1):
    rng = np.random.default_rng(seed)
    start = MONDAY_S + np.sort(rng.uniform(0, days * 86400, n))
    return pd.DataFrame(
        {
            "task_name": "a",
            "status": "COMPLETED",
            "start_time_s": start,
            "duration_s": rng.exponential(mean_days * 86400, n),
            "requested_memory_bytes": 8e9,
            "peak_memory_bytes": 4e9,
        }
    )


def test_demand_that_is_steady_does_not_rise_because_runs_from_before_the_trace_are_not_in_it():
    jobs = steady(4)
    found = asked(jobs, of=REQUESTED)
    row, size = found.rows[0], 8 * 4 * 2_000 / 70
    left = jobs.duration_s.to_numpy() / 86400
    age = (found.edges_s[0] - jobs.start_time_s.min()) / 86400
    missing = [np.maximum(left - one, 0).sum() / left.sum() for one in (age - 1, age)]
    assert missing[0] > 0.05 > missing[1]
    assert (found.n_unsettled, len(row.changes)) == (0, 0) and row.slope.low < 0 < row.slope.high
    assert np.mean(row.amounts) == pytest.approx(size, rel=0.1)
    assert "rising" not in demand_sentence(found, row)
    assert any(f"first {found.n_early} days" in note and "left out" in note for note in demand_answer(found).notes)
    assert asked(jobs, of=RUNS).n_early == 0


def test_runs_as_long_as_the_trace_are_told_and_no_rise_of_theirs_is():
    found = asked(steady(40), of=REQUESTED)
    answer = demand_answer(found)
    assert found.n_early == 0 and found.n_unsettled > 35 and found.rows[0].slope.low > 0
    assert "rising" not in answer.sentence
    assert any(f"first {found.n_unsettled} days" in note and "may be of that alone" in note for note in answer.notes)


@pytest.mark.parametrize("of", [RUNS, REQUESTED])
def test_few_runs_at_random_have_no_anomalies_and_a_burst_has(of):
    """Counts below one an hour are far from normal: 0 in most bins, and now and then 4."""
    jobs = steady(1 / 24, days=40, n=480, seed=3)
    quiet = asked(jobs, of=of, bins="hour").rows[0]
    assert len(quiet.anomalies) <= 1
    burst = jobs.iloc[:25].assign(start_time_s=MONDAY_S + 20.5 * 86400)
    found = asked(pd.concat([jobs, burst], ignore_index=True), of=of, bins="hour")
    at = int(np.searchsorted(found.edges_s, MONDAY_S + 20.5 * 86400, side="right")) - 1
    assert at in [one.bin for one in found.rows[0].anomalies]


@pytest.mark.parametrize("of", [REQUESTED, RUNS, DURATION])
def test_a_trace_of_ended_runs_alone_says_that_its_last_bins_lack_long_ones(of):
    jobs = steady(4, days=120, n=4_000)
    ended = jobs[jobs.start_time_s + jobs.duration_s <= MONDAY_S + 100 * 86400]
    found = asked(ended, of=of)
    answer = demand_answer(found)
    assert 5 < found.n_late < 25 and "falling" not in answer.sentence
    assert any(f"its last {found.n_late} days lack long ones" in note for note in answer.notes)
    whole = jobs[jobs.start_time_s <= MONDAY_S + 100 * 86400]  # of arrivals until then
    assert asked(whole, of=of).n_late == 0
    last = ended[-1:].assign(status="RUNNING", finished=False, start_time_s=MONDAY_S + 99 * 86400)
    running = pd.concat([ended.assign(finished=True), last], ignore_index=True)
    assert (asked(running, of=of).n_late > 0) is (of == DURATION)  # its run times are of ended runs all the same
