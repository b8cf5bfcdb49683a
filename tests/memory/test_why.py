"""Why this number: the parts fit together."""

import numpy as np
import pandas as pd
import pytest

from workprof.answers.policies import why_answer
from workprof.core.answer import to_text
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.memory.policies import SizingSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RULES, RetrySettings
from workprof.memory.size_lists import policy_sizes
from workprof.memory.why import Why, WhySettings, why


def jobs(n=80):
    rng = np.random.default_rng(0)
    size = rng.lognormal(3, 1, n)
    return pd.DataFrame(
        {
            "task_name": ["a"] * (n - 2) + ["b"] * 2,
            "peak_memory_bytes": 1e9 * (0.5 + size / 10) * rng.lognormal(0, 0.05, n),
            "requested_memory_bytes": 64e9,
            "duration_s": rng.lognormal(5, 1, n),
            "submit_time_s": np.arange(n, dtype=float),
            "input_bytes": size * 1e6,
        }
    )


def test_parts_of_the_answer():
    found = why({"jobs": jobs()}, WhySettings("a"))
    assert (found.n_known, found.too_few, found.requested_bytes) == (78, False, 64e9)
    assert found.chosen.sum() == 1
    assert found.candidate_bytes[found.chosen][0] == found.size_bytes
    assert found.n_above == (jobs()["peak_memory_bytes"][:78] > found.size_bytes).sum()
    assert found.size_bytes <= found.last_bytes
    assert found.margin_share >= 0
    assert found.n_tried == 75
    assert found.odds_of_retry.low <= found.retried / found.n_tried <= found.odds_of_retry.high
    back = unpack(Why, pack(found))
    assert back.size_bytes == found.size_bytes


def test_runs_that_were_killed_for_memory_are_lower_bounds():
    killed = np.arange(80) % 4 == 0
    status = np.where(killed, "OUT_OF_MEMORY", "COMPLETED")
    most = {"peak_memory_bytes": 8e9, "requested_memory_bytes": 8e9}
    answer = why_answer(why({"jobs": jobs().assign(status=status, finished=~killed, **most)}, WhySettings("a")))
    assert answer.document["n_bounds"] == killed[:78].sum()
    assert "at least 0.0 % of the runs" in answer.sentence
    assert f"Of {killed[:78].sum()}, most killed for memory, only a lower bound is known." in answer.notes[0]
    assert "at least" not in why_answer(why({"jobs": jobs()}, WhySettings("a"))).sentence


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    "more", [{}, {"cap_bytes": 5e9}, {"floor_bytes": 20e9}, {"max_retries": 0}, {"max_retries": 1}]
)
def test_the_sizes_are_those_that_an_export_of_the_policy_lists(rule, more):
    retry = RetrySettings(rule=rule, **more)
    found = why({"jobs": jobs()}, WhySettings("a", retry=retry))
    (listed,) = (
        one
        for one in policy_sizes({"jobs": jobs()}, ReplaySettings(policies=("workprof",), retry=retry)).sizes
        if one.task == "a"
    )
    tried = [found.size_bytes, found.next_bytes, found.last_bytes]
    n = 1 + min(2, len(listed.next_bytes))
    assert tried[:n] == pytest.approx([listed.size_bytes, *listed.next_bytes][:n])
    assert np.isnan(tried[n:]).all()
    assert found.candidate_bytes[found.chosen][0] == found.size_bytes
    assert to_text(why_answer(found))


def test_a_larger_input_asks_for_more():
    sizes = [why({"jobs": jobs()}, WhySettings("a", "input_bytes", value)).size_bytes for value in (10e6, 30e6, 90e6)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > 2 * sizes[0]


def test_a_higher_price_lowers_the_odds():
    cheap, dear = (
        why({"jobs": jobs()}, WhySettings("a", sizing=SizingSettings(price_runs=price, by_input=False)))
        for price in (0.0, 100.0)
    )
    assert dear.size_bytes > cheap.size_bytes
    assert dear.retried < cheap.retried


def test_refusals():
    with pytest.raises(NotEnoughData, match="2 runs"):
        why({"jobs": jobs()}, WhySettings("b"))
    with pytest.raises(SettingsError, match="no task"):
        why({"jobs": jobs()}, WhySettings("c"))
    with pytest.raises(ColumnMissing, match="rchar"):
        why({"jobs": jobs()}, WhySettings("a", "rchar"))
    with pytest.raises(ColumnMissing, match="task_name has no numbers"):
        why({"jobs": jobs()}, WhySettings("a", "task_name"))
    with pytest.raises(SettingsError):
        WhySettings("a", "input_bytes", -1.0)
