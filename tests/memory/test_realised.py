"""Realised saving equals a sum run by run on traces of which it is known who followed the advice."""

import datetime as dt
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from workprof.answers.changes import changes_answer, realised_answer, taken_up_words, worse_words
from workprof.core.answer import to_json
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.settings import from_environment
from workprof.memory.changes import ChangesSettings, changes_of, last_period
from workprof.memory.decisions import ACCEPTED, Decision
from workprof.memory.realised import (
    ACCEPTED_ROWS,
    NO_RUNS,
    NOT_YET,
    TAKEN_UP,
    Advised,
    accepted_advice,
    realised_of,
    verdict_advice,
)
from workprof.memory.verdict import VerdictSettings, verdict_of
from workprof.workbench import Workbench

MONDAY = dt.datetime(2026, 1, 5, tzinfo=dt.UTC).timestamp()
WEEK = 7 * 86_400
USERS = 24


def trace(seed=0, weeks=6, users=USERS, work=1.0):
    """Users with one task and a request of their own; before the last week nobody follows anything.

    `work`: runs of the last week, as a share of those of a week before.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for user in range(users):
        for week in range(weeks):
            n = int(rng.integers(25, 40) * (work if week == weeks - 1 else 1.0))
            start = MONDAY + week * WEEK + np.sort(rng.uniform(0, WEEK, n))
            request = [16.0, 32.0, 64.0][user % 3]
            parts.append(
                pd.DataFrame(
                    {
                        "user": f"user {user}",
                        "task_name": f"task={user},a",
                        "submit_time_s": start,
                        "start_time_s": start,
                        "duration_s": rng.uniform(600, 7200, n),
                        "requested_memory_bytes": request * 1e9,
                        "peak_memory_bytes": request * rng.uniform(0.1, 0.15, n) * 1e9,
                        "finished": True,
                    }
                )
            )
    end = {"end_time_s": lambda jobs: jobs.start_time_s + jobs.duration_s}
    return pd.concat(parts).sort_values("start_time_s").reset_index(drop=True).assign(**end)


def half_follow(jobs, since, rows):
    """The trace in which users with an even number follow their row from a moment on, and who these are."""
    size = {row.key["user"]: row.size for row in rows if row.action == "lower"}
    followers = {user for user in size if int(user.split()[1]) % 2 == 0}
    moved = (jobs.submit_time_s >= since) & jobs.user.isin(followers)
    after = np.where(moved, jobs.user.map(size) * 1e9, jobs.requested_memory_bytes)
    return jobs.assign(requested_memory_bytes=after), followers


def by_hand(before, after, since):
    """GB·h: of every run since, what it requested before less what it requests, times its own hours."""
    return math.fsum(
        (was - now) / 1e9 * seconds / 3600
        for was, now, seconds, moment in zip(
            before.requested_memory_bytes,
            after.requested_memory_bytes,
            after.duration_s,
            after.submit_time_s,
            strict=True,
        )
        if moment >= since
    )


@pytest.mark.parametrize("work", [1.0, 0.4])
def test_half_of_the_users_follow_and_the_saving_is_that_of_every_run(work):
    since = MONDAY + 5 * WEEK
    jobs = trace(work=work)
    rows = verdict_of({"jobs": jobs[jobs.submit_time_s < since]}, VerdictSettings()).memory.rows
    after, followers = half_follow(jobs, since, rows)
    found = realised_of(after, verdict_advice(rows, since), "told")
    expected = by_hand(jobs, after, since)
    assert len(followers) == USERS // 2
    assert expected > 100
    assert found.saved == pytest.approx(expected, rel=1e-9)
    assert {one.advised.key["user"] for one in found.rows if one.state == TAKEN_UP} == followers
    assert sum(one.saved == 0 and one.state == NOT_YET for one in found.rows) == USERS // 2
    assert found.lost == 0
    assert to_json(realised_answer(found))["realised_gb_h"] == found.saved


def test_less_work_alone_and_another_request_of_before_save_nothing():
    since = MONDAY + 5 * WEEK
    jobs = trace(work=0.3, users=4)
    rows = verdict_of({"jobs": jobs[jobs.submit_time_s < since]}, VerdictSettings()).memory.rows
    advice = verdict_advice(rows, since)
    assert realised_of(jobs, advice, "told").saved == 0
    small = rows[0].size
    earlier = jobs.index[(jobs.user == rows[0].key["user"])][:3]
    jobs.loc[earlier, "requested_memory_bytes"] = small * 1e9  # it was there before anything was advised
    later = (jobs.submit_time_s >= since) & (jobs.user == rows[0].key["user"])
    jobs.loc[later, "requested_memory_bytes"] = small * 1e9
    assert realised_of(jobs, advice, "told").saved == 0


def test_a_killed_run_is_lost_and_a_use_that_changed_is_said():
    since = MONDAY + 5 * WEEK
    jobs = trace()
    rows = verdict_of({"jobs": jobs[jobs.submit_time_s < since]}, VerdictSettings()).memory.rows
    after, _ = half_follow(jobs, since, rows)
    later = np.flatnonzero((after.submit_time_s >= since) & (after.user == "user 0"))
    after["status"] = "COMPLETED"
    after.loc[later[:2], ["status", "finished"]] = ["OUT_OF_MEMORY", False]
    after.loc[(after.submit_time_s >= since) & (after.user == "user 2"), "peak_memory_bytes"] *= 0.3
    found = realised_of(after, verdict_advice(rows, since), "told")
    held = after.requested_memory_bytes / 1e9 * after.duration_s / 3600
    assert found.n_killed == 2
    assert found.lost == pytest.approx(held[later[:2]].sum())
    not_saved = (jobs.requested_memory_bytes / 1e9 * jobs.duration_s / 3600 - held)[later[:2]].sum()
    assert found.saved == pytest.approx(by_hand(jobs, after, since) - not_saved)
    changed = [one for one in found.rows if one.use_changed]
    assert [one.advised.key["user"] for one in changed] == ["user 2"]
    assert found.saved_use_changed == pytest.approx(changed[0].saved)
    assert "The use itself changed in 1 row" in " ".join(realised_answer(found).notes)


def test_accepted_rows_count_from_their_own_decision_on():
    jobs = trace(users=2)
    late = MONDAY + 4 * WEEK
    key = "user=user%200,task_name=task%3D0%2Ca,request=16"
    at = dt.datetime.fromtimestamp(late, dt.UTC).isoformat()
    decision = Decision(key, ACCEPTED, "", "ann", at, "lower", "GB", 16.0, 3.0, 1.0)
    jobs.loc[(jobs.user == "user 0") & (jobs.submit_time_s >= late), "requested_memory_bytes"] = 3e9
    found = realised_of(jobs, accepted_advice([decision]), "told")
    own = jobs[(jobs.user == "user 0") & (jobs.submit_time_s >= late)]
    assert found.rows[0].n_moved == len(own)
    assert found.saved == pytest.approx((13 * own.duration_s / 3600).sum())
    nobody = accepted_advice([Decision(key.replace("0", "9"), ACCEPTED, "", "a", at, "lower", "GB", 16.0, 3.0, 1.0)])
    assert realised_of(jobs, nobody, "told").rows[0].state == NO_RUNS


KEY = "user=ann,task_name=train,request="


def runs_of(requests_gb, first_day, days):
    """An hour each at these requests, evenly over some days."""
    start = MONDAY + 86_400 * (first_day + np.arange(len(requests_gb)) * days / len(requests_gb))
    of = {"user": "ann", "task_name": "train", "submit_time_s": start, "start_time_s": start, "finished": True}
    amounts = {"requested_memory_bytes": np.array(requests_gb) * 1e9, "peak_memory_bytes": 2.9e9, "duration_s": 3600.0}
    return pd.DataFrame({**of, **amounts, "end_time_s": start + 3600})


def advised(request, size, day):
    return Advised(f"{KEY}{request}", "lower", request, size, MONDAY + 86_400 * day)


def test_a_request_that_came_by_advice_and_is_advised_anew_saves_each_step_once():
    """From 16 to 8 to 5 to 3.2 GB, a row accepted at each step; some stay at 8."""
    jobs = pd.concat([runs_of([16] * 60, 0, 9), runs_of([8] * 40, 10, 9)])
    first, second, third = advised(16, 3.1, 10), advised(8, 3.0, 20), advised(5, 3.1, 30)
    assert realised_of(jobs, [first], "told").saved == pytest.approx(40 * 8)
    found = realised_of(jobs, [first, second], "told")
    assert found.saved == pytest.approx(40 * 8), "accepting the next step takes nothing away"
    jobs = pd.concat([jobs, runs_of([5] * 20, 20, 9), runs_of([8] * 6, 21, 8), runs_of([3.2] * 10, 30, 9)])
    for order in ([first, second, third], [third, first, second]):
        found = realised_of(jobs, order, "told")
        assert found.saved == pytest.approx(46 * 8 + 20 * 11 + 10 * 12.8)
        rows = {one.advised.request: one for one in found.rows}
        assert [rows[one].saved for one in (16, 8, 5)] == pytest.approx([76 * 8, 30 * 3, 10 * 1.8])
        assert [(rows[one].n_later, rows[one].n_moved) for one in (16, 8, 5)] == [(76, 76), (36, 30), (10, 10)]


@pytest.mark.parametrize("order", [1, -1])
def test_runs_that_may_have_followed_several_rows_are_shared_by_the_hours_of_before(order):
    before = pd.concat([runs_of([16] * 60, 0, 9), runs_of([8] * 20, 0, 9)])
    rows = [advised(16, 3.1, 10), advised(8, 3.1, 10)][::order]
    found = realised_of(pd.concat([before, runs_of([3.1] * 80, 10, 9)]), rows, "told")
    assert found.saved == pytest.approx(60 * 12.9 + 20 * 4.9)
    found = realised_of(pd.concat([before, runs_of([4] * 80, 10, 9)]), [rows[0], replace(rows[1], size=3.2)], "told")
    assert found.saved == pytest.approx(60 * 12 + 20 * 4)


def test_changes_say_what_runs_show():
    """The last full week against the one before: waste, kills, who came, what got worse, what was taken up."""
    since = MONDAY + 5 * WEEK
    jobs = trace()
    rows = verdict_of({"jobs": jobs[jobs.submit_time_s < since]}, VerdictSettings()).memory.rows
    jobs, followers = half_follow(jobs, since, rows)
    jobs["status"] = "COMPLETED"
    last, before = ((jobs.start_time_s >= low) & (jobs.start_time_s < low + WEEK) for low in (since, since - WEEK))
    jobs.loc[jobs.index[last & (jobs.user == "user 1")][:8], ["status", "finished"]] = ["OUT_OF_MEMORY", False]
    jobs.loc[last & (jobs.user == "user 3"), "requested_memory_bytes"] *= 2
    jobs.loc[last & (jobs.user == "user 5"), "task_name"] = "a new task"
    found = changes_of({"jobs": jobs}, ChangesSettings(by="task"))
    assert found.periods == ("2026-02-02..2026-02-08", "2026-02-09..2026-02-15")
    assert found.newest_s == jobs.end_time_s.max() > since + WEEK
    ended = jobs[last & jobs.finished]
    hours = ended.duration_s / 3600 / 1e9
    requested = (ended.requested_memory_bytes * hours).sum()
    unused = ((ended.requested_memory_bytes - ended.peak_memory_bytes) * hours).sum()
    told = to_json(changes_answer(found))
    assert told["unused_share"] == pytest.approx(unused / requested)
    assert found.kills == (0, 8)
    assert told["kills_per_day"] == pytest.approx(8 / 7)
    assert told["appeared"] == ["a new task"]
    assert told["vanished"] == ["task=5,a"]
    assert [one.key["user"] for one in found.worse] == ["user 3", "user 1"]
    runs = [int((which & (jobs.user == "user 1")).sum()) for which in (last, before)]
    assert worse_words(found.worse[1]).endswith(f": 8 of {runs[0]} runs killed, 0 of {runs[1]} before")
    taken = {one.advised.key["user"] for one in found.taken_up.rows if one.n_moved}
    assert taken == followers
    assert int(before.sum()) == found.compared.sides[0].totals.n_runs


def test_of_many_rows_that_go_on_as_before_none_got_worse_by_chance():
    rng = np.random.default_rng(0)
    n, keys = 6, 200
    start = MONDAY + np.repeat(np.arange(3), n * keys) * WEEK + rng.uniform(0, WEEK - 7200, 3 * n * keys)
    key, killed = np.tile(np.repeat(np.arange(keys), n), 3), rng.random(3 * n * keys) < 0.03
    use = np.where(killed, 10e9, np.minimum(4e9 * np.exp(0.3 * rng.standard_normal(len(key))), 9.9e9))
    jobs = pd.DataFrame({"user": [f"u{at}" for at in key], "submit_time_s": start, "start_time_s": start})
    jobs = jobs.assign(duration_s=3600.0, end_time_s=start + 3600, requested_memory_bytes=10e9, peak_memory_bytes=use)
    jobs = jobs.assign(status=np.where(killed, "OUT_OF_MEMORY", "COMPLETED"), finished=~killed)
    assert len(changes_of({"jobs": jobs}, ChangesSettings()).worse) <= 4
    jobs.loc[(jobs.start_time_s >= MONDAY + 2 * WEEK) & (jobs.user == "u7"), "requested_memory_bytes"] *= 2
    assert "u7" in {one.key["user"] for one in changes_of({"jobs": jobs}, ChangesSettings()).worse}


def test_runs_that_fail_at_once_are_told_and_move_no_median():
    jobs = trace(weeks=3, users=2).assign(status="COMPLETED")
    early = jobs.index[jobs.start_time_s >= MONDAY + 2 * WEEK][::3]
    jobs.loc[early, ["status", "finished", "duration_s", "peak_memory_bytes"]] = ["FAILED", False, 5.0, 1e8]
    jobs.loc[jobs.index[-1], "end_time_s"] = MONDAY + 3 * WEEK
    answer = changes_answer(changes_of({"jobs": jobs}, ChangesSettings()))
    assert answer.sentence.endswith(f"no run was killed, as before; {len(early):,} failed, {len(early):,} more.")
    (line,) = [one for one in answer.tables[0].rows if one.measure == "Failed"]
    assert (line.change_words, math.isnan(line.change)) == (f"+{len(early)}", True)
    assert "drift" not in {one.name for one in answer.tables}


@pytest.mark.parametrize(
    ("since", "moment", "expected"),
    [
        ("week", dt.datetime(2026, 2, 9, tzinfo=dt.UTC), "2026-02-02..2026-02-08"),
        ("week", dt.datetime(2026, 2, 8, 22, tzinfo=dt.UTC), "2026-01-26..2026-02-01"),
        ("week", dt.datetime(2026, 2, 8, 23, tzinfo=dt.UTC), "2026-02-02..2026-02-08"),
        ("month", dt.datetime(2026, 1, 31, 20, tzinfo=dt.UTC), "2026-01"),
        ("month", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), "2025-12"),
        ("month", dt.datetime(2026, 3, 31, tzinfo=dt.UTC), "2026-02"),
    ],
)
def test_the_last_period_is_a_full_one(since, moment, expected):
    assert last_period(since, moment.timestamp(), has_dates=True) == expected


def test_what_nobody_was_told_is_not_called_advice():
    found = realised_of(trace(weeks=3, users=1), (), "the verdict on runs before 5 Jan")
    assert not found.accepted and "moved as a plan on earlier runs says" in taken_up_words(found)
    assert "accepted rows taken up" in taken_up_words(replace(found, advice=ACCEPTED_ROWS))


def test_a_clock_without_dates_counts_weeks_from_day_0():
    assert last_period("week", 71.7 * 86_400, has_dates=False) == "63..70"
    assert last_period("month", 71.7 * 86_400, has_dates=False) == "28..56"


def test_a_trace_of_some_days_is_refused_in_words():
    jobs = trace(weeks=1, users=2)
    with pytest.raises(NotEnoughData, match=r"no run starts in .*; the newest moment is 2026-01-1.*workprof compare"):
        changes_of({"jobs": jobs}, ChangesSettings())


def test_an_end_that_the_import_found_far_after_all_others_is_no_newest_moment():
    jobs = trace(weeks=3, users=2)
    found = changes_of({"jobs": jobs}, ChangesSettings())
    jobs.loc[0, ["end_time_s", "duration_s"]] = [4.2e9, np.nan]
    assert changes_of({"jobs": jobs}, ChangesSettings()).periods == found.periods


def test_the_workbench_asks_the_verdict_of_then(tmp_path):
    jobs = trace()
    since = MONDAY + 5 * WEEK
    rows = verdict_of({"jobs": jobs[jobs.submit_time_s < since]}, VerdictSettings()).memory.rows
    after, _ = half_follow(jobs, since, rows)
    path = tmp_path / "jobs.csv"
    after.drop(columns="finished").assign(status="COMPLETED", job_name=[f"j{at}" for at in after.index]).to_csv(
        path, index=False
    )
    with Workbench(from_environment().at(tmp_path / "home")) as bench:
        dataset = bench.ingest([path]).hash
        found = bench.memory.realised(dataset, "2026-02-09")
        assert found.saved == pytest.approx(by_hand(jobs, after, since), rel=1e-6)
        with pytest.raises(SettingsError, match="give --since"):
            bench.memory.realised(dataset)
        row = next(row for row in bench.verdict(dataset).memory.rows if row.action == "lower")
        bench.decide(dataset, f"user={row.key['user']}".replace(" ", "%20"), "accepted")
        assert {one.state for one in bench.memory.realised(dataset).rows} == {NO_RUNS}
