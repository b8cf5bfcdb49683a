"""The fast search equals the slow one: recursion, segmentation, every segmentation, online, vector arithmetic."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from tests.phases import naive_changepoints as naive
from workprof.core.errors import NotEnoughData
from workprof.phases.changepoints import ChangePointSettings, Prior, change_points, prior_of, standard_series
from workprof.phases.kernels import add_logarithms, exponentials
from workprof.phases.live import OnlineDetector
from workprof.phases.segmentation import RunLengths, changes_of

WORKED = np.array([0, 0.1, -0.1, 0, 3, 3.1, 2.9, 3])
WORKED_PRIOR = {"mu0": 0.0, "kappa0": 1.0, "alpha0": 1.0, "beta0": 0.1, "hazard_samples": 15.0}


def settings(**changes):
    return ChangePointSettings(min_samples=1, max_phases=1000, **(WORKED_PRIOR | changes))


def log_posterior(y, chosen):
    """Return log P(r_t = r | y_1..y_t) at [t, r] of the samples that are there, as the search comes by it, unpruned."""
    ready = standard_series(y[None], chosen)
    values = ready.values[:, ready.present[0]]
    lengths = RunLengths(replace(prior_of(chosen, len(y), float(np.mean(values**2))), prune=0.0), 1)
    table = np.full((values.shape[1] + 1, values.shape[1] + 1), -np.inf)
    table[0, 0] = 0.0
    for t in range(values.shape[1]):
        lengths.take(values[:, t : t + 1])
        runs, probabilities = lengths.posterior()
        table[t + 1, runs] = probabilities
    return table


def posterior(detector, counter):
    """Return the run lengths of a counter in the running, and their log probabilities."""
    return detector._of(counter).lengths.posterior()


def series(kind, n=60):
    rng = np.random.default_rng(3)
    noise = rng.normal(size=n)
    return {
        "noise": noise,
        "steps": noise + 4 * (np.arange(n) // 20 % 2),
        "constant but one": np.where(np.arange(n) == 17, 1.0, 0.25),
        "far away": 1e6 + 50 * noise,
        "spikes": np.where(rng.random(n) < 0.1, 30.0, 0.01 * noise),
        "random walk": np.cumsum(noise),
    }[kind]


KINDS = ["noise", "steps", "constant but one", "far away", "spikes", "random walk"]


def test_worked_values():
    found = change_points(WORKED[None], settings(readout="path"))
    assert found.log_evidence[0] == pytest.approx(-12.4708163, abs=1e-7)
    lengths = RunLengths(Prior(1.0, 1.0, 0.1, 15.0), 1)
    trail = lengths.take(WORKED[None])
    assert trail.run_or_change.tolist() == [1, 2, 3, 4, 1, 2, 3, 4]
    assert trail.score[-1] == pytest.approx(-12.6131003, abs=1e-7)
    row = [-2.708050, -6.232158, -6.564092, -6.180714, -0.111019, -3.512876, -6.136759, -8.223439, -7.228347]
    assert log_posterior(WORKED, settings())[8] == pytest.approx(row, abs=1e-6)
    assert [changes_of(trail, readout).tolist() for readout in ("path", "drop", "exact")] == [[4]] * 3


def test_worked_read_outs():
    """A prior quieter than the noise reports an early change by `path`, and repeats by `drop`."""
    rng = np.random.default_rng(0)
    short, long = (np.concatenate([rng.normal(0, 1, n), rng.normal(3, 1, n)]) for n in (15, 30))

    def read(y, readout, beta0):
        found = change_points(y[None], settings(readout=readout, beta0=beta0))
        return found.boundaries_of(0).tolist()

    assert read(short, "path", 1.0) == [8, 15]
    assert read(short, "exact", 1.0) == [15]
    assert read(short, "path", 0.1) == read(short, "exact", 0.1) == [8, 15]
    assert {tuple(read(long, readout, b)) for readout in ("path", "exact") for b in (1.0, 0.1)} == {(30,)}
    assert read(long, "drop", 1.0) == read(long, "drop", 0.1) == [8, 30]  # repeats count once
    lengths = RunLengths(Prior(1.0, 1.0, 0.1, 15.0), 1)
    assert changes_of(lengths.take(long[None]), "drop").tolist() == [8, 8, 30]


def test_the_absolute_value_hides_a_change():
    """A step with equal halves has |z| = 1 on both sides."""

    def changes(half, *, absolute):
        y = np.where(np.arange(30) < half, 0.0, 1.0) + np.random.default_rng(0).normal(0, 0.05, 30)
        z = (y - y.mean()) / y.std()
        values = np.abs(z) if absolute else z
        return [change_points(values[None], settings(readout=r)).boundaries_of(0).tolist() for r in ("path", "exact")]

    assert changes(15, absolute=False) == [[15], [15]]
    assert changes(15, absolute=True) == [[], []]
    assert changes(8, absolute=False) == changes(8, absolute=True) == [[8], [8]]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_recursion_equals_the_naive_one(kind):
    y = series(kind)
    scale = max(1.0, float(np.abs(y).max()) / 1e3)
    prior = {"mu0": float(np.median(y)), "kappa0": 0.3, "alpha0": 2.0, "beta0": 0.5 * scale, "hazard_samples": 20.0}
    table, evidence = naive.log_posterior(y, **prior)
    ours = log_posterior(y, settings(**prior))
    reached = np.isfinite(table)
    assert np.array_equal(reached, np.isfinite(ours))
    assert np.abs(ours[reached] - table[reached]).max() < 1e-8
    found = {r: change_points(y[None], settings(readout=r, **prior)) for r in ("path", "drop", "exact")}
    assert found["path"].log_evidence[0] == pytest.approx(evidence, abs=1e-8)
    assert found["path"].boundaries_of(0).tolist() == naive.path(table)
    assert found["drop"].boundaries_of(0).tolist() == sorted(set(naive.drops(table)))
    changes, _ = naive.best_segmentation(y, **prior)
    assert found["exact"].boundaries_of(0).tolist() == changes


def test_recursion_equals_the_naive_one_on_gaps_and_by_default():
    y = series("steps", 40)
    y[[0, 7, 8, 39]] = np.nan
    present, ticks = y[np.isfinite(y)], np.flatnonzero(np.isfinite(y))
    found = change_points(y[None])
    sd = float(found.noise_sd[0])
    level = float(np.median(present))
    spread = float(np.mean(((present - level) / sd) ** 2))
    prior = {"mu0": level, "kappa0": 1 / (5 + spread), "alpha0": 4.0, "beta0": 4 * sd**2, "hazard_samples": 30.0}
    table, evidence = naive.log_posterior(present, **prior)
    assert found.n_missing[0] == 4
    assert found.log_evidence[0] == pytest.approx(evidence, abs=1e-8)
    ours = log_posterior(y, ChangePointSettings())
    assert np.abs(ours[np.isfinite(table)] - table[np.isfinite(table)]).max() < 1e-8
    changes, _ = naive.best_segmentation(present, **prior)
    assert found.boundaries_of(0).tolist() == ticks[changes].tolist() == [20]


@pytest.mark.soak
@pytest.mark.slow
def test_recursion_equals_the_naive_one_on_a_long_series():
    y = np.random.default_rng(8).normal(size=3600) + np.repeat([0.0, 3.0, -1.0], 1200)
    prior = {"mu0": 0.0, "kappa0": 0.15, "alpha0": 4.0, "beta0": 4.0, "hazard_samples": 900.0}
    table, evidence = naive.log_posterior(y, **prior)
    ours = log_posterior(y, settings(**prior))
    assert max(np.abs(ours[t, : t + 1] - table[t, : t + 1]).max() for t in range(3601)) < 1e-8
    found = change_points(y[None], settings(readout="path", prune=0.0, **prior))
    assert found.log_evidence[0] == pytest.approx(evidence, abs=1e-8)
    assert found.boundaries_of(0).tolist() == naive.path(table)


@pytest.mark.parametrize("seed", range(12))
def test_every_segmentation_tried(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 11))
    y = rng.normal(size=n) + 3 * (np.arange(n) >= rng.integers(1, n))
    prior = WORKED_PRIOR | {"hazard_samples": float(rng.uniform(3, 30)), "beta0": float(rng.uniform(0.05, 2))}
    changes, scores = naive.every_segmentation(y, **prior)
    lengths = RunLengths(Prior(1.0, 1.0, prior["beta0"], prior["hazard_samples"]), 1)
    trail = lengths.take(y[None])
    assert trail.score[-1] == pytest.approx(scores.max(), abs=1e-9)
    assert trail.evidence[-1] == pytest.approx(logsumexp(scores), abs=1e-9)
    assert tuple(changes_of(trail, "exact")) == changes[int(scores.argmax())]


def test_joint_phases_sum_the_evidence_of_the_counters():
    y = np.random.default_rng(1).normal(size=(3, 8))
    every = [naive.every_segmentation(one, **(WORKED_PRIOR | {"hazard_samples": 10.0})) for one in y]
    changes = every[0][0]
    own = np.array([len(c) * math.log(0.1) + (7 - len(c)) * math.log(0.9) for c in changes])  # counted once, not thrice
    scores = sum(scores for _, scores in every) - 2 * own
    found = change_points(y, settings(phases="joint", hazard_samples=10.0, readout="exact"))
    assert found.log_evidence == pytest.approx([logsumexp(scores)] * 3, abs=1e-9)
    assert [tuple(found.boundaries_of(i)) for i in range(3)] == [changes[int(scores.argmax())]] * 3


@pytest.mark.parametrize("phases", ["per_counter", "joint"])
def test_online_equals_the_whole_series(phases):
    y = np.random.default_rng(4).normal(size=(3, 80)) + 4 * (np.arange(80) >= 31)
    chosen = settings(phases=phases, prune=0.0)
    detector = OnlineDetector(chosen, 3, np.ones(3))
    for sample in y.T:
        state = detector.update(sample)
    for readout in ("path", "exact", "drop"):
        whole = change_points(y, settings(phases=phases, readout=readout))
        online = [np.unique(detector.changes(i, readout)).tolist() for i in range(3)]
        assert online == [whole.boundaries_of(i).tolist() for i in range(3)]
    if phases == "per_counter":
        row = log_posterior(y[1], settings())[80]
        runs, log_probabilities = posterior(detector, 1)
        assert log_probabilities == pytest.approx(row[runs], abs=1e-10)
    assert state.run_length.tolist() == [80 - detector.changes(i)[-1] for i in range(3)]


def test_online_does_not_score_missed_ticks():
    y = np.random.default_rng(5).normal(size=60) + 5 * (np.arange(60) >= 30)
    gaps = np.zeros(60, dtype=bool)
    gaps[[3, 4, 20, 45]] = True
    detector, dense = (OnlineDetector(ChangePointSettings(), 1, np.ones(1)) for _ in range(2))
    for value, gap in zip(y, gaps, strict=True):
        state = detector.update(np.array([np.nan if gap else value]))
        if not gap:
            dense_state = dense.update(np.array([value]))
    assert (state.n_ticks, dense_state.n_ticks) == (60, 56)
    assert state.n_missing.tolist() == [4]
    assert posterior(detector, 0)[1].tolist() == posterior(dense, 0)[1].tolist()
    assert detector.changes(0).tolist() == [30]  # a tick, three scored samples fewer
    assert dense.changes(0).tolist() == [27]
    assert state.run_length.tolist() == [30]


def test_online_tells_a_change_soon():
    y = np.random.default_rng(6).normal(size=50) + 6 * (np.arange(50) >= 25)
    detector = OnlineDetector(ChangePointSettings(), 1, np.ones(1))
    states = [detector.update(np.array([value])) for value in y]
    recent = np.array([state.recent[0] for state in states])
    assert recent[25:29].max() > 0.9
    assert recent[10:25].max() < 0.5
    assert recent[45:].max() < 0.5
    assert next(t for t, state in enumerate(states) if state.changed[0]) in range(25, 29)
    assert 25 in states[-1].starts


def test_online_refuses_other_counters():
    detector = OnlineDetector(ChangePointSettings(), 2, np.ones(2))
    with pytest.raises(NotEnoughData, match="2 counters"):
        detector.update(np.zeros(3))
    with pytest.raises(NotEnoughData, match="noise sds"):
        OnlineDetector(ChangePointSettings(), 2, np.ones(3))


@pytest.mark.parametrize(("n_counters", "step", "phases"), [(6, 3.0, "per_counter"), (12, 0.4, "joint")])
def test_pruning_changes_little(n_counters, step, phases):
    y = np.random.default_rng(7).normal(size=(n_counters, 1500)) + step * (np.arange(1500) // 500)
    whole, pruned = (change_points(y, ChangePointSettings(prune=prune, phases=phases)) for prune in (0.0, 1e-3))
    assert pruned.starts.tolist() == whole.starts.tolist()
    assert len(whole.starts) >= 2 * n_counters
    assert np.abs(pruned.log_evidence - whole.log_evidence).max() < 0.01
    assert (whole.prune, pruned.prune) == (0.0, 1e-3)


@pytest.mark.soak
@pytest.mark.slow
def test_pruning_keeps_small_steps_of_long_series():
    y = np.random.default_rng(9).normal(size=(12, 6000)) + 0.4 * (np.arange(6000) >= 2500)
    whole, pruned = (change_points(y, ChangePointSettings(prune=prune)) for prune in (0.0, None))
    assert pruned.starts.tolist() == whole.starts.tolist()
    assert np.mean(whole.n_phases == 2) > 0.7


def test_vector_arithmetic():
    rng = np.random.default_rng(0)
    values = np.concatenate([[1.0, 2.0, 0.5, 1e-300, 1e300], np.exp(rng.uniform(-600, 600, 20_000))])
    values = np.concatenate([values, 1 + rng.normal(0, 1e-6, 1000), rng.uniform(0.6, 1.6, 5000)])
    total, bits = np.ones(len(values)), np.zeros((2, len(values)), np.int64)
    add_logarithms(values, len(values), total, (bits[0], bits[1]))
    expected = 1 + np.log(values)
    assert (np.abs(total - expected) / np.maximum(1, np.abs(expected))).max() < 1e-14
    drops = -np.concatenate([[0.0, 0.0], rng.uniform(0, 699, 20_000), rng.uniform(0, 1, 5000)])
    out = np.zeros(len(drops))
    exponentials(drops + 5, 5.0, len(drops), out, np.zeros(len(drops), np.int64))
    assert (np.abs(out / np.exp(drops + 5 - 5) - 1)).max() < 1e-13
    exponentials(np.array([-1e9, 0.0]), 0.0, 2, out, np.zeros(2, np.int64))
    assert out[0] < 1e-300
    assert out[1] == 1.0
