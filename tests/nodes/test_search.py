"""Configuration search: what is read of a table, the published steps, and that scores which are right help."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from workprof.answers.configurations import curve_table, search_answer, search_figures
from workprof.charts.nodes.search import cost_curves
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, SettingsError, TraceError
from workprof.nodes.search import (
    ARROW,
    CHERRYPICK,
    SearchSettings,
    configurations_of,
    expected_improvement,
    read_configurations,
    read_machine_scores,
    search,
    search_file,
)

MACHINES = {"small": (1.0, 1.0), "mid": (1.8, 2.0), "fast": (3.5, 3.2), "io": (1.2, 1.6), "big": (2.5, 4.5)}


def table(workloads=(("sort", 0.9, 900.0), ("train", 0.97, 3000.0)), counts=(1, 2, 4, 8, 16)):
    rng, rows = np.random.default_rng(1), []
    for name, parallel, work in workloads:
        for machine, (speed, price) in MACHINES.items():
            for count in counts:
                runtime = work / speed * (1 - parallel + parallel / count) * rng.lognormal(0, 0.03) + 3 * count
                cost, wait = runtime * count * price / 3600, 20 + 5 * count / speed
                rows.append((name, machine, count, runtime, cost, speed, 95 * parallel * (0.6 + 0.4 / count), wait))
    names = ["workload", "machine", "count", "runtime", "cost", "ghz", "cpu_percent", "wait"]
    return pd.DataFrame(rows, columns=names)


SCORES = pd.DataFrame(
    [(name, 100 * speed, price) for name, (speed, price) in MACHINES.items()], columns=["machine", "cpu", "memory"]
)


def written(tmp_path, frame, name="table.csv"):
    path = tmp_path / name
    frame.to_csv(path, index=False)
    return path


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unknown", [np.nan, -1.0, np.inf])
def test_a_trial_that_does_not_tell_what_it_used_leaves_the_others_to_tell(tmp_path, unknown):
    whole, scores = table(workloads=(("sort", 0.9, 900.0),)), written(tmp_path, SCORES, "scores.csv")
    holes = whole.assign(cpu_percent=whole["cpu_percent"].where(np.arange(len(whole)) % 3 > 0, unknown), wait=np.inf)
    found = search_file(written(tmp_path, holes), SearchSettings(seeds=4, trials=6), scores)
    assert found.notes[-1] == "9 configurations of sort without cpu_percent: not weighed by it"
    filled = "missing values count as the mean of the others: cpu_percent of 9 configurations"
    assert found.notes[:-1] == ((filled,) * (unknown != -1) + ("wait holds no numbers and is not used",))
    assert found.curves["with scores"].mean[-1] == pytest.approx(1)  # 1.43 where they were tried in the table's order


def test_the_expected_improvement_is_the_integral():
    for mean, deviation, best in ((0.0, 1.0, 0.5), (2.0, 0.7, 1.0), (-1.0, 2.0, 1.5)):
        slow, _ = quad(lambda cost: (best - cost) * norm.pdf(cost, mean, deviation), mean - 12 * deviation, best)  # noqa: B023
        assert expected_improvement(np.array([mean]), np.array([deviation]), best)[0] == pytest.approx(slow, abs=1e-9)
    assert expected_improvement(np.array([1.0, 3.0]), np.zeros(2), 2.0).tolist() == [1.0, 0.0]


def test_what_a_table_says(tmp_path):
    frame = table()
    again = frame.iloc[[0]].assign(runtime=frame.runtime[0] * 3)
    found, notes = read_configurations(written(tmp_path, pd.concat([frame, again])))
    assert [one.workload for one in found] == ["sort", "train"]
    first = found[0]
    assert len(first.cost) == 25
    at = first.machine.index("small")
    assert first.runtime[at] == pytest.approx(2 * frame.runtime[0])
    assert first.known.shape == (25, 2)  # count and ghz, which describes the machine
    assert first.metrics.shape == (25, 2)  # cpu_percent and wait differ between runs
    assert set(first.used) == {"cpu"}
    assert notes == ("further measurements of configurations, averaged with the first: 1",)


def test_machines_are_told_apart_by_what_differs_between_them_and_is_known_before_a_trial():
    frame = table(workloads=(("sort", 0.9, 900.0),)).drop(columns=["ghz", "wait"])
    (one,), _ = configurations_of(frame.assign(zone=1))
    assert (one.known.shape, one.metrics.shape) == ((25, 1 + len(MACHINES)), (25, 1))
    (once,), _ = configurations_of(frame.groupby("machine").head(1).assign(cpu_percent=[10, 60, 20, 80, 40]))
    assert (once.known.shape, once.metrics.shape) == (
        (5, 1 + len(MACHINES)),
        (5, 1),
    )


def test_a_configuration_is_named_in_words(tmp_path):
    frame = table().assign(memory_mib=512, threads=[1 + row % 2 for row in range(50)], pinned="yes")
    found, notes = read_configurations(written(tmp_path, frame), ("threads", "memory_mib", "pinned"))
    assert notes == ()
    assert set(found[0].options) == {f"threads {n}, memory 512 MiB, pinned yes" for n in (1, 2)}
    _, notes = configurations_of(frame.assign(threads=[np.nan, *range(1, 50)]), ("threads",))
    assert "missing values count as the mean of the others: threads of 1 configuration" in notes


@pytest.mark.slow
@pytest.mark.some(1)
@pytest.mark.parametrize("optimizer", [CHERRYPICK, ARROW])
def test_right_scores_help_and_the_searches_find_what_is_cheap(tmp_path, optimizer):
    path, scores = written(tmp_path, table()), written(tmp_path, SCORES, "scores.csv")
    given = SearchSettings(optimizer, trials=8, seeds=3)
    found = search_file(path, given, scores)
    assert set(found.curves) == {"at random", "without scores", "with scores"}
    for curve in found.curves.values():
        assert (np.diff(curve.mean) <= 1e-12).all()
        assert (curve.mean >= 1).all()
        assert curve.mean[-1] < 1.15
        assert (curve.low <= curve.median).all() and (curve.median <= curve.high).all()
    sixth = found.differences[5]
    assert sixth.trials == 6
    assert sixth.low <= sixth.mean <= sixth.high
    assert sixth.mean < 0
    assert [one.trial for one in found.path if one.workload == "sort"] == list(range(1, 9))
    assert len({one.configuration for one in found.path if one.workload == "sort"}) == 8  # none twice
    cheapest = table().query("workload == 'sort'").sort_values("cost").iloc[0]
    assert found.workloads["sort"] == f"{cheapest.machine} x {cheapest['count']}"
    assert search_file(path, given, scores).path == found.path


@pytest.mark.slow
def test_a_limit_leaves_slow_configurations_out(tmp_path):
    frame = table(workloads=(("", 0.97, 3000.0),))
    path = written(tmp_path, frame.drop(columns="workload"))
    limit = float(frame.runtime.quantile(0.3))
    found = search_file(path, SearchSettings(trials=20, seeds=2, limit_s=limit))
    inside = frame[frame.runtime <= limit]
    cheapest = inside.sort_values("cost").iloc[0]
    assert found.workloads == {"": f"{cheapest.machine} x {cheapest['count']}"}
    assert found.path[-1].best_cost == pytest.approx(cheapest.cost, rel=0.2)
    assert all(one.best_cost is None or one.best_cost >= cheapest.cost * (1 - 1e-9) for one in found.path)


def test_bad_tables_are_named(tmp_path):
    frame = table()
    with pytest.raises(NoRows, match="is no file"):
        read_configurations(tmp_path / "none.csv")
    with pytest.raises(ColumnMissing, match="no column cost"):
        read_configurations(written(tmp_path, frame.drop(columns="cost")))
    with pytest.raises(TraceError, match=r"line 3: runtime is -1\.0"):
        read_configurations(written(tmp_path, frame.assign(runtime=[5.0, -1.0, *frame.runtime[2:]])))
    with pytest.raises(NotEnoughData, match="3 configurations; a search needs at least 4"):
        search(read_configurations(written(tmp_path, frame.head(3)))[0], SearchSettings())
    with pytest.raises(NotEnoughData, match="within 1 s; the fastest takes"):
        search(read_configurations(written(tmp_path, frame))[0], SearchSettings(limit_s=1.0))
    with pytest.raises(SettingsError, match="'small' has two rows"):
        read_machine_scores(written(tmp_path, pd.concat([SCORES, SCORES.head(1)])))
    with pytest.raises(ColumnMissing, match="needs the column machine"):
        read_machine_scores(written(tmp_path, SCORES[["machine"]]))


def test_random_search_is_the_least_of_so_many_draws(tmp_path):
    tables = read_configurations(written(tmp_path, table()))[0]
    curve = search(tables, SearchSettings(trials=3, seeds=400)).curves["at random"]
    for after in (1, 2, 3):
        expected = []
        for one in tables:
            cost, n = np.sort(one.cost), len(one.cost)
            chance = [math.comb(n - 1 - place, after - 1) / math.comb(n, after) for place in range(n)]
            expected.append(float(cost @ chance) / cost[0])
        assert curve.mean[after - 1] == pytest.approx(np.mean(expected), rel=0.08)
    assert (np.diff(curve.mean) <= 0).all()


def test_no_more_trials_are_told_than_there_are_configurations(tmp_path):
    """Of 12 configurations a search of 100 trials ends after 12: sentence, figures, table and curve say so."""
    given = SearchSettings(trials=100, seeds=2)
    found = search(read_configurations(written(tmp_path, table(workloads=(("", 0.97, 3000.0),)).head(12)))[0], given)
    answer = search_answer(found)
    assert found.n_trials == len(found.path) == 12
    assert "After 12 trials" in [one.label for one in answer.figures]
    assert [len(one.rows) for one in answer.tables] == [12, 12]
    assert max(cost_curves(found).figure.data[1].x) == 12


def test_the_interval_of_a_difference_is_called_what_it_is(tmp_path):
    path, scores = written(tmp_path, table()), written(tmp_path, SCORES, "scores.csv")
    found = search_file(path, SearchSettings(trials=4, seeds=2), scores)
    (difference,) = (one for one in curve_table(found).columns if one.name == "difference")
    assert difference.heading == "Difference (90 % interval)"


def test_what_the_optimiser_gains_over_random_search_is_drawn_and_said(tmp_path):
    found = search(read_configurations(written(tmp_path, table()))[0], SearchSettings(trials=5, seeds=6))
    ours, chance = (found.curves[kind].mean[-1] for kind in ("without scores", "at random"))
    chart = cost_curves(found)
    assert [trace.name for trace in chart.figure.data if trace.name] == ["without scores", "at random"]
    gain = 100 * (1 - ours / chance)
    assert f"costs {abs(gain):.1f} % {'less' if gain >= 0 else 'more'} than that" in chart.note
    told = {one.label: one.value for one in search_figures(found)}
    assert told["Random search"] == f"+{100 * (chance - 1):.1f} %"


def test_a_run_costs_its_time_times_the_price_of_the_machines(tmp_path):
    frame = table()
    prices = {name: price for name, (_, price) in MACHINES.items()}
    by_hand = frame.runtime / 3600 * frame["count"] * frame.machine.map(prices)
    plain = configurations_of(frame.assign(cost=by_hand))[0]
    given, notes = configurations_of(frame, prices=prices)  # prices win over the table's own cost
    own = configurations_of(frame.drop(columns="cost").assign(price_per_h=frame.machine.map(prices)))[0]
    for one, two, three in zip(plain, given, own, strict=True):
        assert two.cost == pytest.approx(one.cost)
        assert three.cost == pytest.approx(one.cost)
        assert (one.known == two.known).all() and (one.known == three.known).all()
    assert notes == ("a run costs its runtime x the machines x the price of one per hour",)
    some, notes = configurations_of(frame, prices={"small": 1.0, "mid": 2.0})
    assert {name for one in some for name in one.machine} == {"small", "mid"}
    assert notes[1] == "no price of big, fast, io: 30 measurements left out"
    with pytest.raises(SettingsError, match="no machine of the table has a price; it has big, fast, io, mid, small"):
        configurations_of(frame, prices={"other": 1.0})
    with pytest.raises(SettingsError, match="prices name 'midd', which is no machine of the table; it has"):
        configurations_of(frame, prices={"small": 1.0, "midd": 2.0})
    with pytest.raises(ColumnMissing, match=r"no column cost; .* give --prices"):
        configurations_of(frame.drop(columns="cost"))
    with pytest.raises(ColumnMissing, match="no column cost"):
        read_configurations(written(tmp_path, frame.drop(columns="cost")))


@pytest.mark.parametrize("score", ["good", "inf"])
def test_a_score_that_is_no_number_is_refused_with_its_machine(tmp_path, score):
    path = tmp_path / "scores.csv"
    path.write_text(f"machine,cpu\nbig,3\nfast,{score}\nmid,\n")
    with pytest.raises(SettingsError, match=f"cpu of machine 'fast' is {score}"):
        read_machine_scores(path)
