"""The recommendation: chosen on the past, judged on the future, never less waste than there is."""

import dataclasses
import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.memory.traces import NAMES, trace
from tests.shared_data import needs_shared_data
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.core.stats import saving_interval, wilson
from workprof.memory.advised_sizes import KEYS, OUTSIDE
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.charges import charge
from workprof.memory.orders import finished_order
from workprof.memory.policies import Workprof
from workprof.memory.recommend import (
    CHARGES_STEP,
    REQUESTS_UNCHANGED,
    Recommendation,
    RecommendationSettings,
    _none_fits,
    next_step,
    recommend,
    recommendation_of,
)
from workprof.memory.replay import replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings
from workprof.memory.size_lists import policy_sizes
from workprof.memory.trial import COLD_RUNS, FrontierSettings, Judged, frontier_charges_of
from workprof.memory.usage import runs_of
from workprof.memory.why import WhySettings, why

pytestmark = pytest.mark.slow

HOUR = 3600.0


def jobs(n=200, *, used=lambda i, draw: 1e9 * draw.uniform(0.9, 1.0), requested=8e9, **columns):
    """Return runs of one task, one an hour, one hour long; `used(i, draw)` in bytes."""
    draw = np.random.default_rng(3)
    start = np.arange(n) * HOUR
    table = {
        "row_id": np.arange(n),
        "task_name": "steady",
        "submit_time_s": start,
        "start_time_s": start,
        "end_time_s": start + HOUR,
        "duration_s": HOUR,
        "requested_memory_bytes": requested,
        "peak_memory_bytes": [used(i, draw) for i in range(n)],
    }
    return pd.DataFrame(table | columns)


def recommended(table, **given):
    return recommendation_of({"jobs": table}, RecommendationSettings(**given)).record


def second_half(table):
    return table.sort_values("start_time_s", kind="stable").iloc[len(table) // 2 :]


@needs_shared_data
@pytest.mark.parametrize("name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.slow) for name in NAMES[1:])])
def test_on_real_workflows_it_never_wastes_more_than_requested_or_keeps_the_requests(name):
    found = recommended(trace(name))
    rows = second_half(trace(name).dropna(subset=["peak_memory_bytes", "duration_s"]).query("peak_memory_bytes > 0"))
    hours = rows["duration_s"] / HOUR
    spare = (rows["requested_memory_bytes"] - rows["peak_memory_bytes"]).clip(lower=0) * hours / 1e9
    assert found.requested.wasted_gb_h == pytest.approx(spare.sum(), rel=1e-9)
    assert found.requested.charged_gb_h == pytest.approx((rows["requested_memory_bytes"] * hours).sum() / 1e9)
    assert found.requested.failures == 0
    assert found.recommended.wasted_gb_h <= found.requested.wasted_gb_h
    if found.kept:
        assert (found.setting, found.sizing, found.recommended) == (REQUESTS_UNCHANGED, None, found.requested)
    else:
        assert found.recommended.saved_share > 0
        assert found.interval.low > 0
        assert found.recommended.wasted_gb_h < found.requested.wasted_gb_h


def test_what_pays_is_recommended_with_its_figures_in_the_reason():
    found = recommended(jobs())
    assert not found.kept
    assert (found.n_past, found.n_judged) == (100, 100)
    assert found.judged_from_s == 100 * HOUR
    assert found.recommended.wasted_gb_h < 0.15 * found.requested.wasted_gb_h
    assert found.requested.charged_gb_h == pytest.approx(800)
    assert f"hold {100 * found.recommended.saved_share:.1f} % less memory" in found.reason
    assert f"{found.recommended.failures} kill" in found.reason.replace("no kill", "0 kill")
    charges = frontier_charges_of({"jobs": jobs()}, FrontierSettings())
    at = charges.sizing.index(found.sizing)
    again = saving_interval(charges.charged_gb_h[at][100:], np.full(100, 8.0))
    assert (found.interval.low, found.interval.high) == (again.low, again.high)


@pytest.mark.parametrize("by", ["task", "run"])
def test_without_room_for_the_charges_every_setting_is_replayed_anew_and_says_the_same(by, monkeypatch):
    frames, settings, shares = {"jobs": jobs()}, RecommendationSettings(by=by), []
    kept = recommendation_of(frames, settings)
    monkeypatch.setattr("workprof.memory.recommend.MOST_STORED_RUNS", 100)
    again = recommendation_of(frames, settings, lambda share, _: shares.append(share))
    assert (list(kept.extras), list(again.extras)) == ([CHARGES_STEP], [])
    assert pack(dataclasses.replace(again.record, seconds=kept.record.seconds)) == pack(kept.record)
    assert len(set(shares)) > 20
    assert shares == sorted(shares)


def test_requests_enforced_are_killed_doubled_and_charged():
    """Every fourth run uses 20 GB of 8: it is tried with 8, 16 and 32 GB; nobody is killed where requests only book."""
    found = recommended(jobs(used=lambda i, _: 20e9 if i % 4 == 0 else 1e9))
    assert (found.enforced.failures, found.enforced.killed_runs) == (50, 25)
    assert found.enforced.charged_gb_h == pytest.approx(75 * 8 + 25 * (8 + 16 + 32))
    assert found.enforced.saved_share == pytest.approx(1 - found.enforced.charged_gb_h / 800)
    assert (found.requested.failures, found.requested.charged_gb_h) == (0, pytest.approx(800))
    assert found.requested.wasted_gb_h == pytest.approx(75 * 7)


def test_the_choice_looks_at_the_past_alone():
    """Another second half changes what is judged, and nothing of what is chosen by."""
    same = recommended(jobs())
    other = recommended(jobs(used=lambda i, draw: 1e9 * draw.uniform(0.9, 1.0) * (1 if i < 100 else 0.5)))
    chosen = {one.setting: one.past for one in same.tried}
    assert {one.setting: one.past for one in other.tried} == chosen
    assert [one.setting for one in same.tried if one.chosen] == [one.setting for one in other.tried if one.chosen]
    fit = [one for one in same.tried if one.acceptable]
    (best,) = (one for one in same.tried if one.chosen)
    assert best.past.wasted_gb_h == min(one.past.wasted_gb_h for one in fit)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (jobs(40), "Only 20 runs could be judged"),
        (jobs(requested=1.001e9), "No setting with acceptable kills saves"),
        (jobs(used=lambda i, _: 1e9 * 1.03 ** max(i - 100, 0), requested=4e9), "would hold"),
        (jobs(used=lambda i, _: 4e9 if i in (50, 150) else 1e9), "Every setting kills more"),
        (jobs(used=lambda i, draw: 1e9 * (1.0 if i < 100 else 1.06 ** (i - 100)), requested=1e12), "more than chance"),
    ],
    ids=["few", "past", "future", "kills", "kills later"],
)  # fmt: skip
def test_where_nothing_pays_the_requests_are_kept_and_it_is_said_why(table, words):
    found = recommended(table)
    assert found.kept
    assert found.setting == REQUESTS_UNCHANGED
    assert words in found.reason
    assert found.recommended == found.requested
    assert all(one.kept for one in found.sizes)
    assert {one.size_bytes for one in found.sizes} == {one.requested_bytes for one in found.sizes}


def test_a_saving_that_is_not_sure_is_not_recommended():
    """One run of the second half holds most of what is requested, and saves; the others lose a little."""
    table = jobs(requested=1.01e9)
    table.loc[:99, "requested_memory_bytes"] = 8e9
    table.loc[150, ["requested_memory_bytes", "duration_s"]] = [8e9, 5 * HOUR]
    found = recommended(table, acceptable_kills="100%")
    (best,) = (one for one in found.tried if one.chosen)
    assert best.judged.saved_share > 0
    assert found.interval.low <= 0
    assert found.kept
    assert "is not sure" in found.reason


def test_what_more_kills_would_save_is_said():
    found = recommended(jobs(used=lambda i, draw: 4e9 if i in (50, 150) else 1e9 * draw.uniform(0.9, 1.0)))
    assert found.kept
    fewest = min(one.past.failures for one in found.tried)
    best = next_step(found.tried, found.acceptable_kills_past)
    of_fewest = [one for one in found.tried if one.past.failures == fewest]
    assert best.past.saved_share == max(one.past.saved_share for one in of_fewest)
    words = f"Accepting {fewest}.0 % kills would save {100 * best.judged.saved_share:.1f} %"
    assert words in found.reason


@pytest.mark.parametrize(("text", "kills"), [("3", 3.0), (" 3 ", 3.0), ("1%", 1.0), ("0.5 %", 0.5), ("0", 0.0)])
def test_acceptable_kills_are_a_number_or_a_share(text, kills):
    found = recommended(jobs(), acceptable_kills=text)
    assert found.acceptable_kills == pytest.approx(kills)
    assert all((one.past.failures <= kills) == one.acceptable for one in found.tried)


def test_unless_said_no_more_kills_than_requests_enforced_and_at_most_one_run_in_a_hundred():
    assert recommended(jobs()).acceptable_kills == 0
    killed = jobs(400, used=lambda i, draw: 9e9 if i % 4 == 0 else 1e9)
    assert recommended(killed).acceptable_kills == 2
    assert recommended(killed).enforced.failures == 50


@pytest.mark.parametrize("text", ["x", "-1", "3%%", "101%", "nan", "1e3"])
def test_other_words_are_refused(text):
    with pytest.raises(SettingsError, match="acceptable_kills"):
        RecommendationSettings(acceptable_kills=text)


@pytest.mark.slow
def test_a_cost_per_kill_and_acceptable_kills_are_two_views_of_one_choice():
    table = jobs(400, used=lambda i, draw: 4e9 if i % 20 == 19 else 1e9 * draw.uniform(0.7, 1.0))
    for kills in ("0", "5", "20", "100"):
        found = recommended(table, acceptable_kills=kills)
        low, high = found.cost_per_kill_gb_h
        if math.isnan(low) or found.kept:
            continue
        cost = low + 1 if math.isinf(high) else (low + high) / 2
        (by_cost,) = (one for one in recommended(table, cost_per_kill_gb_h=cost).tried if one.chosen)
        (by_kills,) = (one for one in found.tried if one.chosen)
        assert (by_cost.past.wasted_gb_h, by_cost.past.failures) == (by_kills.past.wasted_gb_h, by_kills.past.failures)
    dear = recommended(table, cost_per_kill_gb_h=1e6)
    free = recommended(table, cost_per_kill_gb_h=0.0)
    assert free.recommended.failures > dear.recommended.failures
    assert free.recommended.wasted_gb_h < dear.requested.wasted_gb_h


def test_runs_above_the_cap_are_said_first_and_count_nowhere():
    table = jobs(used=lambda i, draw: 50e9 if i % 50 == 7 else 1e9 * draw.uniform(0.9, 1.0))
    capped = FrontierSettings(retry=RetrySettings(cap_bytes=16e9))
    found = recommended(table, frontier=capped)
    assert found.never.n_runs == 4
    assert found.notes[0].startswith("4 runs can never run with at most 16 GB")
    assert found.n_past + found.n_judged == 196
    assert found.left_out["above the cap"] == 4
    assert found.requested.wasted_gb_h == pytest.approx(
        sum(8 - u / 1e9 for u in second_half(table[table["peak_memory_bytes"] < 16e9])["peak_memory_bytes"])
    )
    assert max(one.size_bytes for one in found.sizes) <= 16e9


def test_without_any_request_it_says_what_is_missing():
    with pytest.raises(NotEnoughData, match="requested_memory_bytes"):
        recommended(jobs(requested=np.nan))
    assert not recommended(jobs(requested=np.nan), frontier=FrontierSettings(request_bytes=8e9)).kept


def test_a_task_without_requests_counts_nowhere_and_that_is_said():
    one, other = jobs(), jobs(30, requested=np.nan).assign(task_name="unasked")
    found = recommended(pd.concat([one, other], ignore_index=True))
    assert found.left_out == {"no request in the task": 30}
    assert found.n_judged == 100
    (size,) = (one for one in found.sizes if one.key == "unasked")
    assert math.isnan(size.requested_bytes)


def test_sizes_of_tasks_are_tested_forward_by_the_task_alone():
    parts = [
        jobs(120, used=lambda i, draw, k=k: k * 1e9 * draw.uniform(0.8, 1.0)).assign(task_name=f"t{k}")
        for k in (1, 2, 3)
    ]
    table = pd.concat([*parts, jobs(4).assign(task_name="rare")], ignore_index=True)
    table["row_id"] = np.arange(len(table))
    found = recommended(table, acceptable_kills="20%")
    assert not found.kept
    sizes = {one.key: one for one in found.sizes}
    runs = runs_of(table)
    ordered = finished_order(runs, np.zeros(len(runs)), COLD_RUNS)
    alone = charge(Workprof(found.sizing), ordered, RetrySettings())
    later = np.isin(alone.rows, np.argsort(runs.start_s, kind="stable")[len(runs) // 2 :])
    for code, task in enumerate(runs.tasks):
        own = later & (runs.task[alone.rows] == code)
        if not sizes[task].kept:
            assert sizes[task].n_killed == (alone.failures[own] > 0).sum()
            assert sizes[task].wasted_gb_h == pytest.approx(alone.wasted_gb_h[own].sum())
    assert sum(one.n_tested for one in found.sizes) == found.n_judged
    for key in ("t1", "t2", "t3"):
        one = sizes[key]
        interval = wilson(one.n_killed, one.n_tested)
        assert not one.kept
        assert (one.kill_low, one.kill_high) == (interval.low, interval.high)
        assert one.size_bytes < 8e9
        assert one.requested_bytes == 8e9
    assert sizes["rare"].kept
    assert sizes["rare"].size_bytes == 8e9
    assert "4 runs" in sizes["rare"].why


def test_the_size_of_a_task_is_the_one_that_is_explained():
    found = recommended(jobs())
    (size,) = found.sizes
    told = why({"jobs": jobs()}, WhySettings("steady", sizing=found.sizing))
    assert size.size_bytes == pytest.approx(told.size_bytes, rel=0.02)


@needs_shared_data
def test_every_further_attempt_gets_more_than_the_one_before():
    sizes = recommended(trace("iwd"), acceptable_kills="5%").sizes
    assert any(not one.kept for one in sizes)
    for one in sizes:
        chain = [one.size_bytes, *one.next_bytes]
        assert all(later > earlier for earlier, later in itertools.pairwise(chain)), one.key


@pytest.mark.parametrize("by", KEYS)
def test_sizes_by_every_key(by):
    table = jobs(user=["ada", "bo"] * 100, group="lab", **{PROFILE_COLUMN: [0.0, np.nan] * 100})
    found = recommended(table, by=by)
    keys = {one.key for one in found.sizes}
    wanted = {"task": {"steady"}, "user": {"ada", "bo"}, "group": {"lab"}, "profile": {"P0", OUTSIDE}}
    assert keys == wanted.get(by, {str(row) for row in range(100, 200)})
    assert sum(one.n_tested for one in found.sizes) == 100
    assert found.recommended == recommended(table).recommended  # one recommendation, however it is listed
    if by == "run":
        assert sum(one.wasted_gb_h for one in found.sizes) == pytest.approx(found.recommended.wasted_gb_h)


@pytest.mark.parametrize("kills", ["", "20%"])
@pytest.mark.parametrize("by", KEYS)
def test_what_is_held_by_every_key_adds_up_to_the_recommendation(by, kills):
    table = jobs(user=["ada", "bo"] * 100, group="lab", **{PROFILE_COLUMN: [0.0, np.nan] * 100})
    found = recommended(table, by=by, acceptable_kills=kills)
    runs = {"task": {"steady": 100}, "user": {"ada": 50, "bo": 50}, "group": {"lab": 100}}
    keys = runs.get(by, {"P0": 50, OUTSIDE: 50} if by == "profile" else {"steady": 100})
    assert {one.key: one.n_runs for one in found.held} == keys
    assert sum(one.requested_gb_h for one in found.held) == pytest.approx(found.requested.charged_gb_h)
    assert sum(one.used_gb_h for one in found.held) == pytest.approx(found.used_gb_h)
    assert sum(one.recommended_gb_h for one in found.held) == pytest.approx(found.recommended.charged_gb_h)
    assert sum(one.kills for one in found.held) == found.recommended.failures
    assert sum(one.enforced_kills for one in found.held) == found.enforced.failures
    spare = [one.requested_gb_h - one.used_gb_h for one in found.held]
    assert spare == sorted(spare, reverse=True)


def test_a_key_that_the_table_lacks_is_refused():
    with pytest.raises(ColumnMissing, match="user"):
        recommended(jobs(), by="user")


def test_a_key_whose_sizes_lose_keeps_its_request():
    """One user of the task asks for a thousandth above the need, the other for eight times as much."""
    table = jobs(400, user=["close", "far"] * 200)
    table["requested_memory_bytes"] = np.where(table["user"] == "close", 1.001e9, 8e9)
    found = recommended(table, by="user")
    kept = {one.key: one.kept for one in found.sizes}
    assert kept == {"close": True, "far": False}


def whole(record):
    """Return every number of a record; NaN equals NaN."""
    packed = pack(record)
    arrays = {name: array.tobytes() for name, array in packed.arrays.items()}
    return json.dumps(packed.document, sort_keys=True), arrays


def test_from_kept_charges_it_is_the_same():
    frames, settings = {"jobs": jobs()}, RecommendationSettings(acceptable_kills="2%")
    made = recommendation_of(frames, settings)
    (charges,) = made.extras.values()
    again = recommend(frames, settings, unpack(type(charges), pack(charges)))
    assert whole(dataclasses.replace(again, seconds=0.0)) == whole(dataclasses.replace(made.record, seconds=0.0))


def test_it_is_kept_whole():
    found = recommended(jobs())
    assert whole(unpack(Recommendation, pack(found))) == whole(found)


def test_a_burst_is_named_and_can_be_left_out():
    """20 days of one short run an hour; on the tenth, 100 runs of a day each request half of all GB·h."""
    calm = jobs(480)
    burst = jobs(100).assign(task_name="campaign", duration_s=5 * HOUR)
    burst["submit_time_s"] = burst["start_time_s"] = 9 * 86400.0 + np.arange(100)
    table = pd.concat([calm, burst], ignore_index=True)
    found = recommended(table)
    assert [one.task for one in found.bursts] == ["campaign"]
    (one,) = found.bursts
    assert (one.n_runs, one.gb_h, one.day_s) == (100, pytest.approx(4000), 9 * 86400.0)
    assert one.share == pytest.approx(4000 / (4000 + 480 * 8))
    left = recommended(table, leave_out_bursts=True)
    assert left.left_out == {"in a burst": 100}
    assert left.n_past + left.n_judged == 480
    assert left.requested.charged_gb_h == pytest.approx(240 * 8)


def test_acceptable_kills_are_whole_in_the_reason():
    asked = RecommendationSettings(acceptable_kills="0.5%")
    before = [Judged(700, 1.0, 1.0, kills, kills, 0.0) for kills in (9, 5)]
    limit = asked.kills_of(700, 700)
    assert limit == 3.5
    words = (
        "Every setting kills more than the acceptable 3 on the first half of the runs; the most cautious has 5 kills"
    )
    assert _none_fits(before, limit, ()) == f"{words}."


def test_of_a_longer_trace_the_latest_runs_are_tried_and_the_others_counted():
    table = jobs(1_500).sample(frac=1, random_state=2).reset_index(drop=True)
    latest = table[table["start_time_s"] >= 500 * HOUR].reset_index(drop=True)
    few = FrontierSettings(latest_runs=1_000)
    for keys in (table, table.assign(start_time_s=np.nan)):
        result, wanted = recommended(keys, frontier=few), recommended(latest)
        assert result.left_out == {"a start before the latest 1,000 runs": 500}
        assert (result.recommended, result.sizes, result.n_judged) == (wanted.recommended, wanted.sizes, 500)
    charges = frontier_charges_of({"jobs": table}, few)
    settings = RecommendationSettings(frontier=few)
    assert recommend({"jobs": table}, settings, charges).left_out == result.left_out
    asked = ReplaySettings(policies=("krr", "workprof"), prices_runs=(), latest_runs=1_000)
    replayed, wanted = replay({"jobs": table}, asked), replay({"jobs": latest}, asked)
    assert replayed.left_out == result.left_out | wanted.left_out
    assert (replayed.n_test, replayed.policies["workprof"].failures) == (1_000, wanted.policies["workprof"].failures)
    assert replayed.policies["krr"].wasted_gb_h == pytest.approx(wanted.policies["krr"].wasted_gb_h)
    listed = policy_sizes({"jobs": table}, replace(asked, policies=("krr",)))
    assert listed.left_out["a start before the latest 1,000 runs"] == 500
    assert listed.sizes == policy_sizes({"jobs": latest}, replace(asked, policies=("krr",))).sizes
