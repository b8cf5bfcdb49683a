"""Rankings of nodes: ratios are kept, intervals cover, ties and thin evidence are told, nothing is dropped silently."""

import dataclasses
import itertools

import numpy as np
import pandas as pd
import pytest

from tests.nodes.planted_nodes import cpu_text, development_runs, numbered, run_of, runs_of
from tests.shared_data import needs_shared_data
from workprof.answers.nodes import (
    TOO_FEW,
    degraded_sentence,
    node_table,
    none_degraded_sentence,
    rank_answer,
    ranking_figures,
    ranking_sentence,
    robustness_sentence,
)
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.progress import silent
from workprof.core.records import pack, to_json, unpack
from workprof.nodes.comparisons import CUT, EXCLUDE, RERUN, badness, typical_spread
from workprof.nodes.histories import run_table
from workprof.nodes.network import norm_10
from workprof.nodes.parsed_runs import parse_runs
from workprof.nodes.ranking import Ranking, per_price, rank_measured, rank_nodes
from workprof.nodes.scores import campaigns, multiplicities, weighted_medians
from workprof.nodes.selection import MeasuredSettings, RankSettings

pytestmark = pytest.mark.slow

SPEEDS = {"big": 4.0, "mid": 2.0, "small": 1.0}


def ranked(frame, more=None, **settings):
    return rank_nodes({"runs": frame} | (more or {}), RankSettings(**settings), silent)


def by_node(found):
    return {one.node: one for one in found.nodes}


def pair(found, a, b, aspect="overall"):
    return next(one for one in found.pairs if {one.node, one.other} == {a, b} and one.aspect == aspect)


@pytest.fixture(scope="module")
def planted():
    return runs_of(SPEEDS)


def test_planted_ratios_come_back_in_every_aspect_and_overall(planted):
    found = ranked(planted)
    assert [one.node for one in found.nodes] == ["big", "mid", "small"]
    assert [one.rank for one in found.nodes] == [1, 2, 3]
    for one in found.pairs:
        true = SPEEDS[one.node] / SPEEDS[one.other]
        assert one.ratio == pytest.approx(true, rel=0.03)
        assert one.low < one.ratio < one.high
        assert one.clear
    assert {one.aspect for one in found.pairs} == {"overall", "cpu", "memory", "disk", "network"}
    scores = [one.score for one in found.nodes]
    assert np.prod(scores) == pytest.approx(1.0)


@needs_shared_data
def test_the_development_runs_keep_their_known_order_and_ratios():
    frame = development_runs()
    found = ranked(frame)
    cpu = {one.node: one.aspects["cpu"] for one in found.nodes}
    assert sorted(cpu, key=lambda node: cpu[node].rank) == ["full-2c", "mid-1c", "small-half"]
    for node, true in (("mid-1c", 2), ("small-half", 4)):
        one = pair(found, "full-2c", node, "cpu")
        assert one.node == "full-2c"
        assert one.ratio == pytest.approx(true, rel=0.1)
        assert one.low > 1
    assert not pair(found, "full-2c", "mid-1c", "disk").clear
    assert not pair(found, "full-2c", "small-half", "disk").clear
    calm = ranked(frame, exclude="stressed")
    assert calm.left_out == {"labelled as stressed": 91}
    assert pair(calm, "full-2c", "small-half", "cpu").ratio == pytest.approx(3.95, rel=0.01)


def test_a_node_a_times_faster_everywhere_scores_a_times_higher(planted):
    faster = runs_of(SPEEDS | {"big": 12.0})
    one, three = ranked(planted), ranked(faster)
    assert pair(three, "big", "small").ratio == pytest.approx(3 * pair(one, "big", "small").ratio, rel=1e-6)
    assert pair(three, "mid", "small").ratio == pytest.approx(pair(one, "mid", "small").ratio, rel=1e-6)


def test_ratios_do_not_depend_on_which_other_nodes_there_are(planted):
    rest = planted[planted["node"] != "mid"]
    ours, theirs = pair(ranked(planted), "big", "small"), pair(ranked(rest), "big", "small")
    assert ours == theirs


def test_the_order_of_rows_changes_nothing(planted):
    mixed = planted.sample(frac=1, random_state=3).reset_index(drop=True)
    assert to_json(ranked(mixed)) == to_json(ranked(planted))


def test_the_same_seed_gives_the_same_interval_and_another_a_near_one(planted):
    one, again, other = (by_node(ranked(planted, seed=seed))["big"] for seed in (1, 1, 2))
    assert (one.low, one.high) == (again.low, again.high)
    assert (other.low, other.high) != (one.low, one.high)
    assert other.low == pytest.approx(one.low, rel=0.02)


def test_resampled_medians_are_those_of_the_resampled_runs():
    draw = np.random.default_rng(0)
    values = draw.normal(size=9)
    values[4] = np.nan
    weights = multiplicities(np.zeros(9, dtype=np.int64), 50, (1, "node", "benchmark"))
    assert (weights.sum(axis=1) == 9).all()
    slow = [
        np.median([v for v, w in zip(values, row, strict=True) for _ in range(w) if np.isfinite(v)]) for row in weights
    ]
    assert weighted_medians(values, weights) == pytest.approx(slow)


def test_whole_campaigns_are_resampled_where_there_are_several():
    started = np.array([0.0, 10, 90_000, 90_010, 200_000, np.nan])
    assert list(campaigns(started[:5])) == [0, 0, 1, 1, 2]
    weights = multiplicities(campaigns(started[:5]), 200, (0, "a", "b"))
    assert (weights[:, 0] == weights[:, 1]).all()
    assert set(weights.sum(axis=1)) > {5}
    frame = runs_of(SPEEDS, n_runs=5, gap_s=86_400.0)
    assert any("campaigns" in note for note in ranked(frame).notes)


def test_intervals_of_a_ratio_cover_it_about_as_often_as_they_say():
    held = []
    for seed in range(60):
        found = ranked(
            runs_of({"a": 1.3, "b": 1.0}, n_runs=12, noise=0.1, seed=seed), weights={"cpu": 1.0}, n_draws=400
        )
        one = pair(found, "a", "b", "cpu")
        ratio = 1.3 if one.node == "a" else 1 / 1.3
        held.append(one.low <= ratio <= one.high)
    assert np.mean(held) >= 0.85


def test_equal_nodes_are_tied_and_no_one_is_called_faster():
    found = ranked(runs_of({"a": 1.0, "b": 1.0, "c": 1.0}, noise=0.1, seed=4))
    assert all(set(one.tied_with) == {"a", "b", "c"} - {one.node} for one in found.nodes)
    assert sum(one.clear for one in found.pairs if one.aspect == "overall") == 0


def measured(values, **settings):
    """Return the ranking of {node: {metric: values}}, each metric an aspect of its own."""
    rows = [(node, metric, x) for node, own in values.items() for metric, some in own.items() for x in some]
    frame = pd.DataFrame(rows, columns=["node", "metric", "value"])
    frame = frame.assign(higher_is_better=True, benchmark=frame["metric"], aspect=frame["metric"], started_s=np.nan)
    return rank_measured(frame, MeasuredSettings(**settings))


def test_two_nodes_that_differ_in_no_resource_do_not_differ_overall_nor_at_the_same_price():
    values = {"a": {"m": [96.0, 93.4, 98.8]}, "b": {"m": [102.1, 105.7, 100.5]}}  # of one distribution
    found = measured(values, n_draws=200, prices_per_h={"a": 2.0, "b": 2.0})
    assert found.alike == ("m",)
    assert pair(found, "a", "b").low > 1
    for result in (found, per_price(found)):
        assert by_node(result)["b"].tied_with == ("a",)
        assert not any(one.clear for one in result.pairs)
    assert pair(per_price(measured(values, n_draws=200, prices_per_h={"a": 2.0, "b": 1.0})), "a", "b").clear


def test_forty_one_nodes_that_differ_in_no_resource_are_all_tied():
    draws = np.random.default_rng(0).normal(100, 5, (41, 3))
    found = measured({f"n{i}": {"m": own} for i, own in enumerate(draws)}, n_draws=100)
    assert {len(one.tied_with) for one in found.nodes} == {40}


def test_a_node_that_lacks_a_resource_hides_no_difference_in_another():
    slow, fast = [1.0, 1.01, 1.02], [4.0, 4.01, 4.02]
    found = measured({"a": {"m": fast, "k": fast}, "b": {"m": slow}}, n_draws=200)
    assert found.alike == ()
    assert pair(found, "a", "b", "m").clear
    assert pair(found, "a", "b").clear


def test_fewer_than_three_runs_give_values_and_no_rank(planted):
    few = pd.concat([planted[planted["node"] != "mid"], planted[planted["node"] == "mid"].head(8)])
    found = by_node(ranked(few))
    assert found["mid"].rank is None
    assert "fewer than 3 runs" in found["mid"].reason
    assert np.isnan(found["mid"].low)
    assert found["mid"].score > 0
    assert {found["big"].rank, found["small"].rank} == {1, 2}


def test_one_run_per_node_gives_no_ranking_and_says_so():
    found = ranked(runs_of(SPEEDS, n_runs=1))
    assert [one.rank for one in found.nodes] == [None] * 3
    assert found.notes[0].startswith("no ranking: fewer than 3 runs")
    assert found.leave_outs == ()
    assert not any(one.clear for one in found.pairs)
    assert pair(found, "big", "small").ratio == pytest.approx(4, rel=0.1)


def test_one_node_has_nothing_to_be_compared_with():
    found = ranked(runs_of({"alone": 1.0}))
    assert found.nodes[0].rank is None
    assert "the only node" in found.notes[0]
    assert found.pairs == ()


def test_other_parameters_are_not_pooled_but_told(planted):
    rows = planted.to_dict("records")
    rows += [run_of("big", "cpu-sysbench", 1.0, 1e9 + i, stdout=cpu_text(99.0, threads=1)) for i in range(5)]
    frame = numbered([{name: value for name, value in row.items() if name != "row_id"} for row in rows])
    found = ranked(frame)
    assert found.left_out == {"other parameters than most": 5}
    assert (found.not_pooled[0].benchmark, found.not_pooled[0].n_runs) == ("cpu-sysbench", 5)
    assert any("not pooled" in note for note in found.notes)
    assert pair(found, "big", "small", "cpu").ratio == pytest.approx(4, rel=0.03)


def test_a_metric_that_a_node_lacks_compares_nobody_and_is_told(planted):
    lame = planted[~((planted["node"] == "mid") & (planted["benchmark"] == "disk-ioping"))]
    found = ranked(lame)
    assert by_node(found)["mid"].rank is None
    assert "no usable run of disk" in by_node(found)["mid"].reason
    assert by_node(ranked(lame, weights={"cpu": 1.0}))["mid"].rank == 2
    assert pair(found, "big", "mid").metrics
    assert not any("disk" in metric for metric in pair(found, "big", "mid").metrics)


def test_values_of_zero_are_left_out_and_counted_never_replaced(planted):
    frame = planted.copy()
    first = frame.index[(frame["node"] == "big") & (frame["benchmark"] == "cpu-sysbench")][0]
    frame.loc[first, "stdout"] = cpu_text(0.0)
    found = ranked(frame)
    assert any("1 values of cpu-sysbench.events_per_second are 0 or less" in note for note in found.notes)
    assert pair(found, "big", "small", "cpu").ratio == pytest.approx(4, rel=0.03)


@pytest.mark.parametrize(("runs", "told"), [(3, True), (4, True), (5, False)])
def test_intervals_of_few_runs_are_called_too_narrow(runs, told):
    rows = [
        run_of(node, "cpu-sysbench", 1 + place + run / 100, 1e9 + run)
        for run in range(runs)
        for place, node in enumerate("ab")
    ]
    found = ranked(numbered(rows))
    assert all(one.rank for one in found.nodes)
    assert any("(a and b): intervals are too narrow" in note for note in found.notes) == told


def test_failed_runs_are_counted(planted):
    frame = planted.copy()
    frame.loc[frame.index[:3], "rc"] = 124
    assert ranked(frame).left_out == {"failed or unreadable": 3}
    with pytest.raises(NotEnoughData, match="failed or unreadable"):
        ranked(frame.assign(rc=1))


def test_weights_mix_the_aspects():
    speeds = {"a": {"cpu": 2.0, "memory": 1.0}, "b": {"cpu": 1.0, "memory": 4.0}}
    frame = runs_of(speeds)
    assert pair(ranked(frame, weights={"cpu": 3.0}), "a", "b").ratio == pytest.approx(2, rel=0.03)
    even = pair(ranked(frame), "a", "b")
    assert (even.node, even.ratio) == ("b", pytest.approx(np.sqrt(2), rel=0.03))
    found = ranked(frame)
    assert found.shares == {"cpu": 0.5, "memory": 0.5}
    assert "nobody was measured on disk: it does not count" in found.notes
    assert all(one.rank is None for one in ranked(frame, weights={"disk": 1.0}).nodes)


def test_leaving_a_benchmark_out_shows_what_the_order_hangs_on():
    speeds = {"a": {"cpu": 5.0, "memory": 1.0}, "b": {"cpu": 1.0, "memory": 2.0}}
    found = {one.benchmark: one for one in ranked(runs_of(speeds)).leave_outs}
    assert set(found) == {"cpu-sysbench", "memory-sysbench"}
    assert not found["cpu-sysbench"].same_order
    assert found["cpu-sysbench"].order == ("b", "a")
    assert found["memory-sysbench"].same_order


def test_prices_change_price_performance_only(planted):
    found = by_node(ranked(planted, prices_per_h={"big": 2.0, "small": 0.25}))
    assert found["big"].price_performance == pytest.approx(found["big"].score / 2)
    assert found["small"].price_performance == pytest.approx(found["small"].score * 4)
    assert np.isnan(found["mid"].price_performance)
    assert found["big"].rank == 1
    with pytest.raises(SettingsError, match=r"prices name 'bg', .* nodes are big, mid and small"):
        ranked(planted, prices_per_h={"bg": 2.0})


def test_the_newest_run_far_below_its_history_asks_for_a_rerun_and_a_second_one_for_exclusion(planted):
    def with_slow(n):
        rows = planted.drop(columns="row_id").to_dict("records")
        rows += [run_of("mid", "memory-sysbench", 1.0, 2e9 + i) for i in range(n)]
        return by_node(ranked(numbered(rows)))

    assert all(one.degraded is None for one in by_node(ranked(planted)).values())
    once, twice = with_slow(1), with_slow(2)
    assert (once["mid"].degraded.benchmark, once["mid"].degraded.action) == ("memory-sysbench", RERUN)
    assert once["mid"].degraded.share == pytest.approx(0.5, abs=0.02)
    assert once["mid"].degraded.reason.startswith("memory-sysbench slowed by 5")
    assert twice["mid"].degraded.action == EXCLUDE
    assert once["big"].degraded is None


def test_a_row_that_repeats_another_is_one_run_and_confirms_nothing(planted):
    rows = planted.drop(columns="row_id").to_dict("records")
    once = numbered([*rows, run_of("mid", "memory-sysbench", 1.0, 2e9)])
    twice = pd.concat([once, once.tail(1)], ignore_index=True).assign(row_id=range(len(once) + 1))
    found, expected = ranked(twice), ranked(once)
    assert by_node(found)["mid"].degraded == by_node(expected)["mid"].degraded
    assert (by_node(found)["mid"].n_runs, found.n_runs) == (by_node(expected)["mid"].n_runs, expected.n_runs)
    assert found.left_out["repeated rows of a run"] == 1
    table = run_table(parse_runs(twice))
    assert not table.usable[-1]
    assert table.usable[:-1].all()


def test_a_drop_of_a_thousandth_is_no_degradation_however_steady_a_node_is():
    def with_newest(value):
        steady = [run_of(node, "network-iperf3", 10.0, 1e9 + i) for node in ("a", "b") for i in range(8)]
        return by_node(ranked(numbered([*steady, run_of("a", "network-iperf3", value, 2e9)])))["a"].degraded

    assert with_newest(9.99) is None
    assert with_newest(9.0).share == pytest.approx(0.1)


def test_a_node_with_too_few_runs_is_not_said_to_show_no_sign():
    def of(runs):
        rows = [
            run_of(node, "memory-sysbench", 10.0 + i % 2, 1e9 + i) for node in ("a", "b") for i in range(runs[node])
        ]
        return ranked(numbered(rows))

    table = node_table(of({"a": 3, "b": 5})).frame()
    assert dict(zip(table["node"], table["degraded"], strict=True)) == {"a": "too few runs", "b": "no sign"}
    assert none_degraded_sentence(of({"a": 3, "b": 5})) == "No node has degraded."
    few = of({"a": 3, "b": 3})
    assert none_degraded_sentence(few) == TOO_FEW
    assert [figure.value for figure in ranking_figures(few) if figure.column.name == "n_degraded"] == ["not known"]


def test_a_repetition_is_no_earlier_run_of_what_a_node_has_slowed_by():
    rows = [run_of("a", "memory-sysbench", value, 1e9 + i) for i, value in enumerate([10.0, 11.0, 12.0, 1.0, 1.1])]
    rows += [run_of("b", "memory-sysbench", 10.0, 1e9 + i) for i in range(4)]
    found = by_node(ranked(numbered(rows)))["a"].degraded
    assert found.share == pytest.approx(1 - 1.1 / 11)
    assert found.reason == "memory-sysbench slowed by 90 % in its newest two runs, against 3 earlier ones"


def test_the_change_since_the_last_window_is_that_of_the_node_alone():
    old, new = runs_of(SPEEDS, seed=1), runs_of(SPEEDS | {"mid": 3.0}, seed=2)
    new["started_s"] += 1e6
    frame = numbered(pd.concat([old, new]).drop(columns="row_id").to_dict("records"))
    found = by_node(ranked(frame))
    assert found["mid"].change.ratio == pytest.approx(1.5, rel=0.03)
    assert found["mid"].change.low > 1.4
    assert found["big"].change.ratio == pytest.approx(1.0, rel=0.03)
    since = by_node(ranked(frame, since_s=1e9 + 1e6 - 1))
    assert since["mid"].score / since["small"].score == pytest.approx(3, rel=0.03)
    assert since["mid"].change is None or since["mid"].change.ratio == pytest.approx(1.5, rel=0.03)


def test_windows_nodes_and_exclusions_choose_the_runs(planted):
    middle = float(planted["started_s"].median())
    found = ranked(planted, since_s=middle)
    assert found.n_runs + sum(found.left_out.values()) == len(planted)
    two = ranked(planted, nodes=("big", "small"))
    assert [one.node for one in two.nodes] == ["big", "small"]
    stressed = planted.assign(stressed=[row % 4 == 0 for row in range(len(planted))])
    assert ranked(stressed, exclude="stressed").left_out["labelled as stressed"] == len(planted) // 4
    flagged = {"flagged": pd.DataFrame({"row_id": [0, 1, 2]})}
    assert ranked(planted, flagged, exclude="flagged").left_out == {"flagged as anomalous": 3}
    with pytest.raises(SettingsError, match="'gone' is not in this dataset"):
        ranked(planted, nodes=("gone",))


def test_the_norm_of_a_code_is_the_published_one():
    codes = np.array([[0.5] * 8 + [1.0], [0.8] * 8 + [1.0], [1.0] * 9, [0.0] * 9, [1e200] * 9])
    norms = norm_10(codes)
    assert norms[:3] == pytest.approx([1.0008, 1.064, 1.246], abs=5e-4)
    assert norms[3] == 0
    assert np.isfinite(norms).all()


def test_the_published_score_is_flagged_and_needs_codes(planted):
    with pytest.raises(NotEnoughData, match="codes"):
        ranked(planted, score="perona")
    norms = planted[["row_id", "node", "benchmark"]].assign(norm=planted["node"].map(SPEEDS) ** 0.1)
    found = ranked(planted, {"norms": norms}, score="perona")
    assert found.published
    assert found.notes[0].startswith("published definitions")
    assert [one.node for one in found.nodes] == ["big", "mid", "small"]
    assert found.nodes[0].score == pytest.approx(1.0)
    assert found.nodes[2].score == pytest.approx(4**-0.1)
    assert found.pairs == ()


def test_every_measured_metric_is_scored_or_dropped_with_a_reason(planted):
    found = ranked(planted)
    scored = {metric for metrics in found.metrics.values() for metric in metrics}
    dropped = {one.metric for one in found.dropped_metrics}
    assert not scored & dropped
    assert "cpu-sysbench.total_time" in dropped
    assert all(one.reason for one in found.dropped_metrics)


def test_a_ranking_can_be_kept(planted):
    found = ranked(planted)
    kept = unpack(Ranking, pack(found))
    assert dataclasses.replace(kept, nodes=()) == dataclasses.replace(found, nodes=())
    assert [one.score for one in kept.nodes] == [one.score for one in found.nodes]


@pytest.mark.parametrize(
    "wrong",
    [
        {"weights": {"cpu": 0.0}},
        {"since_s": 2.0, "until_s": 1.0},
    ],
)
def test_settings_that_are_not_valid_together_are_refused(wrong):
    with pytest.raises(SettingsError):
        RankSettings(**wrong)


def test_places_follow_the_scores_whatever_the_names():
    for names in itertools.permutations(("a", "b", "c")):
        speeds = dict(zip(names, (3.0, 2.0, 1.0), strict=True))
        found = ranked(runs_of(speeds, n_runs=4), n_draws=100)
        assert tuple(one.node for one in found.nodes) == names


@pytest.mark.parametrize(("runs", "nodes"), [(4, 8), (5, 1), (6, 3)])
def test_steady_nodes_of_few_runs_are_rarely_called_slower(runs, nodes):
    """Without what makes up for few runs every tenth was, with six benchmarks."""
    draw, suspected = np.random.default_rng(0), 0
    for _ in range(100):
        found = np.zeros(nodes, dtype=bool)
        for _ in range(6):
            histories = [draw.normal(0, 0.02, runs) for _ in range(nodes)]
            typical = typical_spread(histories)
            found |= [badness(one[:-1], one[-1], typical) >= CUT for one in histories]
        suspected += int(found.sum())
    assert suspected <= 0.045 * 100 * nodes


def test_one_slow_run_may_be_a_degraded_node_and_only_a_second_one_says_that_it_is(planted):
    rows = planted.drop(columns="row_id").to_dict("records")
    slow = [run_of("mid", "memory-sysbench", 1.0, 2e9 + i) for i in range(2)]
    once, twice = (degraded_sentence(ranked(numbered([*rows, *slow[:n]]))) for n in (1, 2))
    assert once.startswith("mid may have degraded, by one run: its memory has slowed by 5")
    assert twice.startswith("mid has degraded: its memory has slowed by 5")


def test_tied_nodes_that_change_places_are_no_other_order():
    found = ranked(runs_of({"a": 1.0, "b": 1.0, "c": 1.0, "top": 2.0}, noise=0.05))
    assert any(one.order != found.leave_outs[0].order for one in found.leave_outs)
    assert all(one.same_order for one in found.leave_outs)
    assert robustness_sentence(found).endswith("without any one of 4 benchmarks, ties aside.")


def test_nodes_whose_newest_runs_failed_are_named(planted):
    rows = planted.drop(columns="row_id").to_dict("records")
    failed = {"rc": 1, "stdout": "", "stderr": "no memory"}
    rows += [run_of("mid", "memory-sysbench", 1.0, 2e9) | failed, run_of("gone", "cpu-sysbench", 1.0, 2e9) | failed]
    rows += [run_of("big", "cpu-sysbench", 1.0, 1.0) | failed, run_of("big", "disk-ioping", 1.0, 2e9) | failed]
    rows += [run_of("small", "cpu-sysbench", 1.0, 2e9, stressed=True) | failed]
    rows.append(run_of("big", "disk-ioping", 2.0, 2.1e9))
    told = [note for note in ranked(numbered(rows)).notes if "failed" in note]
    assert told == [
        "newest runs failed, measured 0 or cannot be read: gone (cpu-sysbench) and mid (memory-sysbench); they are in "
        "no score"
    ]


def test_nodes_of_which_none_is_behind_are_not_called_fastest_and_many_pairs_are_told():
    two, four = (ranked(runs_of(dict.fromkeys(names, 1.0), noise=0.05)) for names in ("ab", "abcd"))
    assert set(ranking_sentence(two).split()[:3]) == {"a", "and", "b"}
    assert ranking_sentence(two).endswith(" do not differ clearly.")
    assert "fastest" not in ranking_sentence(two)
    told = "Each pair has its own interval: one in 20 pairs of equal nodes differs clearly by chance."
    assert told in rank_answer(four).notes
    assert told not in rank_answer(two).notes
