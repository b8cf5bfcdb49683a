"""Change points by every method are those of ruptures, its metrics compare them, and barycenters are tslearn's."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest

from workprof.answers.phase_methods import methods_answer, typical_answer
from workprof.charts.phases.methods import methods_chart, typical_chart
from workprof.core.errors import NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.phases.changepoints import ChangePointSettings
from workprof.phases.methods import METHODS, Methods, MethodsSettings, agreement, methods
from workprof.phases.segmentation import penalty_of, ruptures_changes
from workprof.phases.typical import TypicalRuns, TypicalSettings, shortened_series, typical_runs

STEP = 40


def series(n_counters=1, seed=0):
    """Return (n_counters, 90): noise of 1 with a step of 6 at sample 40."""
    draw = np.random.default_rng(seed)
    values = draw.normal(0, 1, (n_counters, 90))
    values[:, STEP:] += 6
    return values


def samples():
    """Return three runs of each of two workloads: one rises at a third of its length, the other falls at a half."""
    draw, rows = np.random.default_rng(3), []
    for workload, level, part in (("rises", 8.0, 3), ("falls", -8.0, 2)):
        for run, length in enumerate((60, 66, 72)):
            t = np.arange(length) + 1.0
            step = level * (t > length / part)
            own = {"a": 20 + step + draw.normal(0, 0.5, length), "b": 5 + step / 2 + draw.normal(0, 0.5, length)}
            rows.append(pd.DataFrame({"workload": workload, "run": str(run), "t": t, **own}))
    return pd.concat(rows, ignore_index=True)


@pytest.fixture(scope="module")
def frames():
    return {"samples": samples()}


@pytest.fixture(scope="module")
def compared(frames):
    return methods(frames, MethodsSettings(run="rises/1"))


def own_search(settings, points):
    import ruptures

    options = {"model": settings.cost or "l2", "min_size": settings.min_samples, "jump": 1}
    if options["model"] == "rbf":
        options["params"] = {"gamma": 0.5 / points.shape[1]}
    search = {
        "pelt": lambda: ruptures.Pelt(**options),
        "binseg": lambda: ruptures.Binseg(**options),
        "window": lambda: ruptures.Window(width=30, **options),
        "kernel": lambda: ruptures.KernelCPD("rbf", min_size=2, params={"gamma": 0.5 / points.shape[1]}),
    }[settings.method]()
    return search.fit(points).predict(pen=penalty_of(settings, *points.shape))[:-1]


@pytest.mark.slow
@pytest.mark.parametrize("cost", [None, "l1", "normal", "rank", "rbf"])
@pytest.mark.parametrize("method", ["pelt", "binseg", "window", "kernel"])
def test_changes_are_those_of_ruptures_with_the_named_cost(method, cost):
    values = series(2)
    settings = ChangePointSettings(method=method, cost=cost, rule="bic")
    found = ruptures_changes(values, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert found.tolist() == own_search(settings, np.ascontiguousarray(values.T))
    assert min(abs(found - STEP)) <= 1


def test_penalties_by_name():
    bic, aic = (penalty_of(ChangePointSettings(method="pelt", rule=rule), 100, 3) for rule in ("bic", "aic"))
    assert (bic, aic) == (pytest.approx(4 * math.log(100)), 8)
    normal = ChangePointSettings(method="pelt", rule="aic", cost="normal")
    assert penalty_of(normal, 100, 3) == 2 * (3 + 6 + 1)
    assert penalty_of(ChangePointSettings(method="pelt", penalty=7.5), 100, 3) == 7.5
    assert penalty_of(ChangePointSettings(method="pelt"), 100, 3) == pytest.approx(3.5 * math.log(100) * 3)


def test_agreement_is_by_the_metrics_of_ruptures():
    from ruptures.metrics import hausdorff, precision_recall, randindex

    ours, theirs = np.array([10, 20, 50]), np.array([12, 50])
    precision, recall, rand, apart = agreement(ours, theirs, 80, 3)
    assert (precision, recall) == precision_recall([10, 20, 50, 80], [12, 50, 80], margin=3) == (1.0, 2 / 3)
    assert rand == pytest.approx(randindex([10, 20, 50, 80], [12, 50, 80]), abs=1e-9)
    assert apart == hausdorff([10, 20, 50, 80], [12, 50, 80]) == 8
    none = np.zeros(0, dtype=np.int64)
    assert np.isnan(agreement(none, none, 80, 3)[0])
    assert agreement(ours, none, 80, 3)[:2] == (0.0, 0.0)


def test_every_method_finds_the_planted_step(compared):
    assert tuple(compared.changes) == METHODS
    for method, found in compared.changes.items():
        assert min(abs(found - 22)) <= 1, method
    reference = compared.lines[0]
    assert (reference.method, reference.precision, reference.recall, reference.rand_index) == ("bcpd", 1, 1, 1)
    pelt = next(line for line in compared.lines if line.method == "pelt")
    assert pelt.recall == 1
    assert compared.counter == "a"


def test_a_counter_can_be_named(frames):
    assert methods(frames, MethodsSettings(run="rises/1", counter="b")).counter == "b"
    with pytest.raises(SettingsError, match="counter is 'c', which is none here"):
        methods(frames, MethodsSettings(run="rises/1", counter="c"))


def test_methods_are_told_and_drawn(compared):
    answer, chart = methods_answer(compared), methods_chart(compared)
    assert answer.table().frame()["method"].tolist() == list(METHODS)
    assert len(answer.sentence.split()) <= 20
    assert len(chart.figure.layout.shapes) == len(chart.data) == sum(map(len, compared.changes.values()))
    assert compared.to_frame().equals(answer.table().frame())
    assert np.array_equal(unpack(Methods, pack(compared)).changes["pelt"], compared.changes["pelt"])


def test_a_long_run_becomes_means_of_equal_stretches():
    values = np.arange(12.0).reshape(1, 12)
    assert shortened_series(values, 4).tolist() == [[1.0, 4.0, 7.0, 10.0]]
    assert shortened_series(values, 12) is values


@pytest.fixture(scope="module")
def typical(frames):
    return typical_runs(frames, TypicalSettings(shown=2, points=30))


@pytest.mark.slow  # tslearn compiles
def test_typical_runs_are_the_barycenters_of_tslearn(frames, typical):
    from tslearn.metrics import dtw

    from workprof.phases.fingerprints import FingerprintSettings, fit_normaliser, normalised
    from workprof.phases.runs import runs_of
    from workprof.phases.typical import barycenter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        from tslearn.barycenters import softdtw_barycenter

    assert [one.workload for one in typical.runs] == ["falls", "rises"]
    runs = runs_of(frames["samples"], ())
    known = fit_normaliser(runs.runs, runs.counters, FingerprintSettings())
    order = [known.counters.index(name) for name in typical.counters]
    own = [
        shortened_series(normalised(run, known, FingerprintSettings()).for_statistics[order], 30)
        for run in runs.runs
        if run.workload == "rises"
    ]
    points = [np.ascontiguousarray(one.T) for one in own]
    theirs = softdtw_barycenter(points, gamma=1.0, init=points[1].copy()).T
    rises = typical.runs[1]
    assert np.abs(barycenter(own, 1.0) - theirs).max() <= 1e-9
    assert np.abs(rises.levels - theirs).max() <= 1e-9
    costs = [dtw(theirs.T, one) / np.sqrt(30) for one in points]
    assert rises.costs == pytest.approx(costs, abs=1e-9)
    assert rises.nearest == rises.runs[int(np.argmin(costs))]
    level = rises.levels[0]
    assert level[:8].mean() + 0.5 < level[12:].mean()  # it rises at a third


@pytest.mark.slow
def test_typical_runs_are_told_and_drawn(typical):
    answer, chart = typical_answer(typical), typical_chart(typical)
    assert answer.table().frame()["n_runs"].tolist() == [3, 3]
    assert len(chart.figure.data) == 4
    assert len(chart.data) == sum(one.levels.size for one in typical.runs)
    assert len(answer.sentence.split()) <= 20
    assert [one.nearest for one in unpack(TypicalRuns, pack(typical)).runs] == [one.nearest for one in typical.runs]


def test_runs_without_a_workload_have_no_typical_run(frames):
    with pytest.raises(NotEnoughData, match="no run has a workload"):
        typical_runs({"samples": samples().assign(workload="")}, TypicalSettings())
