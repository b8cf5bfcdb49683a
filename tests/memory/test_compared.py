"""The verdict among the policies: its own figures to the digit, and a loop over the runs for a policy."""

from dataclasses import replace

import numpy as np
import pytest

from tests.memory.test_verdict import jobs
from workprof.answers.policies import compared_answer, line_name, replay_answer
from workprof.core.units import format_share
from workprof.memory.compared import compared, replay_and_compare
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings, verdict_of

ASKED = ReplaySettings(policies=("preset", "p95", "oracle_exact"), prices_runs=())


def table(seed=3):
    """Return a trace whose runs wait before they start: what had ended by the start is not known at submission."""
    found = jobs(seed)
    rng = np.random.default_rng(seed)
    waits = rng.exponential(20_000, len(found))
    return found.assign(
        start_time_s=found["submit_time_s"] + waits, end_time_s=found["submit_time_s"] + waits + found["duration_s"]
    )


@pytest.fixture(scope="module")
def found():
    return compared({"jobs": table()}, ASKED)


def line(found, name, applied=""):
    return next(one for one in found.lines if (one.name, one.applied) == (name, applied))


@pytest.mark.parametrize("applied", ["table", "submission"])
def test_the_verdicts_lines_are_the_verdict(found, applied):
    memory = verdict_of({"jobs": table()}, VerdictSettings(applied=applied)).memory
    judged, ours = memory.judged, line(found, "verdict", applied)
    assert (ours.kills, found.n_runs) == (judged.kills, judged.n_runs)
    assert ours.saved_share == pytest.approx(judged.saved_share, rel=1e-12)
    assert ours.charged_gb_h == pytest.approx(judged.charged, rel=1e-12)
    assert found.booked_gb_h == pytest.approx(memory.today.booked, rel=1e-12)


@pytest.mark.slow
def test_a_policy_is_charged_as_a_loop_over_the_runs_does(found):
    """p95 of the runs of the task that had ended when a run was submitted; fewer than ten keep the request."""
    runs = table().sort_values("submit_time_s", kind="stable").reset_index(drop=True)
    runs = runs[runs["finished"]] if "finished" in runs else runs
    judged = runs.iloc[len(runs) // 2 :]
    charged, kills = 0.0, 0
    for at, run in judged.iterrows():
        peers = runs[(runs["task_name"] == run.task_name) & (runs["end_time_s"] <= run.submit_time_s)].drop(
            at, errors="ignore"
        )
        use, request = run.peak_memory_bytes / 1e9, run.requested_memory_bytes / 1e9
        size = request if len(peers) < 10 else np.quantile(peers["peak_memory_bytes"], 0.95) / 1e9
        killed = size < request and size < use
        kills += killed
        charged += (size + (max(request, use) if killed else 0)) * run.duration_s / 3600
    ours = line(found, "p95")
    assert ours.kills == kills > 0
    assert ours.charged_gb_h == pytest.approx(charged, rel=1e-6)


def test_the_requests_save_nothing_and_what_knows_the_use_says_so(found):
    today, exact = line(found, "preset"), line(found, "oracle_exact")
    assert (today.saved_share, today.kills, today.n_sized) == (0, 0, 0)
    assert exact.hindsight and exact.kills == 0
    answer = compared_answer(found)
    told = {row["name"]: row for row in answer.table().documents()}
    assert told["oracle, exact"]["how"] == "in hindsight: nothing that can be had"
    assert told["verdict, table"]["saved_share"] == line(found, "verdict", "table").saved_share
    assert len(answer.sentence.split()) <= 25
    assert f"the verdict saves {format_share(line(found, 'verdict', 'table').saved_share)} with" in answer.sentence
    saved = [one.saved_share for one in found.lines]
    assert saved == sorted(saved, reverse=True)
    assert line_name(found.lines[0]) == "oracle, exact"


def test_other_orders_are_not_compared():
    frames = {"jobs": table()}
    assert replay_and_compare(frames, ASKED).compared is not None
    assert replay_and_compare(frames, replace(ASKED, known="submitted")).compared is None
    assert compared({"jobs": table().drop(columns="requested_memory_bytes")}, ASKED) is None


def test_a_rule_that_is_chosen_on_the_runs_it_is_told_of_is_said_to_be():
    both = replay_and_compare({"jobs": table()}, ASKED)
    said = "2 rules and settings were tried on these runs; which is best is known only afterwards."
    assert said in replay_answer(both).notes
    one = replay_and_compare({"jobs": table()}, replace(ASKED, policies=("preset",)))
    assert not any("which is best" in note for note in replay_answer(one).notes)
