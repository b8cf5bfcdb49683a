"""Inputs of the network: what is kept, which way it points, numbers from 0 to 1 learned from training runs alone."""

import dataclasses

import numpy as np
import pytest

from tests.nodes.run_frames import real_runs, simulated
from tests.shared_data import needs_shared_data
from workprof.core.errors import NotEnoughData
from workprof.nodes.histories import first_share, run_table
from workprof.nodes.metrics import METRICS
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.preprocess import (
    direction_by_data,
    inputs_of,
    learn_preparation,
    learn_published,
    orientation_of,
    owned,
    published_table,
    reason_published,
    reason_to_drop,
)


@pytest.fixture(scope="module")
def table():
    return run_table(parse_runs(simulated(nodes=2, repeat=12, seed=3)))


def test_training_runs_fill_the_range_and_later_ones_change_nothing(table):
    train = np.flatnonzero(first_share(table, 0.6) & table.usable)
    preparation = learn_preparation(table, train)
    inputs, own = inputs_of(table, preparation.scaling), owned(table, preparation.scaling)
    seen = np.where(own[train], inputs[train], np.nan)
    np.testing.assert_allclose(np.nanmin(seen, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanmax(seen, axis=0), 1, atol=1e-12)
    later = table.values.copy()
    later[np.setdiff1d(np.arange(len(table)), train)] *= 7
    other = learn_preparation(dataclasses.replace(table, values=later), train)
    np.testing.assert_array_equal(other.scaling.low, preparation.scaling.low)
    np.testing.assert_array_equal(other.scaling.fill, preparation.scaling.fill)


def test_everything_is_kept_or_dropped_with_a_reason(table):
    preparation = learn_preparation(table, np.flatnonzero(table.usable))
    kept = [table.parsed.metrics[place] for place in preparation.scaling.position]
    assert sorted([*kept, *(one.name for one in preparation.dropped)]) == sorted(table.parsed.metrics)
    reasons = {one.name: one.reason for one in preparation.dropped}
    assert reasons["cpu-sysbench.num_threads"] == "fewer than 4 distinct values"
    assert reasons["network-qperf.tcp_bw_access_recv"] == "absent in training"
    assert "network-qperf.tcp_lat_latency" in kept, "seconds are not too small to vary"


def test_lower_is_better_is_turned_round(table):
    preparation = learn_preparation(table, np.flatnonzero(table.usable))
    inputs = inputs_of(table, preparation.scaling)
    names = [table.parsed.metrics[place] for place in preparation.scaling.position]
    rate, latency = names.index("cpu-sysbench.events_per_second"), names.index("cpu-sysbench.latency_avg")
    rows = np.flatnonzero(table.usable & (table.parsed.benchmark == "cpu-sysbench"))
    assert np.corrcoef(inputs[rows, rate], inputs[rows, latency])[0, 1] > 0.9
    for one in preparation.orientations:
        assert one.declared == METRICS[one.name].direction == one.used


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([np.nan, np.nan], "absent in training"),
        ([0.0, 0.0], "never above zero"),
        ([1.0, 2.0, 3.0], "fewer than 4 distinct values"),
        ([1.0, 1.001, 1.002, 1.003], "varies by less than 1%"),
        ([1e-6, 2e-6, 3e-6, 4e-6], ""),
    ],
)
def test_reasons(values, reason):
    assert reason_to_drop(np.array(values)) == reason


def test_the_guess_from_data_is_the_published_one():
    slow_tail = np.array([1.0, 1.1, 1.2, 5.0])  # like a latency
    assert direction_by_data("x", slow_tail) == "lower"
    assert direction_by_data("x", -slow_tail) == "higher"
    assert direction_by_data("a_msg_rate", slow_tail) == "higher"
    assert direction_by_data("bw_stdev_share", -slow_tail) == "lower"
    told = orientation_of("cpu-sysbench.events_per_second", slow_tail)
    assert (told.used, told.disagree) == ("higher", True)


def test_constant_runs_are_refused(table):
    with pytest.raises(NotEnoughData, match="no metric varies"):
        learn_preparation(table, np.flatnonzero(table.usable)[:1])


def test_published_values_are_rates_in_published_units(table):
    found = published_table(table)
    place = {name: number for number, name in enumerate(table.parsed.metrics)}

    def both(name):
        rows = np.isfinite(table.values[:, place[name]])
        return found.values[rows, place[name]], table.values[rows]

    told, ours = both("memory-sysbench.transfer_size")
    expected = ours[:, place["memory-sysbench.transfer_size"]] / ours[:, place["memory-sysbench.total_time"]] / 2**20
    np.testing.assert_allclose(told, expected)
    told, ours = both("network-qperf.tcp_bw_send_cost")
    np.testing.assert_allclose(told * ours[:, place["network-qperf.tcp_bw_send_cost"]], 1e-6)
    told, ours = both("network-iperf3.tx_c_transfer_size_sender")
    np.testing.assert_allclose(told, ours[:, place["network-iperf3.tx_c_transfer_size_sender"]] / 2 / 2**20)


def test_published_selection_loses_what_is_small_in_seconds():
    spread = np.array([1.0, 2.0, 3.0, 4.0])
    assert reason_published("disk-ioping.latency_avg", spread * 1e-4).startswith("standard deviation below 0.01")
    assert reason_published("disk-ioping.latency_avg", spread) == ""
    assert reason_published("disk-ioping.latency_min", spread) == "excluded by name"
    assert reason_published("cpu-sysbench.event_rate", spread) == "not one of the published metrics"


@needs_shared_data
def test_published_selection_keeps_about_as_many_as_the_paper():
    table = run_table(parse_runs(real_runs()))
    found = learn_published(published_table(table), np.flatnonzero(first_share(table, 0.6)))
    assert 48 <= len(found.orientations) <= 60  # the paper's 54, with or without the six types
    assert all(one.used == one.by_data for one in found.orientations)
