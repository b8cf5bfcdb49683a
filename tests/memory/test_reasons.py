"""Why a number: the dots, the margin, the retry probability in words."""

import numpy as np
import pandas as pd
import pytest

from workprof.core.errors import SettingsError
from workprof.core.records import pack, unpack
from workprof.memory.plan import PlanSettings
from workprof.memory.why import ReasonSettings, size_reason_of

GB = 1e9


def jobs_of(n):
    used = np.random.default_rng(0).uniform(1, 4, n)
    table = pd.DataFrame({"task_name": "t", "peak_memory_bytes": used * GB, "requested_memory_bytes": 16 * GB})
    return table.assign(duration_s=60.0, submit_time_s=np.arange(n)[::-1])


def test_history_in_order_of_submission_and_margin():
    jobs = jobs_of(50)
    found = size_reason_of({"jobs": jobs}, ReasonSettings("t", PlanSettings(headroom=0.25, step_bytes=0.0)))
    assert found.used_gb.tolist() == pytest.approx((jobs["peak_memory_bytes"].to_numpy()[::-1] / GB).tolist())
    assert found.margin_share == pytest.approx(0.25)
    assert (found.requested_gb, found.planned.risk.n_tested) == (16.0, 40)
    assert "25.0 % lies above it" in found.sentences[1]
    assert "Retry probability: 0.0 %" in found.sentences[2]
    assert unpack(type(found), pack(found)).sentences == found.sentences


def test_a_size_below_the_largest_run_says_so():
    found = size_reason_of({"jobs": jobs_of(50)}, ReasonSettings("t", PlanSettings(sizes_bytes={"t": 2 * GB})))
    assert found.margin_share < 0
    assert "would have been tried again" in found.sentences[1]


def test_many_runs_are_thinned_and_the_largest_stay():
    jobs = jobs_of(20_000)
    found = size_reason_of({"jobs": jobs}, ReasonSettings("t"))
    assert len(found.order) <= 2_000
    largest = np.sort(jobs["peak_memory_bytes"].to_numpy() / GB)[-200:]
    assert set(largest.tolist()) <= set(found.used_gb.tolist())


def test_an_unknown_task_is_refused():
    with pytest.raises(SettingsError, match="no task"):
        size_reason_of({"jobs": jobs_of(20)}, ReasonSettings("x"))
    assert "No run could be tested" in size_reason_of({"jobs": jobs_of(1)}, without_request()).sentences[2]


def without_request():
    return ReasonSettings("t", PlanSettings(least_runs=1))
