"""What comes after a moment changes no size that was given by then, whichever the policy."""

import numpy as np
import pandas as pd
import pytest

from tests.memory.traces import NAMES, pai, trace
from tests.shared_data import needs_shared_data
from workprof.memory.charges import charges_of
from workprof.memory.policies import CAUTIOUS, OURS, POLICIES, SizingSettings
from workprof.memory.replay import ordered_runs
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.retry import RetrySettings

WAYS = {
    "from an input": {"input_column": "input_bytes"},
    "from no input": {"retry": RetrySettings(rule="request_x_attempt", time_to_failure=0.5)},
    "with an earlier trace": {"train": ("earlier",), "input_column": "input_bytes"},
    "soon sized": {"cold_runs": 2},
}
OF_OURS = {
    "dear kills": {"sizing": SizingSettings(price_runs=30.0)},
    "by task, dear kills": {"sizing": SizingSettings(price_runs=30.0, by_labels=False)},
    "cautious": {"sizing": CAUTIOUS, "input_column": "input_bytes"},
}


def made(n=200, seed=0):
    """Overlapping runs of four tasks, one of which comes late; some lack a request, an input, or were killed."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 20_000, n)) * 1.0
    seconds = rng.lognormal(6, 1, n).round()
    inputs = rng.lognormal(3, 1, n)
    task = np.where(start > 12_000, rng.choice(["a", "b", "late"], n), rng.choice(["a", "b", "c"], n))
    use = 1e9 * (0.5 + inputs / 10) * rng.lognormal(0, 0.3, n)
    table = pd.DataFrame(
        {
            "task_name": task,
            "user": rng.choice(["ann", "ben"], n),
            "requested_memory_bytes": rng.choice([8e9, 16e9, 64e9], n),
            "peak_memory_bytes": use,
            "duration_s": seconds,
            "submit_time_s": start,
            "start_time_s": start,
            "end_time_s": start + seconds,
            "input_bytes": np.where(task == "b", np.where(start > 9_000, inputs, 7.0), inputs),
            "finished": rng.random(n) > 0.05,
            "status": "COMPLETED",
        }
    )
    table.loc[~table["finished"], "status"] = "OUT_OF_MEMORY"
    table.loc[rng.random(n) < 0.3, "requested_memory_bytes"] = np.nan
    table.loc[rng.random(n) < 0.3, "input_bytes"] = np.nan
    return table


def other_future(jobs, origin_s, seed=1):
    """Return the table with other uses, durations and ends of runs that end after a moment, and all else of later ones.

    What ran then still ends after it; one in three of the later runs is gone, and one in five has no times.
    """
    rng, n = np.random.default_rng(seed), len(jobs)
    unknown, later = (jobs["end_time_s"] > origin_s).to_numpy(), (jobs["start_time_s"] > origin_s).to_numpy()
    end = np.maximum(origin_s, jobs["start_time_s"]) + rng.lognormal(5, 2, n)
    other = {
        "peak_memory_bytes": jobs["peak_memory_bytes"] * rng.lognormal(1, 2, n),
        "end_time_s": end,
        "duration_s": end - jobs["start_time_s"],
    }
    jobs = jobs.assign(**{name: np.where(unknown, values, jobs[name]) for name, values in other.items()})
    of_later = {
        "requested_memory_bytes": rng.choice([3e9, 11e9, np.nan], n),
        "input_bytes": rng.lognormal(6, 3, n),
        "rchar": rng.lognormal(20, 3, n),
        "user": rng.choice(["ann", "zoe"], n),
        "task_name": rng.permutation(jobs["task_name"]),
    }
    present = {name: values for name, values in of_later.items() if name in jobs.columns}
    jobs = jobs.assign(**{name: np.where(later, values, jobs[name]) for name, values in present.items()})
    timeless = later & (rng.random(n) < 0.2)
    jobs.loc[timeless, ["submit_time_s", "start_time_s", "end_time_s"]] = np.nan
    return jobs[~(later & (rng.random(n) < 1 / 3))]


def sizes_of(frames, asked, name):
    """Return row of the table -> first size, failures and GB·h of a run under a policy."""
    rows = frames["jobs"].index
    frames = {which: table.reset_index(drop=True) for which, table in frames.items()}
    if "finished" in frames["jobs"].columns:
        rows = rows[frames["jobs"]["finished"].to_numpy()]
    runs, orders = ordered_runs(frames, asked)
    (charges,) = charges_of((orders, asked), name)
    found = np.column_stack([charges.first_bytes, charges.failures, charges.charged_gb_h])
    return pd.DataFrame(found, index=rows[runs.rows[charges.rows]], columns=["first", "failures", "charged"])


def assert_no_look_ahead(frames, asked, name, share):
    """Check sizes of the runs that had started by a moment, and all charges of those that had ended."""
    jobs = frames["jobs"]
    origin_s = float(jobs["start_time_s"].quantile(share))
    before = sizes_of(frames, asked, name)
    after = sizes_of({**frames, "jobs": other_future(jobs, origin_s)}, asked, name)
    own = jobs["end_time_s"] if name.startswith("oracle") else jobs["start_time_s"]  # an oracle knows the run's own use
    started = before.index[(own[before.index] <= origin_s).to_numpy()]
    ended = before.index[(jobs["end_time_s"][before.index] <= origin_s).to_numpy()]
    assert len(ended) > 10
    assert before["first"][started].tolist() == after["first"][started].tolist()
    pd.testing.assert_frame_equal(before.loc[ended], after.loc[ended], check_exact=True)


CASES = [
    *(
        pytest.param(name, WAYS[way], id=f"{name}, {way}", marks=() if at % len(WAYS) == turn else pytest.mark.soak)
        for at, name in enumerate(POLICIES)
        for turn, way in enumerate(WAYS)
    ),
    *(pytest.param(name, OF_OURS[way], id=f"{name}, {way}") for name in OURS for way in OF_OURS),
]


@pytest.mark.some(14)
@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), CASES)
def test_no_later_run_changes_an_earlier_size(name, way):
    earlier = {"earlier": made(40, 7).assign(task_name="a")} if "train" in way else {}
    asked = ReplaySettings((name,), prices_runs=(), **way)
    for share in (0.3, 0.7):
        assert_no_look_ahead({"jobs": made(), **earlier}, asked, name, share)


def test_no_later_run_changes_the_price_of_a_kill():
    asked = ReplaySettings(("workprof",), prices_runs=(), sizing=SizingSettings(price_runs=1.0))
    assert_no_look_ahead({"jobs": made()}, asked, "workprof", 0.5)


def test_the_test_sees_a_look_ahead():
    """The published simplification, that a run is known once it is submitted, is one."""
    asked = ReplaySettings(("witt_lr",), prices_runs=(), input_column="input_bytes", known="submitted")
    with pytest.raises(AssertionError):
        assert_no_look_ahead({"jobs": made()}, asked, "witt_lr", 0.5)


@pytest.mark.soak
@needs_shared_data
@pytest.mark.slow
@pytest.mark.parametrize("which", ["pai", *(pytest.param(name, marks=pytest.mark.soak) for name in NAMES)])
def test_nor_does_it_on_real_traces(which):
    jobs = pai() if which == "pai" else trace(which)
    for name in POLICIES:
        asked = ReplaySettings(
            (name,),
            prices_runs=(),
            sizing=SizingSettings(price_runs=1.0),
            input_column="none" if which == "pai" else "rchar",
        )
        assert_no_look_ahead({"jobs": jobs}, asked, name, 0.5)
