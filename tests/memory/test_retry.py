"""The one simulator: equal to a loop over runs, no integer products, the real ladder of killed attempts."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tests.memory.naive_replay import try_one_by_one
from tests.memory.traces import trace
from tests.shared_data import needs_shared_data
from workprof.core.errors import SettingsError
from workprof.core.units import GIB
from workprof.memory.retry import BEYOND, RULES, Demand, RetrySettings, Sizes, lifted_by, only, try_sizes

SIZE = st.floats(1e6, 1e11)


@settings(max_examples=200, deadline=None)
@given(
    runs=st.lists(st.tuples(SIZE, SIZE, SIZE, st.floats(0, 50)), min_size=1, max_size=20),
    beyond=st.sampled_from(BEYOND),
    tau=st.floats(0, 1),
    cap=st.one_of(st.none(), st.floats(1e8, 1e11)),
    retries=st.integers(0, 60),
)
def test_equals_the_loop(runs, beyond, tau, cap, retries):
    used, first, step, hours = (np.array(column) for column in zip(*runs, strict=True))
    sizes = Sizes(first, np.column_stack([step, np.full(len(step), np.nan)]), beyond)
    asked = RetrySettings(time_to_failure=tau, cap_bytes=cap, max_retries=retries)
    found, slow = try_sizes(Demand(used, hours), sizes, asked), try_one_by_one(used, hours, sizes, asked)
    np.testing.assert_allclose(found.charged_gb_h, slow["charged"], rtol=1e-12)
    np.testing.assert_allclose(found.wasted_gb_h, slow["wasted"], rtol=1e-9, atol=1e-9)
    assert found.failures.tolist() == slow["failures"]
    assert (found.n_never_fit, found.n_given_up) == (slow["never_fit"], slow["given_up"])
    assert np.isnan(found.final_bytes).sum() == found.n_never_fit + found.n_given_up


def test_charges_by_hand():
    """10 GB for 2 h at 4 GB, doubled: 4, 8, 16; two failures, (4 + 8 + 16) x 2 GB·h charged, 20 of them used."""
    demand = Demand(np.array([10e9]), np.array([2.0]))
    found = try_sizes(demand, only(np.array([4e9])), RetrySettings())
    assert (found.failures[0], found.charged_gb_h[0], found.wasted_gb_h[0], found.final_bytes[0]) == (2, 56, 36, 16e9)
    half = try_sizes(demand, only(np.array([4e9])), RetrySettings(time_to_failure=0.5))
    assert half.charged_gb_h[0] == (4 + 8) * 1 + 16 * 2


@pytest.mark.parametrize(
    ("rule", "final"),
    [
        ("double", 16e9),
        ("max_seen", 11e9),
        ("next_edge", 12e9),
        ("published", 12e9),
        ("request_x_attempt", 12e9),
        ("more", 4e9 * 1.2**6),
    ],
)
def test_rules(rule, final):
    own = Sizes(np.array([4e9]), np.array([[6e9, 12e9]]), "node")
    sizes = lifted_by(rule, own, np.array([11e9]))
    found = try_sizes(Demand(np.array([10e9]), np.array([1.0])), sizes, RetrySettings(rule=rule))
    assert found.final_bytes[0] == pytest.approx(final)
    assert rule in RULES


def test_more_adds_100_mib_to_small_sizes():
    found = try_sizes(Demand(np.array([150e6]), np.ones(1)), only(np.array([50e6]), "more"), RetrySettings())
    assert found.final_bytes[0] == 50e6 + 100 * 1024**2


def test_a_run_beyond_the_cap_is_counted_and_charged():
    demand = Demand(np.array([9e9, 1e9]), np.ones(2))
    found = try_sizes(demand, only(np.array([2e9, 2e9])), RetrySettings(cap_bytes=5e9))
    assert (found.n_never_fit, found.n_given_up) == (1, 0)
    assert found.failures.tolist() == [3, 0]  # 2, 4, 5 GB
    assert found.wasted_gb_h.tolist() == [11.0, 1.0]
    given_up = try_sizes(demand, only(np.array([2e9, 2e9])), RetrySettings(max_retries=1))
    assert (given_up.n_never_fit, given_up.n_given_up, given_up.failures[0]) == (0, 1, 2)


def test_sizes_below_zero_are_floored_and_end():
    found = try_sizes(Demand(np.array([1e9]), np.ones(1)), only(np.array([-5e9])), RetrySettings())
    assert found.final_bytes[0] >= 1e9
    assert found.wasted_gb_h[0] > 0


def test_no_integer_products():
    """Whole bytes and long hours as integers: bytes x ms would not fit 64 bits, let alone their sum."""
    used, hours = np.full(4, 2**45, dtype=np.int64), np.full(4, 2**31, dtype=np.int64)
    found = try_sizes(Demand(used, hours), only(np.full(4, 2**46, dtype=np.int64)), RetrySettings())
    assert found.charged_gb_h.sum() == pytest.approx(4 * 2.0**46 * 2.0**31 / 1e9)
    assert (found.wasted_gb_h > 0).all()


@needs_shared_data
def test_the_real_ladder_of_markduplicates():
    """16 GiB x attempt: 10 first attempts fail and one second one, and every run ends at the size in the table."""
    jobs = trace("eager")
    rows = jobs[jobs["task_name"] == "markduplicates"]
    demand = Demand(rows["peak_memory_bytes"].to_numpy(float), rows["duration_s"].to_numpy(float) / 3600)
    sizes = lifted_by("request_x_attempt", only(np.full(len(rows), 16.0 * GIB)), np.full(len(rows), np.nan))
    found = try_sizes(demand, sizes, RetrySettings(rule="request_x_attempt"))
    assert ((found.failures >= 1).sum(), (found.failures >= 2).sum(), found.failures.sum()) == (10, 1, 11)
    assert found.final_bytes.tolist() == rows["requested_memory_bytes"].tolist()
    assert (found.failures + 1).tolist() == rows["attempt"].tolist()


@pytest.mark.parametrize(
    "wrong",
    [{"rule": "hope"}, {"time_to_failure": 2.0}, {"cap_bytes": 0.0}, {"max_retries": -1}, {"node_bytes": 0.0}],
)
def test_settings_are_checked(wrong):
    with pytest.raises(SettingsError):
        RetrySettings(**wrong)
