"""Figures and tables of nodes: they say what the records hold, keep ratios, tell ties and words, and escape names."""

import dataclasses
import re
from functools import cache

import numpy as np
import pandas as pd
import pytest

from tests.charts import records_for_nodes as given
from tests.charts.records_for_tests import HOSTILE
from tests.nodes import test_allocation
from tests.nodes.planted_nodes import run_of, runs_of
from tests.nodes.test_advice import jobs
from tests.nodes.transfer_reports import planted
from workprof.answers.degradation import (
    degradation_sentence,
    detection_figures,
    detectors_table,
    doubts,
    runs_table,
    trust_sentence,
)
from workprof.answers.node_groups import (
    advice_sentence,
    allocation_sentence,
    groups_figures,
    groups_sentence,
    groups_table,
    interval_sentence,
    kinds_table,
    use_table,
)
from workprof.answers.nodes import (
    change_words,
    decision_sentence,
    degraded_sentences,
    dropped_sentence,
    dropped_table,
    leave_out_table,
    moment_words,
    node_table,
    pair_table,
    percent_more,
    ranking_figures,
    ranking_sentence,
    robustness_sentence,
)
from workprof.charts.nodes.degradation import (
    code_map,
    degradation_over_time,
    detection_reliability,
    reconstruction_errors,
    timeline,
)
from workprof.charts.nodes.groups import silhouette_bars, transfer_bars, weight_bars
from workprof.charts.nodes.ranking import BEST, DEGRADED, aspect_lines, ranked_bars, row_names, tie_spans
from workprof.core.progress import silent
from workprof.nodes.advice import AdviceSettings, advise
from workprof.nodes.detection import flagged_now
from workprof.nodes.groups import GroupSettings, group_nodes
from workprof.nodes.ranking import per_price, rank_nodes
from workprof.nodes.runtime_factors import MachineScores
from workprof.nodes.runtime_intervals import Coverage
from workprof.nodes.selection import RankSettings
from workprof.nodes.transfer import TransferSettings, transfer

SPEEDS = {"big": 4.0, HOSTILE: 2.0, "small": 1.0}
FEW = {"n_draws": 200}


@cache
def ranking(**settings):
    return rank_nodes({"runs": runs_of(SPEEDS, n_runs=5)}, RankSettings(**FEW, **settings), silent)


@cache
def ranking_with_prices():
    return rank_nodes(
        {"runs": runs_of(SPEEDS, n_runs=5)}, RankSettings(**FEW, prices_per_h={"big": 8.0, "small": 0.5}), silent
    )


@cache
def tied():
    speeds = {"a": 2.0, "b": 1.0, "c": 1.0, "d": 0.99, "e": 0.3}
    return rank_nodes({"runs": runs_of(speeds, noise=0.1, seed=1)}, RankSettings(**FEW), silent)


@cache
def single():
    return rank_nodes({"runs": runs_of(SPEEDS, n_runs=1)}, RankSettings(**FEW), silent)


@cache
def grouping():
    speeds = {f"{kind}{i}": value + 0.01 * i for kind, value in (("x", 1.0), ("y", 3.0)) for i in range(4)}
    return group_nodes({"runs": runs_of(speeds, n_runs=5)}, GroupSettings(RankSettings(**FEW), n_resamples=5), silent)


@cache
def advice(priced=False):
    prices = {"big": 10.0, "small": 0.5} if priced else {}
    settings = AdviceSettings("hash", 3, "", RankSettings(prices_per_h=prices, **FEW))
    return advise({"runs": runs_of(SPEEDS, n_runs=5), "jobs": jobs()}, settings, silent)


@cache
def transferred():
    speeds = {"old": 1.0, "new": 2.0}
    scores = {name: MachineScores(name, cpu=100 * speed, memory=100 * speed) for name, speed in speeds.items()}
    return transfer(planted(speeds), scores, TransferSettings("old", ("new",)))


EVERY = {
    "ranked": lambda: ranked_bars(ranking()),
    "ranked with ties": lambda: ranked_bars(tied()),
    "not ranked": lambda: ranked_bars(single()),
    "aspects": lambda: aspect_lines(ranking()),
    "aspects without intervals": lambda: aspect_lines(single()),
    "silhouettes": lambda: silhouette_bars(grouping()),
    "weights": lambda: weight_bars(advice()),
    "ranked by price": lambda: ranked_bars(per_price(ranking_with_prices()), priced=True),
    "all nodes over time": lambda: degradation_over_time(given.detection()),
    "all nodes over time without labels": lambda: degradation_over_time(given.without_labels()),
    "time line": lambda: timeline(given.detection(), HOSTILE),
    "time line without labels": lambda: timeline(given.without_labels(), "calm"),
    "codes": lambda: code_map(given.detection()),
    "restoring errors": lambda: reconstruction_errors(given.detection()),
    "transfer": lambda: transfer_bars(transferred()),
    "reliability": lambda: detection_reliability(given.detection()),
}


def test_bars_start_at_zero_and_keep_the_ratios():
    chart = ranked_bars(ranking())
    bars = chart.figure.data[0]
    assert chart.figure.layout.xaxis.range[0] == 0
    assert bars.x[0] / bars.x[2] == pytest.approx(4, rel=0.05)
    assert list(chart.data["rank"]) == [1, 2, 3]
    low, high = chart.data["low"].to_numpy(), chart.data["high"].to_numpy()
    assert np.array(bars.x) - np.array(bars.error_x.arrayminus) == pytest.approx(low)
    assert np.array(bars.x) + np.array(bars.error_x.array) == pytest.approx(high)


def test_ties_have_brackets_and_words():
    found = tied()
    spans = tie_spans(found.nodes)
    names = [{one.node for one in found.nodes[first : last + 1]} for first, last in spans]
    assert {"b", "c", "d"} in names
    assert not any({"a", "b"} <= span or {"e", "d"} <= span for span in names)
    chart = ranked_bars(found)
    assert len(chart.figure.layout.shapes) == 3 * len(spans)
    assert [note.text for note in chart.figure.layout.annotations] == ["tie"] * len(spans)
    assert ranked_bars(ranking()).figure.layout.shapes == ()


def test_the_sentence_says_by_how_much_or_why_not():
    assert "big is" in ranking_sentence(ranking())
    assert "% faster than" in ranking_sentence(ranking())
    assert ranking_sentence(single()).startswith("There is no ranking: fewer than 3 runs")
    assert "no resource can be compared" in aspect_lines(single()).takeaway
    assert all("from fewer than 3 runs" in words for words in pair_table(single()).frame()["in_words"])
    alike = rank_nodes({"runs": runs_of({"a": 1.0, "b": 1.0}, noise=0.1, seed=5)}, RankSettings(**FEW), silent)
    assert "do not differ clearly" in ranking_sentence(alike)


def test_the_table_holds_what_the_record_holds():
    found = ranking()
    table = node_table(found).frame()
    assert list(table["node"]) == [one.node for one in found.nodes]
    assert list(table["score"]) == [one.score for one in found.nodes]
    assert list(table["cpu"]) == [one.aspects["cpu"].score for one in found.nodes]
    assert set(table["degraded"]) == {"no sign"}
    priced = dataclasses.replace(found.nodes[0], price_per_h=2.0, price_performance=found.nodes[0].score / 2)
    lines = node_table(dataclasses.replace(found, nodes=(priced,))).frame()
    assert lines["price_performance"].iloc[0] == found.nodes[0].score / 2


def test_a_degraded_node_has_its_reason_and_what_to_do():
    rows = runs_of(SPEEDS, n_runs=5).drop(columns="row_id").to_dict("records")
    rows.append(run_of("big", "cpu-sysbench", 1.0, 2e9))
    frame = pd.DataFrame(rows)
    frame.insert(0, "row_id", range(len(frame)))
    found = rank_nodes({"runs": frame}, RankSettings(**FEW), silent)
    (sentence,) = degraded_sentences(found)
    assert sentence.startswith("big: cpu-sysbench slowed by ")
    assert re.fullmatch(r"big is fastest, but its CPU has slowed by \d+ %\.", decision_sentence(found))
    colours = dict(zip([one.node for one in found.nodes], ranked_bars(found).figure.data[0].marker.color, strict=True))
    healthy = next(one.node for one in found.nodes if one.rank and not one.degraded)
    assert [node for node, colour in colours.items() if colour == BEST] == [healthy]
    assert [node for node, colour in colours.items() if colour == DEGRADED] == ["big"]
    assert sentence.endswith("Run the benchmark again to confirm.")
    assert ranked_bars(found).figure.data[0].text[0].endswith(", run again")
    shown = {line.label: line for line in ranking_figures(found)}
    assert (shown["Degraded"].value, shown["Degraded"].detail) == ("1 node", "big")
    assert degraded_sentences(ranking()) == ()
    ranked = [one.score for one in found.nodes if one.rank]
    assert shown["Best / worst"].value == f"{ranked[0] / ranked[-1]:.1f} ×"


def test_pairs_and_leave_outs_and_dropped_metrics_are_listed():
    found = ranking()
    pairs = pair_table(found, "cpu").frame()
    assert len(pairs) == 3
    assert set(pairs["metrics"]) == {"cpu-sysbench.events_per_second"}
    assert not pair_table(found, "no such aspect").rows
    assert len(leave_out_table(found).rows) == 4
    assert "stays the same" in robustness_sentence(found)
    assert "can be excluded" in robustness_sentence(single())
    assert len(dropped_table(found).rows) == len(found.dropped_metrics)
    used = sum(len(metrics) for metrics in found.metrics.values())
    assert dropped_sentence(found).startswith(f"{used} of {used + len(found.dropped_metrics)} ")


def test_groups_are_told_with_their_certainty():
    found = grouping()
    assert found.k == 2
    assert groups_sentence(found).startswith("2 groups: ")
    table = groups_table(found).frame()
    assert sorted(table["node"]) == sorted(node for one in found.groups for node in one.nodes)
    shown = {line.label: line for line in groups_figures(found)}
    assert (shown["Groups"].value, shown["Stability"].detail) == ("2", "stable")
    one = group_nodes({"runs": runs_of({"a": 1.0})}, GroupSettings(RankSettings(**FEW)), silent)
    assert groups_sentence(one) == "a is the only node."
    assert silhouette_bars(one).takeaway == "There are too few nodes to group."


def test_an_allocation_says_how_many_kinds_suit_each_group():
    speeds = {name: one | {"memory": one["cpu"]} for name, one in test_allocation.SPEEDS.items()}
    found = test_allocation.allocated(test_allocation.jobs(peak_memory_bytes=2e9), speeds)
    assert allocation_sentence(found) == (
        "2 kinds of jobs by what they use: 1 on group 0 (fast-1, fast-2); 1 on group 1 (store-1, store-2)."
    )
    first = kinds_table(found).frame().iloc[0].to_dict()
    assert first == {
        **{"kind": "compute", "runs": 20},
        **{"cpu_label": "2 of 2", "memory_label": "1 of 2", "disk_label": "1 of 2"},
        **{"best_group": "0: fast-1, fast-2", "next_group": "1: store-1, store-2"},
        **{"cpu_median_percent": 389.5, "memory_median_gb": 2.0, "disk_median_mb_per_s": 1e-4},
    }
    profiles = [dataclasses.replace(one, name=f"profile {number}") for number, one in enumerate(found.kinds)]
    named = kinds_table(dataclasses.replace(found, kinds=profiles), ("a (P0)", "b (P1)", "Unclustered")).frame()
    assert list(named["kind"]) == ["a (P0)", "b (P1)"]
    one = test_allocation.allocated(test_allocation.jobs(), dict.fromkeys("abc", test_allocation.SPEEDS["fast-1"]))
    assert allocation_sentence(one) == "All 3 nodes form one group, so that nothing can be allocated."
    assert set(kinds_table(one).frame()["next_group"]) == {None}
    alone = test_allocation.allocated(test_allocation.jobs(), {"a": test_allocation.SPEEDS["fast-1"]})
    assert allocation_sentence(alone) == "a is the only node."


def test_advice_names_the_profile_its_weights_and_the_best_for_the_price():
    found = advice()
    assert advice_sentence(found).startswith("For profile 3 (20 runs): big is")
    assert "price" not in advice_sentence(found)
    priced = advice_sentence(advice(priced=True), "P3 bert")
    assert priced.startswith("For P3 bert (20 runs): small gives most for its price: ")
    assert "Price aside, big is" in priced
    bars = weight_bars(found).figure.data
    assert sum(bars[0].x) == pytest.approx(1.0)
    assert list(use_table(found).frame()["aspect"]) == ["CPU", "memory", "disk", "network"]


def test_transfer_tells_ours_beside_no_scaling():
    chart = transfer_bars(transferred())
    assert "without scaling" in chart.takeaway
    assert chart.data["median"].is_monotonic_increasing
    assert sum(name.endswith("(ours)") for name in chart.data["method"]) == 1
    assert interval_sentence(None) == ""
    told = interval_sentence(Coverage(0.9, 0.88, 1.8, 424, 0, "workflow"))
    assert told.startswith("90 % intervals held 88.0 % of 424 runtimes of unseen workflows")


def test_rows_of_long_names_stay_apart():
    long = "n" * 60
    assert row_names([f"{long}-1", f"{long}-2", "short"])[2] == "short"
    assert len(set(row_names([f"{long}-1", f"{long}-2", "short"]))) == 3


def test_words_of_ratios_changes_and_moments():
    assert percent_more(1.97) == "97 %"
    assert change_words(1.2, 1.1, 1.3) == "faster by 20 %"
    assert change_words(0.8, 0.7, 0.9) == "slower by 20 %"
    assert change_words(1.2, 0.9, 1.4) == "as before"
    assert moment_words(0.0) == "1970-01-01 00:00"
    assert moment_words(float("nan")) == "no time"


def test_the_time_line_tells_flags_parts_and_the_newest_runs():
    found = given.detection()
    chart = timeline(found, HOSTILE)
    assert chart.takeaway.startswith("2 of 20 runs of <img")
    assert "the newest run of disk-fio is flagged: Over time says whether to run it again" in chart.takeaway
    assert "no newest run is flagged" in timeline(found, "calm").takeaway
    assert "No run of gone has a verdict" in timeline(found, "gone").takeaway
    by_name = {trace.name: trace for trace in chart.figure.data}
    assert len(by_name["flagged"].x) == 2
    symbols = [symbol for name in given.BENCHMARKS for symbol in by_name[name].marker.symbol]
    assert sum(symbol.endswith("-open") for symbol in symbols) == 12
    assert by_name["disk-fio"].y[-1] == pytest.approx(0.9)
    assert "events_per_second -4.2, cpu_busy_pct_mean +1.5" in set(chart.data["drivers"])


def test_every_node_over_time_has_its_share_of_flagged_runs():
    found = given.detection()
    chart = degradation_over_time(found)
    table = chart.data
    assert (table["runs"].sum(), table["flagged"].sum()) == (given.N, int(found.runs.flag.sum()))
    cells = chart.figure.data[0]
    shares = np.array(cells.z, dtype=float)
    assert np.nansum(shares > 0) == (table["flagged"] > 0).sum()
    assert np.isfinite(shares).sum() == len(table)
    assert flagged_now(found) == {HOSTILE: ("disk-fio",)}
    assert chart.takeaway.endswith(f"newer runs are flagged, the newest ones of {HOSTILE} (disk-fio).")
    shown = {line.label: line for line in detection_figures(found)}
    assert shown["Flagged now"].value == "1 node"
    calm = dataclasses.replace(found, runs=dataclasses.replace(found.runs, flag=np.zeros(given.N, dtype=bool)))
    assert degradation_over_time(calm).takeaway == "No node's newest run is flagged; 0 of 16 newer runs are flagged."


@pytest.mark.parametrize(
    ("share", "lost", "said"),
    [
        (1 / 12, 0, "12 of 16 newer runs are flagged, the newest ones of "),  # 1 / (11 + 1)
        (1 / 13, 1, " No run of cpu-sysbench can be flagged: that takes 12 training runs of a benchmark with history."),
        (
            1 / 14,
            0,
            "No run can be flagged: that takes 13 training runs of a benchmark with history; there are at most 12.",
        ),
    ],
)
def test_without_labels_the_benchmarks_that_have_too_few_runs_to_flag_any_are_named(share, lost, said):
    found = given.without_labels()
    label = np.where(np.arange(given.N) == 0, lost, -1)  # of cpu-sysbench, in training
    flag = np.arange(given.N) % 4 > 0
    found = dataclasses.replace(found, threshold=share, runs=dataclasses.replace(found.runs, label=label, flag=flag))
    assert said in degradation_sentence(found)
    assert (" be flagged" in degradation_sentence(found)) == (" be flagged" in said)
    assert "be flagged" not in degradation_sentence(dataclasses.replace(found, supervised=True))


def test_scores_per_price_keep_the_ratios_of_scores_and_prices():
    found = ranking_with_prices()
    score = {one.node: one.score for one in found.nodes}
    priced = per_price(found)
    assert [(one.node, one.rank) for one in priced.nodes][:2] == [("small", 1), ("big", 2)]
    assert priced.nodes[0].score == score["small"] / 0.5
    assert priced.nodes[2].rank is None
    assert priced.nodes[2].reason == "no price"
    (pair,) = priced.pairs
    (before,) = (one for one in found.pairs if one.aspect == "overall" and {one.node, one.other} == {"big", "small"})
    assert (pair.node, pair.other) == ("small", "big")
    assert pair.ratio == pytest.approx(8 / 0.5 / before.ratio)
    assert (pair.low, pair.high) == pytest.approx((16 / before.high, 16 / before.low))
    assert "Price aside, big is" in decision_sentence(found)
    assert decision_sentence(ranking()) == ranking_sentence(ranking())


def test_what_is_within_noise_is_so_in_ranking_and_groups():
    found = rank_nodes(
        {"runs": runs_of({"a": 1.0, "b": 1.0, "c": 1.01}, noise=0.1, seed=5)}, RankSettings(**FEW), silent
    )
    grouped = group_nodes(
        {"runs": runs_of({"a": 1.0, "b": 1.0, "c": 1.01}, noise=0.1, seed=5)},
        GroupSettings(RankSettings(**FEW)),
        silent,
    )
    assert set(found.alike) == set(found.metrics) - set(grouped.aspects)
    assert found.alike
    assert not [one for one in found.pairs if one.aspect in found.alike and one.clear]


def test_without_labels_p_values_are_called_so():
    chart = timeline(given.without_labels(), HOSTILE)
    assert chart.figure.layout.yaxis.type == "log"
    assert "p-value" in chart.figure.layout.yaxis.title.text
    assert "p_value" in chart.data.columns
    assert min(value for trace in chart.figure.data for value in trace.y if value is not None) >= 1e-3
    assert detection_reliability(given.without_labels()) is None
    assert not detectors_table(given.without_labels()).rows
    labels = {line.label for line in detection_figures(given.without_labels())}
    assert "Brier score" not in labels


def test_the_code_map_tells_benchmarks_by_colour_and_symbol():
    data = code_map(given.detection()).figure.data
    marks = {(trace.marker.color, trace.marker.symbol) for trace in data[:-1]}
    assert len(marks) == len(given.BENCHMARKS)
    assert len({symbol for _, symbol in marks}) == len(given.BENCHMARKS)
    assert (data[-1].name, len(data[-1].x)) == ("flagged", 2)


def test_detectors_metrics_and_runs_without_a_verdict_are_listed():
    found = given.detection()
    table = detectors_table(found).frame()
    assert table["detector"].iloc[0] == "combined (used)"
    assert table["f1_anomalous"].is_monotonic_decreasing
    unseen, orientations, unscored = (one.frame() for one in doubts(found))
    assert orientations["reading"].tolist() == ["the data disagree", "agreed"]
    assert unseen["metric"].tolist() == ["cpu-sysbench.total_time"]
    assert len(unscored) == 1
    assert "24 runs, 4 of them under load" in trust_sentence(found)
    assert len(runs_table(found).rows) == given.N
    shown = {line.label: line.value for line in detection_figures(found)}
    assert (shown["Flagged"], shown["Detector"], shown["F1 of degraded"]) == ("1", "Combined", "0.950")


def test_a_bracket_is_explained_where_one_is_drawn():
    assert "Bracket: no clear difference." in ranked_bars(tied()).note
    clear = ranking()
    assert not tie_spans(clear.nodes)
    assert "Bracket" not in ranked_bars(clear).note
