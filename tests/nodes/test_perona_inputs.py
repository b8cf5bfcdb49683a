"""What the network is given to restore: a run far outside the range of training has an edge, and is counted."""

import dataclasses

import numpy as np
import pytest

from tests.nodes.run_frames import simulated
from workprof.nodes.baselines import best_feature_weights
from workprof.nodes.detection_data import detection_data
from workprof.nodes.histories import first_share, run_table
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.perona import INPUT_MARGIN, learn_window_reader


@pytest.fixture(scope="module")
def table():
    return run_table(parse_runs(simulated(nodes=2, repeat=12, seed=3)))


@pytest.mark.slow
def test_a_later_run_far_outside_meets_an_edge_and_nothing_else_moves(table):
    train = first_share(table, 0.6)
    data = detection_data(table, train, 0)
    before = learn_window_reader(data, best_feature_weights(data, 0))
    later = int(np.flatnonzero(~train & table.usable)[-1])
    values = table.values.copy()
    values[later] *= 1e6
    far = learn_window_reader(
        dataclasses.replace(data, table=dataclasses.replace(table, values=values)), before.feature_weights
    )
    assert far.n_outside[later] > before.n_outside[later]
    assert np.abs(far.targets - 0.5).max() <= 0.5 + INPUT_MARGIN + 1e-12
    others = np.delete(np.arange(len(table)), later)
    np.testing.assert_array_equal(far.targets[others], before.targets[others])


def test_the_published_inputs_have_no_edge(table):
    train = first_share(table, 0.6)
    values = table.values.copy()
    values[np.flatnonzero(~train & table.usable)[-1]] *= 1e6
    reading = learn_window_reader(detection_data(dataclasses.replace(table, values=values), train, 0), None)
    assert reading.n_outside.sum() == 0
    assert np.abs(reading.targets).max() > 1 + INPUT_MARGIN
