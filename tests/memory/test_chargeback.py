"""The bill equals one that is made run by run, adds up to the trace, and leaves nothing out without a word."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pytest

from workprof.answers.chargeback import chargeback_answer
from workprof.core.answer import to_frame, to_json
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.memory.chargeback import ChargebackSettings, chargeback_of
from workprof.memory.ledger_settings import LedgerPrices

YEAR = dt.datetime(2025, 11, 20, tzinfo=dt.UTC).timestamp()
PRICES = LedgerPrices(per_gb_h=0.01, per_core_h=0.5)


def trace(n=400, seed=0, begin=YEAR):
    rng = np.random.default_rng(seed)
    start = begin + rng.uniform(0, 100 * 86_400, n)
    hours = rng.lognormal(2, 2, n)
    return pd.DataFrame(
        {
            "user": rng.choice(["ann", "bob", "eve"], n),
            "task_name": "t",
            "status": rng.choice(["COMPLETED", "FAILED"], n),
            "start_time_s": start,
            "duration_s": hours * 3600,
            "requested_memory_bytes": rng.integers(1, 64, n) * 1e9,
            "requested_cpu_percent": rng.integers(1, 16, n) * 100.0,
            "finished": rng.random(n) < 0.8,
        }
    )


def month(moment):
    return dt.datetime.fromtimestamp(moment, dt.UTC).strftime("%Y-%m")


def slowly(jobs):
    """Hour by hour and the rest of an hour: (who, month) -> GB·h."""
    result = {}
    for run in jobs.itertuples():
        at, end = run.start_time_s, run.start_time_s + run.duration_s
        while at < end:
            following = min(end, (at // 3600 + 1) * 3600)
            key = (run.user, month(at))
            result[key] = result.get(key, 0.0) + (following - at) / 3600 * run.requested_memory_bytes / 1e9
            at = following
    return result


def test_the_bill_is_that_of_every_run_hour_by_hour():
    jobs = trace()
    bill = chargeback_of({"jobs": jobs}, ChargebackSettings(by="user", prices=PRICES))
    told = {(one.who, one.period): one.gb_h for one in bill.rows}
    expected = slowly(jobs)
    assert told.keys() == expected.keys()
    for key, value in expected.items():
        assert math.isclose(told[key], value, rel_tol=1e-9)
    assert sum(one.n_runs for one in bill.rows) == len(jobs) == bill.total.n_runs


def test_rows_add_up_to_the_trace_and_money_to_its_prices():
    jobs = trace(seed=1)
    bill = chargeback_of({"jobs": jobs}, ChargebackSettings(by="user", prices=PRICES))
    gb_h = (jobs["requested_memory_bytes"] / 1e9 * jobs["duration_s"] / 3600).sum()
    core_h = (jobs["requested_cpu_percent"] / 100 * jobs["duration_s"] / 3600).sum()
    assert bill.total.gb_h == pytest.approx(gb_h, rel=1e-9)
    assert bill.total.core_h == pytest.approx(core_h, rel=1e-9)
    assert bill.total.money == pytest.approx(0.01 * gb_h + 0.5 * core_h, rel=1e-9)
    assert math.isnan(bill.total.gpu_h)
    assert sum(one.money for one in bill.rows) == pytest.approx(bill.total.money, rel=1e-9)


def test_months_are_local_ones():
    jobs = trace(1).assign(start_time_s=dt.datetime(2026, 1, 31, 23, 30, tzinfo=dt.UTC).timestamp(), duration_s=600.0)
    jobs.attrs["utc_offset_s"] = 3600
    bill = chargeback_of({"jobs": jobs}, ChargebackSettings(by="user"))
    assert [one.period for one in bill.rows] == ["2026-02"]


def test_a_clock_without_dates_has_periods_of_28_days():
    jobs = trace(begin=0.0)
    bill = chargeback_of({"jobs": jobs}, ChargebackSettings(by="user"))
    periods = list(dict.fromkeys(one.period for one in bill.rows))
    assert len(periods) >= 4
    assert all(name.startswith("days ") for name in periods)
    assert [int(name.split()[1].split("-")[0]) for name in periods] == sorted(
        int(name.split()[1].split("-")[0]) for name in periods
    )


def test_what_cannot_be_billed_is_counted():
    jobs = trace(50)
    jobs.loc[:4, "duration_s"] = np.nan
    jobs.loc[5:9, ["requested_memory_bytes", "requested_cpu_percent"]] = np.nan
    jobs.loc[10:11, "start_time_s"] = np.nan
    bill = chargeback_of({"jobs": jobs}, ChargebackSettings(by="user"))
    assert (bill.n_without_hours, bill.n_without_request) == (5, 5)
    assert sum(one.n_runs for one in bill.rows if one.period == "(no time)") == 2
    answer = chargeback_answer(bill)
    assert answer.notes[0].startswith("5 runs without a run time")
    assert answer.notes[1].startswith("5 runs request no memory")
    known = jobs[jobs["duration_s"].notna()]
    gb_h = (known["requested_memory_bytes"] / 1e9 * known["duration_s"] / 3600).sum()
    assert bill.total.gb_h == pytest.approx(gb_h, rel=1e-9)


def test_groups_are_billed_where_there_are_some_and_nothing_is_refused_in_words():
    assert chargeback_of({"jobs": trace()}, ChargebackSettings()).settings.by == "user"
    assert chargeback_of({"jobs": trace().assign(group="lab")}, ChargebackSettings()).settings.by == "group"
    nothing = trace().drop(columns=["requested_memory_bytes", "requested_cpu_percent"])
    with pytest.raises(NotEnoughData, match="nothing to bill"):
        chargeback_of({"jobs": nothing}, ChargebackSettings())


def test_runs_of_no_length_requested_nothing_that_is_billed():
    memory_alone = trace().assign(duration_s=0.0).drop(columns="requested_cpu_percent")
    told = [
        chargeback_answer(chargeback_of({"jobs": memory_alone.assign(**more)}, ChargebackSettings(by="user")))
        for more in ({}, {"requested_cpu_percent": 100.0})
    ]
    assert all(" requested nothing for any time in " in one.sentence for one in told)


def test_who_cannot_be_billed_is_refused_with_those_who_can():
    jobs = trace(20)
    jobs = jobs.drop(columns=[name for name in ("group", "partition", "queue") if name in jobs.columns])
    with pytest.raises(ColumnMissing) as error:
        chargeback_of({"jobs": jobs.assign(user="ann")}, ChargebackSettings(by="group"))
    named = str(error.value).split("choose rows by ")[1].split(" or ")
    for one in named:  # each is a choice of the bill
        ChargebackSettings(by=one)
    assert "user" in named


def test_a_bill_says_its_currency_and_one_without_prices_says_so():
    def told(**prices):
        asked = ChargebackSettings(by="user", prices=LedgerPrices(**prices))
        return chargeback_answer(chargeback_of({"jobs": trace(50)}, asked))

    billed = told(per_gb_h=0.5, currency="EUR")
    assert (set(to_frame(billed)["currency"]), to_json(billed)["currency"]) == ({"EUR"}, "EUR")
    unpriced = told(currency="EUR")
    assert unpriced.notes[-1] == "No price is given, so nothing is billed in EUR; give such as --price-gb-h."
    assert "currency" not in to_frame(unpriced)
    assert to_json(unpriced)["currency"] is None
    assert told().notes == told(per_gb_h=0.5).notes
