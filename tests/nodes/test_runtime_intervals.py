"""Intervals of a runtime on another machine: coverage where it is known and on real reports, refusals."""

import numpy as np
import pytest

from tests.nodes.test_transfer import SPEEDS, scores
from tests.nodes.transfer_reports import MACHINES, lotaru_reports, planted
from tests.shared_data import needs_shared_data
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.nodes.runtime_factors import PUBLISHED_SCORES
from workprof.nodes.runtime_intervals import PastErrors, coverage, past_errors, spread
from workprof.nodes.transfer import TransferSettings, transfer


def past_of(errors, n_workflows=4, n_targets=2):
    place = np.arange(len(errors))
    return PastErrors(
        np.asarray(errors, float),
        np.ones(len(errors), bool),
        np.char.add("flow", (place % n_workflows).astype(str)),
        np.char.add("machine", (place // n_workflows % n_targets).astype(str)),
        0,
    )


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9])
def test_intervals_hold_what_they_promise_where_errors_are_alike(confidence):
    found = coverage(past_of(np.random.default_rng(0).standard_t(3, 8000)), confidence)
    assert found.share == pytest.approx(confidence, abs=0.02)
    assert found.n == 8000
    assert found.held_out == "workflow and target"


def test_an_interval_never_sees_its_own_workflow_or_target():
    errors = np.random.default_rng(0).normal(0, 0.1, 800)
    past = past_of(errors)
    odd = past.workflow == "flow0"
    found = coverage(past_of(np.where(odd, 5 + errors, errors)), 0.9)
    assert found.share == pytest.approx(0.75 * 1.0, abs=0.06)  # none of the odd quarter; the others' are wide
    one_target = coverage(past_of(errors, n_targets=1), 0.9)
    assert one_target.held_out == "workflow"


@pytest.mark.slow
@needs_shared_data
@pytest.mark.parametrize("local", MACHINES)
def test_coverage_on_real_reports_is_near_what_was_asked_for(local):
    targets = tuple(name for name in MACHINES if name != local)
    found = transfer(lotaru_reports(), PUBLISHED_SCORES, TransferSettings(local, targets))
    past = past_errors(found)
    assert past.n_not_positive == 0
    for confidence in (0.5, 0.8, 0.9):
        told = coverage(past, confidence)
        assert told.share == pytest.approx(confidence, abs=0.05)
        assert told.n + told.n_without == 424


def test_an_interval_needs_errors_beyond_its_ends():
    errors = np.linspace(-1, 1, 19)
    low, high = spread(past_of(errors), True, 0.9)
    assert (low, high) == pytest.approx((np.exp(-1), np.exp(1)))
    with pytest.raises(NotEnoughData, match="needs 19 earlier predictions from lines, here are 18"):
        spread(past_of(errors[:18]), True, 0.9)
    few = coverage(past_of(errors), 0.9)
    assert np.isnan(few.share)
    assert few.n_without == 19


def test_past_errors_need_our_factor():
    found = transfer(planted(SPEEDS), scores(SPEEDS), TransferSettings("home", ("fast",), ("none",)))
    with pytest.raises(SettingsError, match="it was not requested"):
        past_errors(found)
