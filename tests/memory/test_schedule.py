"""A schedule equals one that is made moment by moment, finds the nodes that were planted, and leaves nothing out."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.memory.naive_schedule import simulate
from workprof.answers.decisions import EVERY_ROW
from workprof.answers.schedule import schedule_answer, schedule_sentence
from workprof.charts.memory.schedule import waits_chart
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.units import GB, HOUR_S
from workprof.memory import schedule_kernels
from workprof.memory.chargeback import ChargebackSettings, chargeback_of
from workprof.memory.resources import resources_of
from workprof.memory.schedule import ALL, LATER, OWN, PLACES, SIZED, Cluster, ScheduleSettings, _kinds, schedule_of
from workprof.memory.verdict import VerdictSettings, verdict_of

BEGIN = 1_760_000_000.0


def small_cluster(rng):
    n, n_nodes = int(rng.integers(1, 26)), int(rng.integers(1, 6))
    has = np.array([rng.integers(2, 9), rng.integers(1, 5) * 2, rng.integers(0, 3)], dtype=np.int64)
    nodes = np.repeat(has[None], n_nodes, axis=0)
    if rng.random() < 0.5:  # of several kinds, the largest last; every part fits there, and as many as it is
        nodes = np.sort(rng.integers(0, has + 1, (n_nodes, 3)), axis=0)
        nodes[-1] = has
    lasts = rng.integers(0, 12, n).astype(float)
    need, retry = (np.stack([rng.integers(0, one + 1, n) for one in has], axis=1) for _ in range(2))
    return (
        np.sort(rng.integers(0, 30, n)).astype(float),
        lasts,
        np.where(rng.random(n) < 0.2, np.inf, np.maximum(0, lasts + rng.integers(-3, 6, n))),
        need.astype(np.int64),
        retry.astype(np.int64),
        rng.random(n) < 0.2,
        np.where((rng.random(n) < 0.2) & (nodes == has).all(), rng.integers(1, n_nodes + 1, n), 1).astype(np.int64),
        nodes.astype(np.int64),
        n_nodes,
    )


def slow_starts(arrays, place, backfill, sample):
    submit, lasts, expected, need, retry, killed, parts, has, n_nodes = arrays
    runs = [
        (submit[at], lasts[at], expected[at], need[at], retry[at] if killed[at] else None, int(parts[at]))
        for at in range(len(submit))
    ]
    return simulate(runs, n_nodes, has, place, backfill, sample)


def kernel_arrays(arrays):
    return (*arrays[:3], np.concatenate(arrays[3:5]), *arrays[5:-1])


def compare(seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        arrays = small_cluster(rng)
        place, backfill, sample = seed % 3, bool(rng.integers(2)), int(rng.integers(1, 5))
        start = np.full((2, len(arrays[0])), np.nan)
        schedule_kernels.replay(*kernel_arrays(arrays), np.array([place, backfill, sample]), start)
        ours = [tuple(None if math.isnan(one) else one for one in run) for run in start.T]
        assert ours == slow_starts(arrays, PLACES[place], backfill, sample), (seed, PLACES[place], backfill)


def test_a_schedule_is_that_of_a_loop_over_moments():
    compare(range(60))


@pytest.mark.slow
def test_a_thousand_small_clusters_are_scheduled_as_by_a_loop_over_moments():
    compare(range(60, 1060))


def trace(submit, hours, gb, **more):
    start = BEGIN + np.asarray(submit, dtype=float)
    seconds = np.asarray(hours, dtype=float) * HOUR_S
    return pd.DataFrame(
        {
            "user": "ann",
            "task_name": "t",
            "status": "COMPLETED",
            "finished": True,
            "submit_time_s": start,
            "start_time_s": start,
            "end_time_s": start + seconds,
            "duration_s": seconds,
            "requested_memory_bytes": np.asarray(gb, dtype=float) * GB,
            **more,
        }
    )


def asked(jobs, **settings):
    return schedule_of({"jobs": jobs}, ScheduleSettings(**settings))


def random_trace(seed, n=200):
    rng = np.random.default_rng(seed)
    submit = np.sort(rng.uniform(0, 20 * HOUR_S, n))
    return trace(
        submit, rng.lognormal(-1, 1, n), rng.integers(1, 17, n), requested_cpu_percent=rng.integers(1, 9, n) * 100.0
    )


def waits(jobs, n_nodes, memory_gb):
    """In order, first fit, by the loop over moments."""
    runs = [
        (row.submit_time_s, row.duration_s, math.inf, (round(row.requested_memory_bytes),), None, 1)
        for row in jobs.itertuples()
    ]
    return [
        start - run[0] for (start, _), run in zip(simulate(runs, n_nodes, (round(memory_gb * GB),)), runs, strict=True)
    ]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("order", ["fifo", "backfill"])
def test_on_nodes_without_end_every_run_starts_when_it_is_submitted(place, order):
    found = asked(random_trace(1), nodes=500, memory_bytes=16e9, cpus=8.0, place=place, order=order)
    assert found.outcomes[0].waits.mean_s == 0


def streams(n_streams, n_each, gb, use_gb):
    """Runs of an hour, one after the other in each stream: as many at any moment as there are streams."""
    submit = np.repeat(np.arange(n_each) * HOUR_S, n_streams)
    rng = np.random.default_rng(0)
    use = use_gb * rng.uniform(0.9, 1.0, len(submit)) * GB
    return trace(submit, np.ones(len(submit)), np.full(len(submit), gb), peak_memory_bytes=use)


def test_planted_nodes_are_found_as_requested_and_with_the_plan():
    jobs = streams(12, 60, 32, 7)
    found = asked(jobs, memory_bytes=64e9, most_wait_min=0.0)
    assert found.needed.nodes == 6  # two at a time on a node
    assert found.outcome(LATER).needed.nodes == 6
    sizes = [row.size for row in verdict_of({"jobs": jobs}, VerdictSettings()).memory.rows]
    assert max(sizes) < 64 / 5
    assert found.outcome(SIZED).needed.nodes == math.ceil(12 / (64 // max(sizes)))
    assert found.saved == 6 - found.outcome(SIZED).needed.nodes >= 3
    assert found.needed.monotone
    assert asked(streams(5, 40, 64, 60), memory_bytes=64e9).needed.nodes == 5


def test_the_fewest_nodes_are_those_that_trying_each_number_finds():
    for seed in range(6):
        jobs = random_trace(seed, 80).drop(columns="requested_cpu_percent")
        found = asked(jobs, memory_bytes=16e9, most_wait_min=30.0)
        tried = {
            n: np.quantile(waits(jobs, n, 16), 0.95, method="inverted_cdf") for n in range(1, found.needed.nodes + 4)
        }
        suffice = [n for n, wait in tried.items() if wait <= 1800]
        assert found.needed.nodes == min(suffice)
        assert found.needed.monotone == (suffice == list(range(min(suffice), found.needed.nodes + 4)))


def test_that_more_nodes_may_wait_longer_is_said():
    rng = np.random.default_rng(8902)  # found among 10,000: an anomaly of Graham's
    minutes, lasts = np.sort(rng.integers(0, 10, 12)), rng.integers(1, 20, 12)
    jobs = trace(60 * minutes, lasts / 60, rng.integers(1, 9, 12))
    by_nodes = [np.quantile(waits(jobs, n, 8), 0.95) / 60 for n in (3, 4, 5)]
    assert by_nodes[0] < 7 < by_nodes[1] > by_nodes[2]
    found = asked(jobs, memory_bytes=8e9, most_wait_min=7.0)
    assert found.needed.nodes == 3
    assert not found.needed.monotone
    assert any(note.startswith("More nodes do not always wait less here") for note in schedule_answer(found).notes)


def test_sizes_hold_what_the_verdict_charges_kills_included():
    rng = np.random.default_rng(3)
    n = 600
    submit = np.sort(rng.uniform(0, 300 * HOUR_S, n))
    use = np.minimum(rng.lognormal(1.5, 0.5, n), 31) * GB
    tasks = [f"t{at % 40}" for at in range(n)]
    jobs = trace(submit, rng.uniform(0.5, 2, n), np.full(n, 32), peak_memory_bytes=use).assign(task_name=tasks)
    plan = VerdictSettings(acceptable_kills="20%")
    judged = verdict_of({"jobs": jobs}, plan).memory.judged
    found = asked(jobs, nodes=40, memory_bytes=64e9, verdict=plan)
    sized, later = found.outcome(SIZED), found.outcome(LATER)
    assert judged.kills == sized.kills > 0
    assert later.kills == 0
    held = sized.requested[0] * 40 * 64 * sized.hours
    assert held == pytest.approx(judged.charged, rel=1e-6)


def test_a_killed_run_waits_twice_and_holds_its_size_first():
    start = np.full((2, 2), np.nan)
    need = np.array([[4], [4], [8], [4]])  # both at once, then the first again, alone
    ones, killed = np.ones(2, dtype=np.int64), np.array([True, False])
    rules = np.zeros(3, dtype=np.int64)
    schedule_kernels.replay(
        np.zeros(2), np.full(2, 10.0), np.full(2, np.inf), need, killed, ones, np.array([[8]]), rules, start
    )
    assert np.array_equal(start, [[0, 0], [10, math.nan]], equal_nan=True)


def test_every_run_is_replayed_or_counted():
    jobs = random_trace(2)
    jobs.loc[:4, ["duration_s", "end_time_s"]] = np.nan
    jobs.loc[5:6, "requested_memory_bytes"] = 900 * GB
    jobs.loc[7:9, ["requested_memory_bytes", "requested_cpu_percent"]] = np.nan
    jobs.loc[10:13, "requested_cpu_percent"] = np.nan
    jobs.loc[14:15, ["submit_time_s", "start_time_s", "end_time_s"]] = np.nan
    found = asked(jobs, memory_bytes=16e9, cpus=8.0)
    assert found.left_out == {
        "no run time": 5,
        "no time of submission or start": 2,
        "no request": 3,
        "a request that no node holds": 2,
    }
    assert found.outcomes[0].waits.n_runs == len(jobs) - 12
    assert found.lacking == {"cores": 4}
    told = " ".join(schedule_answer(found).notes)
    assert "Not replayed: 5 with no run time, 2 with no time of submission or start, 3 with no request" in told
    assert "4 runs requesting no cores hold none." in told


def test_a_trace_of_the_replayed_nodes_has_the_waits_of_the_replay():
    jobs = random_trace(4)
    slow = np.array(waits(jobs.drop(columns="requested_cpu_percent"), 7, 16))
    jobs = jobs.drop(columns="requested_cpu_percent").assign(
        start_time_s=jobs["submit_time_s"] + slow,
        end_time_s=jobs["submit_time_s"] + slow + jobs["duration_s"],
        node=[f"n{at % 7}" for at in range(len(jobs))],
    )
    found = asked(jobs, memory_bytes=16e9)
    assert found.named_nodes == 7
    assert found.trace == found.outcome(OWN).waits
    assert slow.max() > 0
    assert not any("not reproduced" in note for note in schedule_answer(found).notes)
    fewer = schedule_answer(asked(jobs.assign(node=[f"n{at % 3}" for at in range(len(jobs))]), memory_bytes=16e9))
    assert any("its nodes are larger, or more" in note for note in fewer.notes)


def test_a_sample_of_a_cluster_is_called_one():
    jobs = random_trace(5, 60).assign(node=[f"n{at}" for at in range(60)])
    notes = schedule_answer(asked(jobs, memory_bytes=512e9, cpus=128.0)).notes
    assert any("It is a sample" in note for note in notes)


def test_a_node_is_what_most_have_or_one_held_or_assumed():
    jobs = trace([0, 0, HOUR_S / 2, 5 * HOUR_S], [1, 1, 1, 1], [4, 6, 5, 3], node=["a", "a", "b", "b"])
    assert asked(jobs).node.amounts[0] == 10
    assert asked(jobs).node.sources == ("held", "", "")
    said = jobs.assign(cap_mem=[64, 64, 32, 32.0], cap_cpu=16.0, cap_gpu=0.0, node=["a", "c", "b", "b"])
    assert asked(said).node.amounts[0] == pytest.approx(64 * 1024**3 / GB)
    assert asked(said).node.sources[0] == "capacity"
    assert asked(jobs.drop(columns="node")).node.amounts[0] == 256
    assert asked(jobs, memory_bytes=8e9).node.sources[0] == "given"


def test_runs_on_several_nodes_hold_them_all():
    jobs = trace([0, 60], [1, 1], [8, 8], NNodes=[4, 4], peak_memory_bytes=4e9)
    found = asked(jobs, memory_bytes=16e9, most_wait_min=0.0)
    assert found.needed.nodes == 4  # half of each node is enough for a part of each run
    assert asked(jobs, memory_bytes=8e9, most_wait_min=0.0).needed.nodes == 8
    with pytest.raises(NotEnoughData, match="no node holds any"):  # memory is that of one node
        asked(jobs, memory_bytes=6e9)
    (whole,) = found.outcomes[:1]
    assert whole.requested[0] == pytest.approx(2 * whole.used[0])
    bill = chargeback_of({"jobs": jobs.assign(user="ann", requested_cpu_percent=800.0)}, ChargebackSettings())
    assert (bill.total.gb_h, bill.total.core_h, bill.n_spread) == (2 * 4 * 8, 2 * 8, 2)
    assert asked(jobs.assign(NNodes=[1, 9]), nodes=4, memory_bytes=64e9).left_out == {"more nodes than there are": 1}


def test_runs_larger_than_a_node_come_first_in_the_answer_or_are_spread():
    jobs = trace([0, 0, 60, 60], [1, 1, 1, 1], [4, 10, 20, 30])
    found = asked(jobs, memory_bytes=8e9)
    assert found.left_out == {"a request that no node holds": 3}
    assert schedule_sentence(found).startswith("3 of 4 runs fit no node; the others need 1 node")
    spread = asked(jobs, memory_bytes=8e9, most_wait_min=0.0, spread=True)
    assert not spread.left_out
    assert spread.needed.nodes == 1 + 2 + 3 + 4  # parts of 4, 5, 6.7 and 7.5 GB: no two on a node of 8
    assert spread.outcomes[0].waits.mean_s == 0


def test_the_plan_is_not_replayed_where_there_is_none():
    found = asked(random_trace(6), memory_bytes=16e9, cpus=8.0)
    assert [one.name for one in found.outcomes] == [ALL]
    assert "peak_memory_bytes" in found.no_verdict
    assert schedule_sentence(found) == f"{found.needed.nodes} nodes keep 95 % of waits within 10 min."


def test_what_cannot_be_replayed_is_refused_in_words():
    with pytest.raises(ColumnMissing, match="no run requests memory"):
        asked(trace([0], [1], [4]).drop(columns="requested_memory_bytes"))
    with pytest.raises(NotEnoughData, match="no node holds any"):
        asked(trace([0], [1], [400]), memory_bytes=4e9)


def test_the_answer_and_its_figure_tell_the_record():
    found = asked(streams(12, 60, 32, 7), memory_bytes=64e9)
    answer = schedule_answer(found)
    sized = found.outcome(SIZED).needed.nodes
    assert EVERY_ROW not in answer.notes
    assert EVERY_ROW in schedule_answer(replace(found, rows_left_out=True)).notes
    assert answer.sentence == (
        f"6 nodes keep 95 % of waits within 10 min; the later half needs 6, or {sized} with the plan."
    )
    assert len(answer.sentence.split()) <= 20
    chart = waits_chart(found)
    assert chart.takeaway == answer.sentence
    assert len(chart.data) == len(found.curve)
    assert answer.document["node"] == {"memory": {"amount": 64.0, "source": "given"}}


def test_the_sizes_of_a_row_go_to_that_row():
    jobs = streams(12, 60, 32, 7)
    mixed = pd.concat([jobs.assign(status="FAILED", finished=False).iloc[:50], jobs], ignore_index=True).sample(
        frac=1, random_state=0, ignore_index=True
    )
    assert len(resources_of(mixed, "peak_rss", 0.0)[0].runs) == len(jobs)
    found = asked(mixed, memory_bytes=64e9)
    assert found.outcomes[0].waits.n_runs == len(mixed)
    assert found.outcome(SIZED).requested[0] < found.outcome(LATER).requested[0] / 2


def test_nodes_do_not_suffice_where_fewer_than_95_of_100_runs_wait_within_the_limit():
    start = BEGIN + 7200.0 * np.arange(19)
    jobs = pd.DataFrame(
        {
            "task_name": "a",
            "status": "COMPLETED",
            "submit_time_s": np.append(start[:-1], start[-2]),  # 1 of 19 runs waits an hour for the one before it
            "start_time_s": start,
            "duration_s": 3600.0,
            "requested_memory_bytes": 200 * GB,
            "peak_memory_bytes": 4 * GB,
        }
    )
    found = schedule_of({"jobs": jobs}, ScheduleSettings(memory_bytes=256 * GB))
    assert found.needed.nodes == 2
    assert {one.nodes: one.p95_s for one in found.curve}[1] == 3600
    alone = schedule_of({"jobs": jobs}, ScheduleSettings(memory_bytes=256 * GB, nodes=1))
    assert alone.outcomes[0].waits.p95_s == 3600  # no wait between those of two runs


def test_large_nodes_among_small_ones_hold_what_only_they_can():
    small, large = streams(12, 40, 32, 7), streams(2, 40, 400, 90)
    jobs = pd.concat([small, large], ignore_index=True).sort_values("submit_time_s", ignore_index=True)
    found = asked(jobs, kinds="2x512GB, 6x64GB", most_wait_min=0.0)
    assert [(one.nodes, one.amounts[0]) for one in found.kinds] == [(6, 64.0), (2, 512.0)]
    assert found.outcomes[0].nodes == 8 and found.outcomes[0].waits.mean_s == 0
    assert found.needed.nodes == 7  # six of them have one large node in these proportions, seven two
    assert not found.left_out
    alike = asked(jobs, memory_bytes=64e9, most_wait_min=0.0)
    assert alike.left_out == {"a request that no node holds": 80}
    told = schedule_answer(found)
    assert "Nodes are mixed as 6 with 64 GB, 2 with 512 GB, other numbers of them alike." in told.notes[0]
    assert told.document["kinds"][1]["nodes"] == 2 and told.document["kinds"][1]["amounts"]["memory"] == 512.0


def test_one_kind_that_is_named_is_nodes_that_are_all_alike():
    jobs = random_trace(3)
    named, alike = asked(jobs, kinds="7x16GB/8"), asked(jobs, memory_bytes=16e9, cpus=8.0, nodes=7)
    assert repr((named.outcomes, named.curve)) == repr((alike.outcomes, alike.curve))  # NaN is none of itself


def test_nodes_of_several_kinds_are_mixed_alike_however_many():
    settings = ScheduleSettings(kinds="8x64GB,2x512GB")
    cluster = Cluster(_kinds(np.array([256.0, math.nan, math.nan]), settings), settings)
    each = np.array([cluster.of_each(n) for n in range(61)])
    assert (np.diff(each, axis=0) >= 0).all() and (each.sum(axis=1) == np.arange(61)).all()
    assert each[10].tolist() == [8, 2] and each[30].tolist() == [24, 6]
    assert (np.abs(each[:, 1] - np.arange(61) / 5) < 1).all()


def test_runs_on_more_large_nodes_than_there_are_are_counted():
    jobs = trace([0, 0, 0], [1, 1, 1], [400, 400, 40], NNodes=[3, 2, 3])
    found = asked(jobs, kinds="4x64GB,2x512GB")
    assert found.left_out == {"more nodes than there are": 1}
    assert found.outcomes[0].waits.n_runs == 2


@pytest.mark.parametrize("kinds", ["64GB", "0x64GB", "8x", "8x64parsecs", "8x64GB/many", "-1x64GB"])
def test_kinds_that_cannot_be_read_are_refused(kinds):
    with pytest.raises(SettingsError, match="kinds has "):
        ScheduleSettings(kinds=kinds)
