"""Verdicts on nodes over time: the plain definition, planted changes, and how rarely a steady node is suspected."""

import statistics

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.nodes.planted_nodes import numbered, run_of, runs_of
from workprof.answers.digest import team_letter
from workprof.answers.node_history import STEADY, TOO_FEW, history_answer, history_sentence, moved_words
from workprof.charts.nodes.history import course_lines, states_over_time
from workprof.core.errors import NotEnoughData
from workprof.core.progress import silent
from workprof.core.settings import from_environment
from workprof.nodes.history import EXCLUDED, RERUN, SERVICE, HistorySettings, limits, node_history, trend_of, verdicts
from workprof.nodes.ranking import rank_nodes
from workprof.nodes.selection import RankSettings
from workprof.watch.numbers import value_of
from workprof.workbench import Workbench

ALARM, GOOD, DROP = 0.002, 3, 0.1
ASKED = HistorySettings(false_alarm_share=ALARM, good_runs=GOOD, least_drop_share=DROP)


def slow_verdicts(values, alarm, good_runs):
    """Return the states as the words of the module have them, each from the whole list of runs before it."""
    lowest, limit = limits(alarm)
    states, kind = [], {}  # place -> 'normal' or not
    now, began, row = SERVICE, None, 0
    down, up, down_since, up_since, start = 0.0, 0.0, 0, 0, 0
    for at, value in enumerate(values):
        usual = [values[i] for i in range(start, at) if kind[i] and (began is None or i < began)]
        if len(usual) < 3:
            kind[at], down_since, up_since = True, at + 1, at + 1
            states.append(SERVICE)
            continue
        spread = max(statistics.stdev(usual), 0.01) * (1 + 1 / len(usual)) ** 0.5
        place = stats.t.cdf((value - statistics.mean(usual)) / spread, min(len(usual) - 1, 4))
        score = stats.norm.ppf(min(max(place, 1e-300), 1 - 1e-16))
        kind[at], ratio = False, np.exp(value - statistics.mean(usual))
        if now == SERVICE:
            sudden = score < lowest and down < 1.645
            down, up = max(0, down - score - 0.5), max(0, up + min(score, -lowest) - 0.5)
            down_since, up_since = (at + 1 if down == 0 else down_since), (at + 1 if up == 0 else up_since)
            if (score < lowest or down > limit) and ratio < 1 - DROP:
                kept = [i for i in range(start, at) if kind[i]][: max(3, len(usual) // 2)]
                now, began = RERUN, at if sudden or down <= limit else max(down_since, kept[-1] + 1)
            else:
                kind[at] = True
                if up > limit:
                    start, down, up, down_since, up_since = up_since, 0, 0, at + 1, at + 1
        elif now == RERUN and score < -1.645 and ratio < 1 - DROP:
            now, row = EXCLUDED, 0
        elif now == RERUN:
            now, began, kind[at] = SERVICE, None, True
            down, up, down_since, up_since = 0, 0, at + 1, at + 1
        else:
            row = 0 if score < -1.645 and ratio < 1 - DROP / 2 else row + 1
            if row >= good_runs:
                for i in range(began, at + 1):
                    kind[i] = i > at - row
                now, began, down, up, down_since, up_since = SERVICE, None, 0, 0, at + 1, at + 1
        states.append(now)
    return states


def stepped(rng, *parts, noise=0.02):
    """Return logarithms of runs: of each part so many at a level."""
    return np.concatenate([rng.normal(level, noise, count) for count, level in parts])


@pytest.mark.parametrize("seed", range(6))
def test_the_verdicts_are_those_of_the_plain_definition(seed):
    rng = np.random.default_rng(seed)
    values = stepped(rng, (9, 0.0), (5, -0.2), (9, 0.0), (6, 0.3), (4, 0.05), (7, 0.3), (12, 0.25))
    values[rng.integers(5, len(values), 3)] -= 0.15
    states = [(SERVICE, RERUN, EXCLUDED)[one] for one in verdicts(values, ASKED)[1]]
    assert states == slow_verdicts(values.tolist(), ALARM, GOOD)
    assert {RERUN, EXCLUDED} <= set(states)


def test_a_verdict_never_depends_on_later_runs():
    values = stepped(np.random.default_rng(3), (10, 0.0), (6, -0.15), (10, 0.0))
    ratio, state, since = verdicts(values, ASKED)
    for n in (4, 11, 13, 18, 22):
        for whole, part in zip((ratio, state, since), verdicts(values[:n], ASKED), strict=True):
            assert np.array_equal(whole[:n], part, equal_nan=True)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["normal", "laplace", "t4"])
def test_steady_nodes_are_suspected_at_most_as_often_as_stated(noise):
    rng, stated, reports, nodes, alarms = np.random.default_rng(5), 0.02, 30, 60, 0
    for _ in range(nodes):
        asked = np.zeros(reports, dtype=bool)
        for _ in range(6):
            drawn = {"normal": rng.normal, "laplace": rng.laplace, "t4": lambda *, size: rng.standard_t(4, size)}[noise]
            state = verdicts(
                0.02 * drawn(size=reports), HistorySettings(false_alarm_share=stated, least_drop_share=0.0), 6
            )[1]
            asked |= (state == 1) & (np.roll(state, 1) != 1)
        alarms += int(asked.sum())
    assert alarms / (nodes * reports) <= stated


@pytest.mark.slow
def test_planted_degradations_are_found_soon_and_a_node_does_not_flip():
    rng, found, back, flips = np.random.default_rng(7), [], [], 0
    for _ in range(60):
        state = verdicts(stepped(rng, (12, 0.0), (12, np.log(0.85)), (15, 0.0)), ASKED)[1]
        ill, well = state[12:24], state[24:]
        found.append(np.argmax(ill == 2) + 1 if (ill == 2).any() else 99)
        back.append(np.argmax(well == 0) + 1 if (well == 0).any() else 99)
        flips += int((np.diff(ill) < 0).sum()) + int((np.diff(well) > 0).sum())
    assert np.median(found) <= 2 and np.quantile(found, 0.9) <= 4
    assert np.median(back) == GOOD and max(back) < 12
    assert flips <= 3


def test_a_slow_decline_is_found_and_a_better_level_is_the_new_normal():
    rng = np.random.default_rng(2)
    decline = rng.normal(0, 0.01, 40)
    decline[10:] -= 0.006 * np.arange(30)
    assert (verdicts(decline, ASKED)[1] == 2).any()
    ratio, state, _ = verdicts(stepped(rng, (10, 0.0), (20, 0.3), (10, 0.3)), ASKED)
    assert not state.any()
    assert ratio[-10:].mean() == pytest.approx(1, abs=0.03)


def planted():
    """Return ten reports of three nodes: one falls to 80 % in the last two, one in the last report only."""
    frame = runs_of({"calm": 1.0, "ill": 1.0, "odd": 1.0}, n_runs=8, noise=0.01, gap_s=3600.0)
    rows = frame.drop(columns="row_id").to_dict("records")
    for report, (ill, odd) in enumerate(((0.8, 1.0), (0.8, 0.8))):
        at_s = 1e9 + (9 + report) * 36_000
        rows += [run_of(node, "cpu-sysbench", speed, at_s) for node, speed in (("calm", 1), ("ill", ill), ("odd", odd))]
    rows += [run_of("calm", "cpu-sysbench", 0.1, 1e9, stressed=True), run_of("calm", "cpu-sysbench", 1, float("nan"))]
    return numbered(rows)


def test_nodes_are_told_with_their_benchmark_and_since_when():
    found = node_history({"runs": planted()}, HistorySettings())
    told = {one.node: (one.state, one.benchmark) for one in found.nodes}
    assert told == {"ill": (EXCLUDED, "cpu-sysbench"), "odd": (RERUN, "cpu-sysbench"), "calm": (SERVICE, "")}
    assert found.nodes[0].since_s == 1e9 + 9 * 36_000
    assert found.nodes[0].ratio == pytest.approx(0.8, abs=0.02)
    assert [one.state for one in found.changes if one.node == "ill"] == [EXCLUDED, RERUN]
    assert found.left_out == {"labelled as stressed": 1, "without a start, or a value of every metric": 1}
    assert (found.n_excluded, found.n_rerun) == (1, 1)
    answer = history_answer(found)
    assert answer.sentence.startswith("1 node is excluded: ill (cpu-sysbench 20 % below normal since 2001-09-12")
    assert "1 node is to be run again to confirm: odd" in answer.sentence
    drawn = states_over_time(found).figure.data[0]
    assert np.nanmax(np.asarray(drawn.z, dtype=float), axis=1).tolist() == [2, 1, 0]
    assert len(course_lines(found, "ill").data) == 8 * 4 + 2
    assert (
        moved_words(found, "runs", 7)
        == "Nodes of runs: ill (cpu-sysbench 20 % below normal since 2001-09-12 19:46) went bad"
    )
    assert moved_words(found, "runs", 0) == ""
    with pytest.raises(NotEnoughData, match="no benchmark run has a start"):
        node_history({"runs": planted().assign(started_s=np.nan)}, HistorySettings())


def test_a_node_that_the_ranking_calls_degraded_is_named_over_time_and_the_other_way_round():
    rows = planted().dropna(subset="started_s").drop(columns="row_id").to_dict("records")
    rows += [run_of("calm", "memory-sysbench", 1.0 if run < 12 else 0.9, 1e9 + run * 36_000) for run in range(13)]
    runs = {"runs": numbered(rows)}
    ranked = rank_nodes(runs, RankSettings(n_draws=100), silent)
    bad = {one.node: one.degraded for one in ranked.nodes}
    found = node_history(runs, HistorySettings())
    assert bad == {one.node: one.slowed for one in found.nodes}
    named = [one.node for one in found.nodes if one.slowed and one.state != EXCLUDED]
    assert "calm" in named
    words = history_answer(found).sentence.partition("the ranking calls degraded: ")[2]
    assert all(f"{node} (its" in words for node in named)
    assert any("Over time follows every run" in note for note in ranked.notes)


def test_the_trend_is_the_median_of_the_slopes():
    rng = np.random.default_rng(0)
    at_s = np.sort(rng.uniform(0, 90 * 86_400, 20))
    values = -0.02 * at_s / (30 * 86_400) + rng.normal(0, 0.002, 20)
    slopes = [(values[j] - values[i]) / (at_s[j] - at_s[i]) for i in range(20) for j in range(i + 1, 20)]
    found = trend_of(at_s, values)
    assert found.per_month == pytest.approx(np.expm1(statistics.median(slopes) * 30 * 86_400))
    assert found.low < np.expm1(-0.02) < found.high
    assert np.isnan(trend_of(at_s[:5], values[:5]).per_month)


def test_a_row_that_repeats_a_bad_run_confirms_nothing():
    steady = runs_of({"a": 1.0}, n_runs=8).drop(columns="row_id").to_dict("records")
    once = numbered([*steady, run_of("a", "cpu-sysbench", 0.5, 2e9)])
    twice = pd.concat([once, once.tail(1)], ignore_index=True).assign(row_id=range(len(once) + 1))
    found = node_history({"runs": twice}, HistorySettings())
    assert (found.nodes[0].state, found.nodes[0].n_runs) == (RERUN, len(once))


def test_nodes_of_three_runs_are_called_too_few_to_judge_not_well():
    few, many = runs_of({"a": 1.0, "b": 1.0}, n_runs=3), runs_of({"c": 1.0}, n_runs=8)
    found = node_history({"runs": few}, HistorySettings())
    assert found.not_judged == ("a", "b")
    assert history_sentence(found) == TOO_FEW
    both = numbered(pd.concat([few, many]).drop(columns="row_id").to_dict("records"))
    told = history_sentence(node_history({"runs": both}, HistorySettings()))
    assert told == f"{STEADY} Too few runs to judge: a and b."


def test_newer_runs_of_other_parameters_are_told_because_they_are_not_followed():
    """After an update of a tool most runs are still of the version before."""
    rows = runs_of({"a": 1.0, "b": 1.0, "c": 1.0}, n_runs=8).drop(columns="row_id").to_dict("records")
    after = [run_of(node, "cpu-sysbench", 0.3, 2e9 + i) for i in range(3) for node in ("a", "b")]
    after += [run_of("c", "cpu-sysbench", 1.0, 1.0)]
    renewed = [one | {"stdout": one["stdout"].replace("1.0.20", "1.0.21")} for one in after]
    found = node_history({"runs": numbered([*rows, *renewed])}, HistorySettings())
    assert found.not_followed == ("a", "b")
    assert history_sentence(found) == (
        f"{STEADY} The newest runs of a and b are not followed: their parameters are not those of most."
    )
    assert history_answer(found).document["not_followed"] == ("a", "b")


@pytest.mark.slow
def test_an_alert_reads_how_many_nodes_are_out(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKPROF_HOME", str(tmp_path))
    lines = planted().dropna(subset="started_s")
    path = tmp_path / "runs.jsonl"
    renamed = lines.rename(columns={"started_s": "started", "finished_s": "finished"}).drop(columns="row_id")
    renamed = renamed.assign(argv=renamed.argv.map(eval), host=[{}] * len(lines), provenance=[{}] * len(lines))
    path.write_text(renamed.to_json(orient="records", lines=True))
    with Workbench(from_environment()) as bench:
        name = bench.ingest([path]).dataset
        jobs = pd.DataFrame({"task_name": "t", "duration_s": 60.0, "start_time_s": 1e9 + np.arange(40.0)})
        measured = {}
        for trace, node in (("mine", ["ill", "n7"] * 20), ("other", "n7"), ("unnamed", None)):
            (jobs if node is None else jobs.assign(node=node)).to_parquet(tmp_path / f"{trace}.parquet")
            measured[trace] = bench.benchmarks_of(bench.ingest([tmp_path / f"{trace}.parquet"]).hash)
        assert {trace: [one.name for one in runs] for trace, runs in measured.items()} == {
            "mine": [name],
            "other": [],
            "unnamed": [],
        }
        assert value_of(bench, name, "excluded_nodes") == 1
        assert value_of(bench, name, "nodes.history:nodes_to_rerun") == value_of(bench, name, "nodes_to_rerun") == 1


@pytest.mark.slow
def test_the_digest_names_a_node_that_came_back():
    rows = planted().dropna(subset="started_s").drop(columns="row_id").to_dict("records")
    for report in range(GOOD + 1):
        at_s = 1e9 + (11 + report) * 36_000
        rows += [run_of(node, "cpu-sysbench", 1.0, at_s) for node in ("calm", "ill", "odd")]
    found = node_history({"runs": numbered(rows)}, HistorySettings())
    assert moved_words(found, "runs", 7) == "Nodes of runs: ill came back"
    assert moved_words(found, "runs", 7, 1e9 + 60 * 86_400) == "", "a trace that goes on for weeks tells it once"
    assert "Nodes of runs: ill came back." in team_letter(("jobs", "0" * 32), None, None, (), (("runs", found),)).lines


def test_a_node_whose_newest_runs_fail_is_not_silently_in_service():
    rows = runs_of({"a": 1.0, "b": 1.0}, n_runs=8).drop(columns="row_id").to_dict("records")
    failed = {"rc": 1, "stdout": "", "stderr": "disk full"}
    rows += [run_of("a", name, 1.0, 2e9) | failed for name in ("cpu-sysbench", "disk-ioping")]
    rows += [run_of("lost", "cpu-sysbench", 1.0, 1.0 + i) | failed for i in range(8)]
    found = node_history({"runs": numbered(rows)}, HistorySettings())
    assert found.failed == {"a": ("cpu-sysbench", "disk-ioping"), "lost": ("cpu-sysbench",)}
    assert history_sentence(found) == (
        f"{STEADY} Newest runs failed, measured 0 or cannot be read, and have no verdict: "
        "a (cpu-sysbench, disk-ioping) and lost (cpu-sysbench)."
    )


def test_runs_that_start_together_are_told_as_times_do_not_order_them():
    frame = runs_of({"a": 1.0}, n_runs=8)
    assert history_answer(node_history({"runs": frame}, HistorySettings())).document["n_same_start"] == 0
    days = frame.assign(started_s=(frame["started_s"] // 100_000) * 100_000)
    answer = history_answer(node_history({"runs": days}, HistorySettings()))
    assert answer.document["n_same_start"] == len(frame) - 4 * days["started_s"].nunique()
    assert any("the order of rows decides" in note for note in answer.notes)


def test_every_node_that_the_ranking_calls_slower_is_counted():
    rows = [run_of(f"n{i}", "cpu-sysbench", 1.0, 1e9 + t) for i in range(12) for t in range(8)]
    rows += [run_of(f"n{i}", "cpu-sysbench", 0.9 if i < 5 else 1.0, 2e9) for i in range(12)]
    found = node_history({"runs": numbered(rows)}, HistorySettings(least_drop_share=0.5))
    assert " and 2 more." in history_sentence(found)


def test_a_newest_run_that_measured_nothing_at_all_is_named_too():
    rows = runs_of({"a": 1.0}, n_runs=8).drop(columns="row_id").to_dict("records")
    found = node_history({"runs": numbered([*rows, run_of("a", "cpu-sysbench", 0.0, 2e9)])}, HistorySettings())
    assert found.failed == {"a": ("cpu-sysbench",)}
