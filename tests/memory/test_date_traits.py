"""What dates and names tell of a run: equal to loops, known at submission only, found where a bin follows them."""

import datetime

import numpy as np
import pandas as pd
import pytest

from workprof.memory.bin_models import NONE, PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.date_traits import date_traits
from workprof.memory.model_data import facts_of
from workprof.memory.models import train_predictors


def jobs(n=80, seed=0):
    rng = np.random.default_rng(seed)
    submit = 1.75e9 + rng.integers(0, 60 * 86_400, n) * 1.0
    submit[rng.random(n) < 0.3] = submit[0]
    day = pd.to_datetime(rng.integers(1_600, 1_700, n) * 1e6, unit="s")
    until = day + pd.to_timedelta(rng.integers(0, 7, n), unit="D")
    return pd.DataFrame(
        {
            "task_name": rng.choice(["a", "b", None], n),
            "submit_time_s": np.where(rng.random(n) < 0.1, np.nan, submit),
            "start_time_s": np.where(rng.random(n) < 0.5, np.nan, submit + 50),
            "tag": [f"case_{one}-{two}" for one, two in zip(rng.integers(0, 5, n), rng.integers(0, 9, n), strict=True)],
            "from_day": [f"{one:%Y-%m-%d}" for one in day],
            "to_day": [f"{one:%Y-%m-%dT%H:%M}" for one in until],
        }
    )


@pytest.mark.parametrize("seed", range(3))
def test_every_trait_equals_a_loop(seed):
    table = jobs(seed=seed)
    found = date_traits(table, ["tag", "from_day", "to_day"])
    moments = table["submit_time_s"].fillna(table["start_time_s"]).tolist()
    for at, moment in enumerate(moments):
        row = table.iloc[at]
        tag = row["tag"].replace("-", "_").split("_")
        assert [found[f"tag, part {one}"].iloc[at] for one in (1, 2, 3)] == tag
        first, last = (datetime.datetime.fromisoformat(row[name]) for name in ("from_day", "to_day"))
        assert found["days from from_day to to_day"][at] == pytest.approx((last - first).total_seconds() / 86_400)
        if not np.isfinite(moment):
            assert all(np.isnan(found[name][at]) for name in ("weekday", "hour", "days_since_last_run"))
            continue
        when = datetime.datetime.fromtimestamp(moment, datetime.UTC)
        assert (found["weekday"][at], found["hour"][at]) == (when.weekday(), when.hour)
        same = [one is row["task_name"] or one == row["task_name"] for one in table["task_name"]]
        earlier = [one for one, alike in zip(moments, same, strict=True) if alike and one < moment]
        wanted = (moment - max(earlier)) / 86_400 if earlier else np.nan
        np.testing.assert_allclose(found["days_since_last_run"][at], wanted)
        since = (moment - first.replace(tzinfo=datetime.UTC).timestamp()) / 86_400
        assert found["days from from_day to submission"][at] == pytest.approx(since)


def test_later_runs_change_nothing():
    table = jobs()
    table = table.iloc[table["submit_time_s"].fillna(table["start_time_s"]).argsort(kind="stable")]
    cut = 30
    whole, early = date_traits(table, ["from_day"]), date_traits(table.iloc[:cut], ["from_day"])
    for name, values in early.items():
        np.testing.assert_array_equal(np.asarray(whole[name])[:cut], np.asarray(values))


def test_names_that_differ_in_their_parts_and_taken_names_are_left_alone():
    table = pd.DataFrame({"tag": ["a_b", "c", "d_e_f", "g"], "submit_time_s": 1.75e9, "hour": 5.0})
    assert set(date_traits(table, ["tag"])) == {"weekday", "days_since_last_run"}
    assert date_traits(pd.DataFrame({"tag": [None, None]}), ["tag"]) == {}


def weekly(n=400):
    """Runs that use ten times as much on Sundays."""
    rng = np.random.default_rng(5)
    submit = 1.75e9 + np.arange(n) * 20_000.0
    sunday = pd.to_datetime(submit, unit="s").day_of_week == 6
    times = {"submit_time_s": submit, "start_time_s": submit, "duration_s": 600.0, "end_time_s": submit + 600}
    use = np.where(sunday, 40e9, 4e9) * rng.uniform(0.9, 1.0, n)
    return pd.DataFrame({"task_name": "t", "peak_memory_bytes": use, "requested_memory_bytes": 64e9, **times})


@pytest.mark.slow
def test_a_planted_weekday_is_found_only_where_it_is_looked_at():
    asked = {"models": ("xgboost",), "sampling": (NONE,), "trials": 0, "bins": BinSettings(k=2)}
    plain, dated = (
        train_predictors({"jobs": weekly()}, PredictorSettings(**asked, dates=dates)) for dates in (False, True)
    )
    best = [min(one.u_score for one in found.models) for found in (plain, dated)]
    assert best[1] == 0 < best[0]
    assert "weekday" not in {one.column for one in plain.inputs}
    assert {"weekday", "hour"} <= {one.column for one in dated.inputs}


def test_facts_without_dates_are_as_before():
    table = weekly(50).assign(user=["a", "b"] * 25)
    assert [one.column for one in facts_of(table).inputs] == ["user"]
    assert "days_since_last_run" not in facts_of(table).unused
