"""Runtime transfer: Perona's Table III, other factors on its reports, planted truth, invariants, what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tests.nodes.transfer_reports import MACHINES, lotaru_reports, planted
from tests.shared_data import needs_shared_data
from workprof.answers.node_groups import TRANSFER_NOTE, transfer_answer
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.nodes.runtime_factors import (
    FACTORS,
    PUBLISHED_SCORES,
    MachineScores,
    TaskTraits,
    compute_ratio,
    exponent,
    published_task_benchmarks,
    scores_from_frame,
    task_mix,
    task_ratio,
)
from workprof.nodes.runtime_models import TaskRuns, busy_share, correlation, line_or_median, naive, online_m
from workprof.nodes.transfer import TransferSettings, error_figures, transfer

pytestmark = pytest.mark.slow

SPEEDS = {"home": 1.0, "fast": 2.0, "slow": 0.5}


def scores(speeds, io=None):
    io = io or {}
    return {
        name: MachineScores(name, cpu=100 * speed, linpack=1e6 * speed, memory=1e4 * speed, io=400 * io.get(name, 1.0))
        for name, speed in speeds.items()
    }


def runs(size, time, cpu=None):
    size, time = np.array(size, float), np.array(time, float)
    return TaskRuns(size, time, np.full(len(size), 100.0) if cpu is None else np.array(cpu, float))


# Perona (Scheinert et al. 2022), Table III: median, 90th and 95th percentile of |predicted - measured| / measured. The
# set-up is not stated there and was found from the public reports: learned on n2, predicted for n1 and c2, by Lotaru's
# code of June 2022. Perona's own row cannot be computed again, its scores were not published; Online-P draws.
LOCAL, TARGETS, N_ERRORS = "n2", ("n1", "c2"), 424
TABLE_III = {
    "naive": (0.6692, 13.9303, 47.2588),
    "online_m": (0.1955, 0.5967, 0.8010),
    "lotaru": (0.1237, 0.4741, 0.7935),
}


def figures(one):
    return round(one.median, 4), round(one.p90, 4), round(one.p95, 4)


@pytest.fixture(scope="module")
def table_iii():
    return transfer(lotaru_reports(), PUBLISHED_SCORES, TransferSettings(LOCAL, TARGETS), published_task_benchmarks())


@needs_shared_data
@pytest.mark.parametrize("method", ["naive", "online_m", "lotaru"])
def test_table_iii(table_iii, method):
    assert figures(table_iii.methods[method]) == TABLE_III[method]
    assert table_iii.methods[method].n == N_ERRORS
    assert table_iii.n_untrained == table_iii.n_absent == 0
    assert (~table_iii.predicted.from_line).sum() == 64


@needs_shared_data
def test_online_p_lies_where_draws_put_it(table_iii):
    median, p90, p95 = figures(table_iii.methods["online_p"])
    assert 0.194 <= median <= 0.196
    assert 0.588 <= p90 <= 0.637
    assert 0.799 <= p95 <= 0.807


@needs_shared_data
@pytest.mark.parametrize(
    ("factor", "expected"),
    [
        ("none", (0.1739, 0.5066, 0.7930)),
        ("cpu-ratio", (0.0863, 0.4649, 0.7930)),
        ("cpu-memory", (0.0883, 0.4674, 0.7930)),
        ("cpu-ratio-all", (0.0859, 0.4649, 0.7774)),
        ("cpu-memory-all", (0.0836, 0.4674, 0.7771)),
    ],
)
def test_other_factors_on_the_same_reports(table_iii, factor, expected):
    assert figures(table_iii.methods[factor]) == expected


@needs_shared_data
@pytest.mark.parametrize(
    ("n1", "c2", "expected"), [(1.058, 0.958, (0.1411, 0.4883, 0.7968)), (1.24, 0.892, (0.0812, 0.4696, 0.7930))]
)
def test_constant_factors_on_the_same_reports(table_iii, n1, c2, expected):
    told = table_iii.predicted
    factor = np.where(told.from_line, np.where(told.target == "n1", n1, c2), 1.0)
    assert figures(error_figures(told.locally_s * factor, told.measured_s)) == expected


@needs_shared_data
def test_our_default_meets_its_bars(table_iii):
    ours = table_iii.methods[table_iii.default]
    assert ours.median <= 0.088
    assert ours.p90 <= 0.468
    assert ours.p95 <= 0.785


@needs_shared_data
@pytest.mark.parametrize("local", MACHINES)
def test_our_default_is_no_worse_than_the_published_factor_from_every_machine(local):
    targets = tuple(name for name in MACHINES if name != local)
    found = transfer(lotaru_reports(), PUBLISHED_SCORES, TransferSettings(local, targets))
    ours, published = found.methods[found.default], found.methods["lotaru"]
    assert ours.median < published.median
    assert ours.p90 < published.p90
    assert ours.p95 < published.p95


@needs_shared_data
def test_the_choice_of_a_factor_holds_on_workflows_left_out(table_iii):
    told = table_iii.predicted
    factors = [name for name in told.by_method if name in FACTORS]
    chosen, predicted_s = {}, np.full(len(told.measured_s), np.nan)
    for workflow in sorted(set(told.workflow.tolist())):
        out = told.workflow == workflow
        errors = {name: error_figures(told.by_method[name][~out], told.measured_s[~out]).median for name in factors}
        chosen[workflow] = min(errors, key=errors.get)
        predicted_s[out] = told.by_method[chosen[workflow]][out]
    assert list(chosen) == ["atacseq", "bacass", "chipseq", "eager", "methylseq"]
    assert sum(one in ("task-mix", table_iii.default) for one in chosen.values()) >= 4  # without history they are near
    held_out = error_figures(predicted_s, told.measured_s)
    assert held_out.n == N_ERRORS
    assert held_out.median <= 0.088
    assert held_out.p90 <= 0.468
    assert held_out.p95 <= 0.785


def test_lotaru_factor_of_the_specification():
    n2, n1, c2 = (PUBLISHED_SCORES[name] for name in MACHINES)
    rule = FACTORS["lotaru"].rule
    assert round(rule(n2, n1, TaskTraits()), 4) == 1.0957
    assert round(rule(n2, c2, TaskTraits()), 4) == 0.9430


def test_planted_speeds_are_told_exactly():
    found = transfer(planted(SPEEDS), scores(SPEEDS), TransferSettings("home", ("fast", "slow")))
    assert found.methods[found.default].p95 == pytest.approx(0, abs=1e-9)
    assert found.methods["none"].median > 0.4
    assert found.predicted.times_largest_input.min() > 1


def test_waiting_is_scaled_apart_from_computing():
    disks = {"home": 1.0, "fast": 1.0, "slow": 4.0}
    reports = planted(SPEEDS, busy=0.5, waiting=disks)
    found = transfer(reports, scores(SPEEDS, disks), TransferSettings("home", ("fast", "slow")))
    assert found.methods[found.default].p95 == pytest.approx(0, abs=1e-9)
    assert found.methods["cpu-ratio-all"].median > 0.2


@pytest.mark.parametrize("name", [name for name in FACTORS if name not in ("none", "lotaru_a")])
def test_factors_are_ratios(name):
    rule = FACTORS[name].rule
    one = MachineScores("a", cpu=300, linpack=3e6, memory=1e4, io=500)
    other = MachineScores("b", cpu=200, linpack=2.5e6, memory=1.2e4, io=300)
    in_other_units = [replace(machine, cpu=machine.cpu * 60, io=machine.io / 1000) for machine in (one, other)]
    traits = TaskTraits(busy=0.7)
    assert rule(one, one, traits) == pytest.approx(1)
    assert rule(*in_other_units, traits) == pytest.approx(rule(one, other, traits))
    twice = MachineScores("c", cpu=600, linpack=6e6, memory=2e4, io=1000)
    assert rule(one, twice, traits) == pytest.approx(0.5)


def test_lotaru_a_is_the_ratio_of_the_tasks_own_runs():
    published = published_task_benchmarks()
    assert task_ratio(published, ("bacass", "NFCORE_BACASS:BACASS:PROKKA"), "local", "n1") == 215 / 174
    of_workflow = [row["n1"] / row["local"] for (workflow, _), row in published.items() if workflow == "bacass"]
    assert len(of_workflow) == 4  # a task that was not measured takes their median
    assert task_ratio(published, ("bacass", "KRAKEN2"), "local", "n1") == np.median(of_workflow)
    assert task_ratio(published, ("sarek", "bwa"), "local", "n1") is None
    assert task_ratio(published, ("eager", "bwa"), "local", "moon") is None
    machines = MachineScores("a", cpu=1), MachineScores("b", cpu=1)
    assert FACTORS["lotaru_a"].rule(*machines, TaskTraits(own_ratio=1.3)) == 1.3
    with pytest.raises(NotEnoughData, match="has a benchmark on both a and b"):
        FACTORS["lotaru_a"].rule(*machines, TaskTraits())


def test_the_tasks_own_benchmark_decides_where_one_score_stands_alone():
    one, other = MachineScores("a", cpu=400, io=100), MachineScores("b", cpu=200, io=100)
    ours = FACTORS["per-task"].rule
    assert ours(one, other, TaskTraits(0.5, 1.28, 2.0)) == pytest.approx(1.28**2)
    assert ours(MachineScores("a"), MachineScores("b"), TaskTraits(0.5, 1.28)) == pytest.approx(1.28)
    assert ours(one, other, TaskTraits(0.5)) == pytest.approx(1.5)
    more, slower = replace(one, linpack=90), replace(other, linpack=45)
    assert ours(more, slower, TaskTraits(0.5, 1.28)) == pytest.approx((2 * 1.5) ** 0.5)


@needs_shared_data
def test_without_history_each_pair_is_at_most_lotaru_a():
    for local in MACHINES:
        for target in (name for name in MACHINES if name != local):
            asked = TransferSettings(local, (target,), history=False)
            found = transfer(lotaru_reports(), PUBLISHED_SCORES, asked, published_task_benchmarks())
            assert found.history == ()
            assert found.methods[found.default].median <= found.methods["lotaru_a"].median, (local, target)


@needs_shared_data
def test_without_history_and_with_one_score_each_pair_is_at_most_lotaru_a():
    few = {name: replace(one, linpack=None, memory=None) for name, one in PUBLISHED_SCORES.items()}
    for local in MACHINES:
        for target in (name for name in MACHINES if name != local):
            asked = TransferSettings(local, (target,), history=False)
            found = transfer(lotaru_reports(), few, asked, published_task_benchmarks())
            assert found.methods[found.default].median <= found.methods["lotaru_a"].median, (local, target)


def test_exponents_are_those_of_the_runs_as_far_as_machines_differ():
    assert exponent([]) == 1
    assert exponent([(0.0, 0.5)]) == 1  # machines that are alike tell nothing
    far = exponent([(2.0, 1.0)])
    assert 0.5 < far < 0.52
    assert exponent([(2.0, 1.0), (-2.0, -1.0)]) < far


def test_runs_on_a_further_machine_tell_how_tasks_follow_the_scores():
    speeds = {"home": 1.0, "fast": 4.0, "slow": 0.25}
    half = {name: speed**0.5 for name, speed in speeds.items()}  # tasks gain the root of what the scores say
    reports = planted(half)
    alone = transfer(reports, scores(speeds), TransferSettings("home", ("fast",), history=False))
    told = transfer(reports, scores(speeds), TransferSettings("home", ("fast",)))
    assert (alone.history, told.history) == ((), ("slow",))
    assert alone.methods["per-task"].median == pytest.approx(0.5)
    assert told.methods["per-task"].median < 0.05
    assert told.methods["task-mix"] == alone.methods["task-mix"]


@needs_shared_data
def test_each_pair_of_machines_with_the_third_as_history_is_better_than_lotaru_g():
    errors = {"per-task": [], "lotaru-g": []}
    for local in MACHINES:
        for target in (name for name in MACHINES if name != local):
            settings = TransferSettings(local, (target,))
            found = transfer(lotaru_reports(), PUBLISHED_SCORES, settings, published_task_benchmarks())
            told = found.predicted
            assert len(found.history) == 1
            assert found.methods["per-task"].median < found.methods["lotaru-g"].median
            for name, values in errors.items():
                values.append(np.abs(told.by_method[name] - told.measured_s) / told.measured_s)
    ours, published = (np.percentile(np.concatenate(one), [50, 90]) for one in errors.values())
    assert (ours < published).all()
    assert ours[0] < 0.1
    assert ours[1] < 0.45


def test_one_odd_benchmark_does_not_decide():
    usual = MachineScores("a", cpu=100, linpack=100, memory=100, io=100)
    odd = MachineScores("b", cpu=1000, linpack=200, memory=190, io=100)
    assert compute_ratio(usual, odd) == pytest.approx(0.5)
    assert compute_ratio(usual, replace(odd, linpack=None)) == pytest.approx((0.1 * 100 / 190) ** 0.5)
    assert task_mix(usual, replace(odd, io=None), 0.2) == pytest.approx(0.5)
    with pytest.raises(NotEnoughData, match="share no score"):
        compute_ratio(usual, MachineScores("c", io=100))


def test_models_on_hand_made_runs():
    line = runs([1, 2, 3], [12, 14, 16])
    assert line_or_median(line, 10).runtime_s == pytest.approx(30)
    assert naive(line, 10) == pytest.approx((12 + 7 + 16 / 3) / 3 * 10)
    assert online_m(line, 2.5) == pytest.approx(7 * 2.5)  # 2 and 3 are as near: the first counts
    scattered = runs([1, 2, 3, 4], [5, 1, 9, 2])
    assert abs(correlation(scattered)) < 0.8
    assert line_or_median(scattered, 10).runtime_s == online_m(scattered, 10) == 3.5
    assert not line_or_median(scattered, 10).from_line
    for flat in (runs([3, 3, 3], [1, 2, 3]), runs([1, 2, 3], [4, 4, 4]), runs([7], [2])):
        assert np.isnan(correlation(flat))
        assert not line_or_median(flat, 10).from_line


def test_busy_share_is_of_the_largest_run_that_was_measured():
    assert busy_share(runs([1, 2], [1, 2], [20, 60])) == pytest.approx(0.6)
    assert busy_share(runs([1, 2], [1, 2], [20, 390])) == 1
    assert busy_share(runs([1, 2], [1, 2], [20, np.nan])) == pytest.approx(0.2)
    assert busy_share(runs([1], [1], [np.nan])) == 1


def test_order_of_rows_and_of_machines_changes_nothing():
    reports = planted(SPEEDS, noise=0.2)
    mixed = {name: report.sample(frac=1, random_state=1) for name, report in reversed(reports.items())}
    settings = TransferSettings("home", ("fast", "slow"))
    found = transfer(reports, scores(SPEEDS), settings)
    again = transfer(mixed, scores(SPEEDS), replace(settings, targets=("slow", "fast")))
    for name in set(found.methods) - {"online_p"}:
        assert figures(found.methods[name]) == figures(again.methods[name])


def test_later_runs_of_the_target_teach_nothing():
    reports = planted(SPEEDS, noise=0.2)
    settings = TransferSettings("home", ("fast",))
    before = transfer(reports, scores(SPEEDS), settings).predicted.by_method
    slower = reports | {"fast": reports["fast"].assign(runtime_s=reports["fast"]["runtime_s"] * 3)}
    after = transfer(slower, scores(SPEEDS), settings).predicted.by_method
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_same_seed_same_draws():
    reports = planted(SPEEDS, noise=2.0)
    settings = TransferSettings("home", ("fast",))
    first, same, other = (
        transfer(reports, scores(SPEEDS), replace(settings, seed=seed)).predicted.by_method["online_p"]
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first, same)
    assert not np.array_equal(first, other)


def test_a_result_can_be_kept():
    found = transfer(planted(SPEEDS), scores(SPEEDS), TransferSettings("home", ("fast",)))
    again = unpack(type(found), pack(found))
    assert again.methods == found.methods
    assert np.array_equal(again.predicted.target, found.predicted.target)


def test_what_a_target_lacks_is_counted():
    reports = planted(SPEEDS)
    fast = reports["fast"]
    reports["fast"] = fast[fast["task"] != "task0"]
    lone = (reports["home"]["task"] != "task1") | (reports["home"]["label"] == "test")
    reports["home"] = reports["home"][lone]
    found = transfer(reports, scores(SPEEDS), TransferSettings("home", ("fast",)))
    assert found.n_absent == 4
    assert found.n_untrained == 2
    assert found.methods["lotaru"].n == 12 * 4 - 4 - 4


def test_factors_without_their_scores_are_left_out_and_said():
    known = {"n2": PUBLISHED_SCORES["n2"], "asok01": PUBLISHED_SCORES["asok01"]}
    reports = planted({"n2": 1.0, "asok01": 0.5})
    found = transfer(reports, known, TransferSettings("n2", ("asok01",)))
    assert set(found.left_out) == {"lotaru", "lotaru_a", "cpu-memory", "cpu-memory-all"}
    assert found.left_out["lotaru"] == "machine asok01 has no linpack score"
    assert found.default in found.methods
    with pytest.raises(NotEnoughData, match="give a file"):
        transfer(reports, known, TransferSettings("n2", ("asok01",), ("lotaru",)))
    with pytest.raises(NotEnoughData, match="no scores of machine 'asok01'"):
        transfer(reports, {"n2": PUBLISHED_SCORES["n2"]}, TransferSettings("n2", ("asok01",), ("cpu-ratio",)))


def test_what_cannot_be_used_is_refused():
    reports = planted(SPEEDS)
    with pytest.raises(NoRows, match="no report of machine 'moon'; there are: fast, home, slow"):
        transfer(reports, scores(SPEEDS), TransferSettings("home", ("moon",)))
    with pytest.raises(ColumnMissing, match="runtime_s"):
        bare = {name: report.drop(columns="runtime_s") for name, report in reports.items()}
        transfer(bare, scores(SPEEDS), TransferSettings("home", ("fast",)))
    with pytest.raises(NoRows, match="no task in common"):
        empty = reports | {"fast": reports["fast"].head(0)}
        transfer(empty, scores(SPEEDS), TransferSettings("home", ("fast",)))
    with pytest.raises(SettingsError, match="factors is 'magic'"):
        TransferSettings("home", ("fast",), ("magic",))
    with pytest.raises(SettingsError, match="name each once"):
        TransferSettings("home", ("fast", "fast"))
    with pytest.raises(SettingsError, match="at least one target"):
        TransferSettings("home", ())
    with pytest.raises(SettingsError, match="confidence"):
        TransferSettings("home", ("fast",), confidence=1.0)


def test_scores_are_above_zero_or_absent():
    frame = pd.DataFrame({"machine": ["a"], "cpu": [1.0], "linpack": [np.nan], "memory": [2], "io": [np.nan]})
    assert scores_from_frame(frame) == {"a": MachineScores("a", cpu=1.0, memory=2.0)}
    with pytest.raises(SettingsError, match="io of a is 0"):
        scores_from_frame(frame.assign(io=0))
    with pytest.raises(SettingsError, match="'a' has two rows"):
        scores_from_frame(pd.concat([frame, frame]))


def test_the_machine_that_is_learned_on_is_no_target_and_answers_say_what_is_in_sample():
    with pytest.raises(SettingsError, match="targets name home, the machine that is learned on"):
        TransferSettings("home", ("fast", "home"))
    found = transfer(planted(SPEEDS), scores(SPEEDS), TransferSettings("home", ("fast",)))
    assert TRANSFER_NOTE in transfer_answer(found, None).notes
