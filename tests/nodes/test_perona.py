"""Windows and edges: which runs may be looked at, against a slow and obvious version; nothing leaks from later runs.

A run far outside the range of training has an edge, and is counted.
"""

import dataclasses

import numpy as np
import pytest

from tests.nodes.run_frames import simulated
from workprof.nodes.baselines import best_feature_weights
from workprof.nodes.detection_data import detection_data, stratified_folds, time_blocks
from workprof.nodes.histories import Histories, first_share, rounds, run_table, with_history
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.perona import (
    BETWEEN,
    INPUT_MARGIN,
    edge_mask,
    edges_of,
    learn_host_scaling,
    learn_window_reader,
    read_windows,
    windows_of,
)


@pytest.fixture(scope="module")
def table():
    return run_table(parse_runs(simulated(nodes=2, repeat=12, seed=3)))


def earlier_in_cell(table, row):
    """By looking at every run."""
    names = [(table.parsed.node[i], table.parsed.benchmark[i], table.parsed.parameters[i]) for i in range(len(table))]
    before = [
        i
        for i in range(len(table))
        if names[i] == names[row] and table.usable[i] and table.parsed.started_s[i] < table.parsed.started_s[row]
    ]
    return sorted(before, key=lambda i: table.parsed.started_s[i])


def test_windows_hold_the_last_three_normal_runs(table):
    normal, histories = table.label == 0, Histories(table)
    rows = with_history(histories, np.flatnonzero(table.usable), normal)
    found = windows_of(histories, rows, normal)
    n_judged = 0
    for row in np.flatnonzero(table.usable).tolist():
        past = earlier_in_cell(table, row)
        good = [i for i in past if table.label[i] == 0]
        if len(good) < 3:
            assert row not in rows
            continue
        window = rows.tolist().index(row)
        members = [*good[-3:], row]
        assert found.rows[window].tolist() == members
        chain = [*past, row]
        for b in range(4):
            at = chain.index(members[b])
            assert found.before[window, b] == (-1 if b == 0 else float(table.label[chain[at - 1]] == 1))
            for a in range(b):
                between = chain[chain.index(members[a]) + 1 : at]
                assert found.between[window, b, a] == sum(table.label[i] == 1 for i in between)
        n_judged += 1
    assert n_judged == len(rows) > 50


def test_as_published_anomalous_runs_are_looked_for_inside_the_window_where_there_are_none(table):
    normal, histories = table.label == 0, Histories(table)
    rows = with_history(histories, np.flatnonzero(table.usable), normal)
    found, ours = (windows_of(histories, rows, normal, published=published) for published in (True, False))
    np.testing.assert_array_equal(found.rows, ours.rows)
    assert (found.before == [-1, 0, 0, 0]).all()
    assert (found.between == np.where(np.tri(4, k=-1, dtype=bool), 0, -1)).all()
    assert (ours.before[:, 1:] == 1).any() and (ours.between > 0).any()


def test_as_published_every_number_of_an_edge_is_scaled_over_the_training_windows(table):
    data = detection_data(table, first_share(table, 0.6), 0)
    reader = learn_window_reader(data, None)
    inputs = read_windows(data, reader, data.rows, data.known_normal)
    edges = inputs.edges[inputs.mask]
    np.testing.assert_allclose(edges.min(axis=0), 0, atol=1e-12)
    assert (edges.max(axis=0) <= 1 + 1e-12).all()
    assert np.isclose(edges.max(axis=0), 1).sum() > edges.shape[1] // 2


def test_a_window_of_normal_runs_has_ten_edges():
    mask = edge_mask(np.array([[True, True, True, False], [True, False, True, True]]))
    assert mask[0].sum() == 10
    assert (mask[0].sum(axis=1) == [1, 2, 3, 4]).all(), "only the last run has three predecessors"
    assert not mask[1][2:, 1].any(), "nothing comes from an anomalous run"
    assert mask[1][1, 1]


def test_edges_hold_hosts_closeness_and_time(table):
    histories, normal = Histories(table), table.label == 0
    rows = with_history(histories, np.flatnonzero(table.usable), normal)
    windows = windows_of(histories, rows, normal)
    scaling = learn_host_scaling(table, np.flatnonzero(table.usable), inverted=False)
    edges = edges_of(table, windows, scaling)
    n_host = table.host.shape[1]
    assert edges.shape == (len(rows), 4, 4, 2 * n_host + BETWEEN)
    assert np.isfinite(edges).all()
    assert edges[0, 3, 0, n_host] == 0.5**3
    started = table.parsed.started_s[windows.rows[0]]
    for place, unit in enumerate((60, 3600, 86400, 604800)):
        expected = 1 / 2 ** np.log(1 + (started[3] - started[1]) / unit)
        assert edges[0, 3, 1, n_host + 3 + place] == pytest.approx(expected)
    np.testing.assert_array_equal(edges[0, 2, 1, :n_host], edges[0, 1, 0, n_host + BETWEEN :])


def test_first_share_is_first_in_time_and_rounded_down(table):
    first = first_share(table, 0.6)
    for group in np.unique(table.group):
        rows = np.flatnonzero(table.group == group)
        assert first[rows].sum() == int(0.6 * len(rows))
        assert table.parsed.started_s[rows[first[rows]]].max() < table.parsed.started_s[rows[~first[rows]]].min()


def test_rounds_take_every_run_once_and_each_cell_once_a_round(table):
    rows = np.flatnonzero(~first_share(table, 0.6) & table.usable)
    turns = rounds(table, rows)
    assert sorted(np.concatenate(turns).tolist()) == rows.tolist()
    assert all(len(set(table.cell[turn].tolist())) == len(turn) for turn in turns)
    assert rounds(table, rows[:0]) == []


def test_dealt_folds_are_even_in_every_stratum():
    strata = np.repeat([0, 1, 2], [20, 9, 2])
    fold = stratified_folds(strata, 3, seed=1)
    assert np.bincount(fold, minlength=3).max() - np.bincount(fold, minlength=3).min() <= 1
    for stratum in range(3):
        counts = np.bincount(fold[strata == stratum], minlength=3)
        assert counts.max() - counts.min() <= 1


def test_later_folds_are_later():
    cells, order = np.repeat([0, 1], [13, 3]), np.random.default_rng(0).permutation(16)
    block = time_blocks(cells, order, 2)
    assert set(block[cells == 0].tolist()) == {0, 1, 2}
    for cell in (0, 1):
        by_time = block[cells == cell][np.argsort(order[cells == cell])]
        assert (np.diff(by_time) >= 0).all()


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
