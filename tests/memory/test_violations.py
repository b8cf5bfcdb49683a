"""The runs that a plan is too small for: against a slow version, and against what the plan itself counts."""

import numpy as np
import pandas as pd
import pytest

from workprof.charts.memory.policies import violations_sentence, violations_table
from workprof.core.errors import SettingsError
from workprof.core.records import pack, unpack
from workprof.core.units import GB
from workprof.memory.plan import PERCENTILE, RULES, PlanSettings, ViolationSettings, plan_of, violations_of

HALF = PlanSettings(rule=PERCENTILE, percentile=0.5, headroom=0.0)


def jobs(n=300, seed=0):
    random = np.random.default_rng(seed)
    used = random.lognormal(1.0, 0.8, n) * GB
    used[random.random(n) < 0.05] = np.nan
    return pd.DataFrame(
        {
            "row_id": np.arange(n) * 3,
            "task_name": random.choice(["one", "two", "three"], n),
            "peak_memory_bytes": used,
            "requested_memory_bytes": 8.0 * GB,
            "duration_s": random.uniform(10, 1000, n),
        }
    )


def slow(table, plan):
    """Return (row id, used, size) of every run above its size, by a loop over the rows."""
    sizes = {one.task: one.size_bytes for one in plan.tasks}
    found = []
    for row in table.to_dict("records"):
        if row["peak_memory_bytes"] > sizes[row["task_name"]]:
            found.append((row["row_id"], row["peak_memory_bytes"], sizes[row["task_name"]]))
    return sorted(found, key=lambda one: one[2] - one[1])


@pytest.mark.parametrize("rule", RULES)
def test_they_are_those_that_a_loop_finds(rule):
    table, settings = jobs(), PlanSettings(rule=rule, percentile=0.8, headroom=0.0)
    plan = plan_of({"jobs": table}, settings)
    found = violations_of({"jobs": table}, ViolationSettings(settings, most=10_000))
    expected = slow(table, plan)
    got = zip(found.row_ids.tolist(), found.used_bytes.tolist(), found.size_bytes.tolist(), strict=True)
    assert list(got) == expected
    assert found.n_above == len(expected) == sum(one.risk.n_above_in_history for one in plan.tasks)
    assert found.n_runs == sum(one.n for one in plan.tasks)


def test_the_worst_come_first_and_no_more_than_asked():
    found = violations_of({"jobs": jobs()}, ViolationSettings(HALF, most=7))
    assert len(found.row_ids) == 7 < found.n_above
    assert (np.diff(found.short_bytes) <= 0).all()
    assert (found.short_bytes > 0).all()
    assert "the worst 7 are listed" in violations_sentence(found)
    assert violations_table(found)["row_id"].tolist() == found.row_ids.tolist()


def test_the_largest_use_leaves_none():
    found = violations_of({"jobs": jobs()}, ViolationSettings())
    assert found.n_above == len(found.row_ids) == 0
    assert violations_sentence(found).startswith("None of")


def test_a_task_is_shown_by_its_end_with_the_full_name_beside_it():
    table = jobs().assign(task_name="FLOW:STEP")
    lines = violations_table(violations_of({"jobs": table}, ViolationSettings(HALF)))
    assert set(lines["task"]) == {"STEP"}
    assert set(lines["full_name"]) == {"FLOW:STEP"}


def test_the_record_is_kept_whole():
    found = violations_of({"jobs": jobs()}, ViolationSettings(HALF))
    again = unpack(type(found), pack(found))
    assert again.row_ids.tolist() == found.row_ids.tolist()
    assert again.settings == found.settings


@pytest.mark.parametrize("most", [0, 10_001])
def test_numbers_of_lines_that_make_no_sense_are_refused(most):
    with pytest.raises(SettingsError, match="most"):
        ViolationSettings(most=most)
