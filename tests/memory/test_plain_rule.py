"""What the plain rule of sizing saves: on a trace by hand, on the real one, on the bundled sample."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.memory.naive_plain_rule import judge
from tests.memory.traces import bundled, pai
from tests.shared_data import needs_shared_data
from workprof.answers.verdict import document, notes, plain_sentence
from workprof.memory.origins import APPLIED, PLAIN_RULES, TABLE, PlainPoint
from workprof.memory.verdict import VerdictSettings, verdict_of


def trace(uses, request=10.0, seconds=3600.0, apart=7200.0):
    """Runs of one key, one after the other."""
    start = [apart * place for place in range(len(uses))]
    return pd.DataFrame(
        {
            "task_name": "a",
            "requested_memory_bytes": request,
            "peak_memory_bytes": uses,
            "start_time_s": start,
            "end_time_s": [one + seconds for one in start],
            "duration_s": seconds,
        }
    )


def test_a_steady_key_is_sized_by_its_largest_known_use():
    judged = judge(trace([4.0] * 20), 5, 1.25)
    assert (judged.runs, judged.kills) == (10, 0)
    assert judged.saved_share == pytest.approx(0.5)


def test_a_killed_run_is_charged_its_size_and_then_its_request_and_the_key_waits():
    judged = judge(trace([4.0] * 10 + [8.0] + [4.0] * 9), 5, 1.25)
    assert judged.kills == 1
    assert judged.saved_share == pytest.approx(1 - (5 + 10 + 9 * 10) / 100)  # 11 more would have to end


def test_sizes_go_up_to_the_request_and_use_above_it_is_no_kill():
    judged = judge(trace([9.0] * 10 + [12.0] * 10), 5, 1.25)
    assert (judged.kills, judged.saved_share) == (0, 0.0)


def test_runs_that_are_submitted_together_do_not_know_each_other():
    assert judge(trace([4.0] * 20, apart=0.0), 5, 1.25).saved_share == 0.0


def test_a_submission_counts_where_the_trace_has_it():
    assert judge(trace([4.0] * 20).assign(submit_time_s=0.0), 5, 1.25).saved_share == 0.0


def test_fixed_sizes_know_what_had_ended_at_their_origin():
    judged = judge(trace([2.0] * 10 + [2.4] * 10), 5, 1.25, table=True)
    assert judged.kills == 0
    assert judged.saved_share == pytest.approx(1 - (2 * 2.5 + 8 * 3) / 100)  # origins at the runs 10, 12, 15 and 17


@needs_shared_data
@pytest.mark.parametrize("table", [False, True])
def test_half_of_the_real_trace_is_saved_without_a_kill(table):
    judged = judge(pai(), 5, 1.25, table=table)
    assert (judged.runs, judged.kills) == (343, 0)
    assert judged.saved_share == pytest.approx(0.51, abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize("table", [False, True])
def test_a_third_of_the_bundled_sample_is_saved_with_few_kills(table):
    judged = judge(bundled(), 5, 1.25, table=table)
    assert judged.runs == 7_500
    assert 0.28 < judged.saved_share < 0.45
    assert 0 < judged.kills < 0.002 * judged.runs


def random_trace(seed, n=400):
    """Runs of eight keys whose uses vary and grow, many submitted at once, which are sorted as the verdict has them."""
    draw = np.random.default_rng(seed)
    request = draw.choice([4e9, 8e9], n)
    start = np.sort(draw.integers(0, 100, n) * 1000.0)
    seconds = draw.choice([600.0, 3600.0, 9000.0], n)
    return pd.DataFrame(
        {
            "user": draw.choice(["ann", "bob"], n),
            "task_name": draw.choice(["a", "b"], n),
            "requested_memory_bytes": request,
            "peak_memory_bytes": request * np.minimum(draw.lognormal(-3, 0.4, n) * np.linspace(1, 6, n), 1.0),
            "start_time_s": start,
            "end_time_s": start + seconds,
            "duration_s": seconds,
        }
    ).sort_values(["start_time_s", "end_time_s", "peak_memory_bytes", "requested_memory_bytes"], ignore_index=True)


@pytest.mark.parametrize("applied", APPLIED)
@pytest.mark.parametrize("seed", range(3))
def test_plain_rules_beside_the_verdict_save_what_the_slow_one_does(seed, applied):
    jobs = random_trace(seed)
    found = verdict_of({"jobs": jobs}, VerdictSettings(applied=applied)).memory.plain
    assert [(one.least, one.times) for one in found] == list(PLAIN_RULES)
    slow = [judge(jobs, least, times, table=applied == TABLE) for least, times in PLAIN_RULES]
    assert [one.kills for one in found] == [one.kills for one in slow]
    assert [one.saved_share for one in found] == pytest.approx([one.saved_share for one in slow], abs=1e-12)
    assert len({one.kills for one in found}) > 2


@pytest.mark.parametrize(
    ("above", "words"),
    [
        (0.1, " uses. That is more than the plan saves."),
        (-0.1, "with no kill: "),
        (None, "None of 2 plain rules saves any"),
    ],
)
def test_a_plain_rule_that_saves_more_is_called_that(above, words):
    verdict = verdict_of({"jobs": random_trace(0)}, VerdictSettings())
    ours = verdict.memory.judged
    kills = 0 if above is not None else ours.kills + 1
    plain = (PlainPoint(5, 1.5, ours.saved_share + (above or 0.1), kills), PlainPoint(10, 2.0, 0.9, ours.kills + 1))
    said = plain_sentence(replace(verdict.memory, plain=plain))
    assert words in said and ("1.5 times the largest of 5 known uses" in said) is (above is not None)
    assert plain_sentence(verdict.memory) in notes(verdict)
    assert [one["failures"] for one in document(verdict)["plain_rules"]] == [one.kills for one in verdict.memory.plain]
