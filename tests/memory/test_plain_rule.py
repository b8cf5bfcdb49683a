"""What the plain rule of sizing saves: on a trace by hand, on the real one, on the bundled sample."""

import pandas as pd
import pytest

from tests.memory.naive_plain_rule import judge
from tests.memory.traces import bundled, pai
from tests.shared_data import needs_shared_data


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
