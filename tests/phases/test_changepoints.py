"""Change points at the edges: hardly any samples, gaps, equal values, too many phases, settings, records, cancel."""

import numpy as np
import pytest

from tests.shared_data import FOLDER, needs_shared_data
from workprof.core.errors import Cancelled, NotEnoughData, SettingsError
from workprof.core.records import pack, unpack
from workprof.phases.changepoints import ChangePoints, ChangePointSettings, change_points, noise_sd


def noise(n_counters, n_samples, seed=0):
    return np.random.default_rng(seed).normal(size=(n_counters, n_samples))


def levels(*pairs, sd=0.0, seed=0):
    """Return one counter of the given (level, samples)."""
    y = np.concatenate([np.full(n, float(level)) for level, n in pairs])
    return (y + sd * np.random.default_rng(seed).normal(size=len(y)))[None]


def changes(y, **chosen):
    return change_points(y, ChangePointSettings(**chosen)).boundaries_of(0).tolist()


@pytest.mark.parametrize("prior", ["alpha0", "beta0", "kappa0", "mu0"])
@pytest.mark.parametrize("value", [1e-300, 1e12])
def test_extreme_priors_have_an_answer_and_absurd_ones_are_refused(prior, value):
    found = change_points(levels((0, 20), (5, 20), sd=0.1), ChangePointSettings(**{prior: value}))
    assert np.isfinite(found.log_evidence[0])
    with pytest.raises(SettingsError, match="1e"):
        ChangePointSettings(**{prior: 1e308})


@pytest.mark.parametrize("n_samples", [0, 1, 2, 3])
@pytest.mark.parametrize("phases", ["per_counter", "joint"])
def test_too_short(n_samples, phases):
    found = change_points(noise(3, n_samples), ChangePointSettings(phases=phases))
    assert found.short.all()
    assert found.n_phases.tolist() == [1, 1, 1]
    assert found.agreement.shape == (n_samples,)
    assert np.isnan(found.log_evidence).all()


def test_no_counters():
    found = change_points(np.zeros((0, 30)))
    assert found.n_phases.tolist() == []
    assert found.agreement.tolist() == [0.0] * 30


def test_not_a_table():
    with pytest.raises(NotEnoughData, match="1 dimensions"):
        change_points(np.zeros(30))


def test_flags():
    y = noise(5, 40) + 5 * (np.arange(40) >= 20)
    y[0] = 7.5
    y[1, :21] = np.nan
    y[2, 5:9] = np.nan
    y[3, 10] = np.inf
    y[4] = np.nan
    found = change_points(y)
    assert found.constant.tolist() == [True, False, False, False, True]
    assert found.mostly_missing.tolist() == [False, True, False, False, True]
    assert found.short.tolist() == [False, False, False, False, True]
    assert found.n_missing.tolist() == [0, 21, 4, 1, 40]
    assert found.n_phases.tolist() == [1, 1, 2, 2, 1]
    assert found.boundaries_of(2).tolist() == found.boundaries_of(3).tolist() == [20]
    assert found.agreement[19:22].tolist() == [1, 1, 1]  # of the two counters without a flag
    assert found.agreement[:19].tolist() == [0] * 19


def test_a_gap_is_no_change():
    """A gap bridged by a line is quieter than any noise: it would be a phase of its own."""
    y = noise(300, 80)
    y[:, :9] = y[:, 30:50] = y[:, 74:] = np.nan
    assert np.mean(change_points(y).n_phases > 1) <= 0.05
    y[:, 50:] += 5
    found = change_points(y)
    assert np.mean([found.boundaries_of(i).tolist() == [50] for i in range(300)]) >= 0.9  # the first that shows it


@pytest.mark.parametrize("level", [0.0, 1e9, -3.5])
def test_rounding_of_a_constant_is_no_noise(level):
    y = np.full((1, 50), level)
    y[0, ::3] = np.nextafter(level, 1e300)
    assert change_points(y).constant.all()


def test_steps_without_any_noise():
    assert changes(levels((0, 12), (1, 18))) == [12]
    assert changes(levels((5, 40), (5.1, 30), (4, 50))) == [40, 70]
    assert changes(levels((0, 1800), (1, 1800))) == [1800]


def test_steps_of_a_counter_that_takes_few_values():
    rng = np.random.default_rng(1)
    y = np.concatenate([rng.choice([0, 1], 60, p=[0.9, 0.1]), rng.choice([3, 4], 60, p=[0.9, 0.1])])[None].astype(float)
    assert changes(y, max_phases=2) == [60]


@pytest.mark.slow
@pytest.mark.parametrize(("share", "most_phases"), [(0.02, 1.6), (0.05, 3.0), (0.3, 1.2)])
def test_lone_spikes_are_hardly_phases(share, most_phases):
    """A count that is nearly always 0: without a floor each spike is a phase, and the least jitter decides."""
    rng = np.random.default_rng(2)
    spikes, jitter = rng.random((200, 120)) < share, 1e-6 * rng.normal(size=(200, 120))
    n_phases = [
        change_points(y, ChangePointSettings(max_phases=100)).n_phases.mean() for y in (spikes, spikes + jitter)
    ]
    assert n_phases[0] < most_phases
    assert n_phases[1] == pytest.approx(n_phases[0], rel=0.02)


def test_the_noise_estimate():
    y = noise(400, 30)
    assert noise_sd(y).mean() == pytest.approx(1.0, abs=0.03)
    assert noise_sd(1e6 + 1e-3 * y).mean() == pytest.approx(1e-3, rel=0.03)
    y[:, 10:] += 3
    y[:, 20:] -= 6
    assert noise_sd(y).mean() == pytest.approx(1.0, abs=0.15)
    assert noise_sd(np.ones((2, 9))).tolist() == [0, 0]


def test_a_single_sample_is_no_phase():
    y = levels((0, 20), (9, 1), (0, 20), sd=0.5)
    assert changes(y) == []
    assert set(changes(y, min_samples=1)) == {20, 21}
    two = levels((0, 20), (9, 2), (0, 20), sd=0.5)
    assert changes(two) == [20, 22]
    assert changes(two, min_samples=3) == []


def test_a_short_phase_joins_the_closer_neighbour():
    y = levels((0, 20), (16, 1), (20, 20), sd=0.3)
    assert changes(y) == [20]
    assert changes(levels((0, 20), (3, 1), (20, 20), sd=0.3)) == [21]
    found = change_points(y, ChangePointSettings(mode="faithful"))
    assert found.boundaries_of(0).tolist() == [20]


def test_the_strongest_changes_stay():
    y = levels((0, 30), (4, 30), (40, 30), (44, 30), (0, 30), sd=0.5)
    found = change_points(y, ChangePointSettings(max_phases=3))
    assert change_points(y).boundaries_of(0).tolist() == [30, 60, 90, 120]
    assert found.boundaries_of(0).tolist() == [60, 120]
    assert found.n_weakest.tolist() == [2]
    assert changes(y, max_phases=1) == []


def test_permuting_counters_permutes_the_answer():
    y = noise(6, 60) + 4 * (np.arange(60) >= np.arange(10, 70, 10)[:, None])
    order = np.array([3, 0, 5, 1, 4, 2])
    found, moved = change_points(y), change_points(y[order])
    assert [moved.boundaries_of(i).tolist() for i in range(6)] == [found.boundaries_of(i).tolist() for i in order]
    assert moved.log_evidence.tolist() == found.log_evidence[order].tolist()


def test_evidence_is_a_density_in_the_unit_given():
    y = noise(1, 50)
    assert change_points(y).log_evidence - change_points(10 * y).log_evidence == pytest.approx(50 * np.log(10))
    joint = ChangePointSettings(phases="joint")
    both = change_points(np.concatenate([y, y]), joint).log_evidence
    assert both - change_points(np.concatenate([10 * y, y]), joint).log_evidence == pytest.approx(50 * np.log(10))


def test_joint_phases_are_those_of_every_counter():
    y = noise(4, 60) + 5 * (np.arange(60) >= 25)
    y[1] = 3.0
    found = change_points(y, ChangePointSettings(phases="joint"))
    assert [found.boundaries_of(i).tolist() for i in range(4)] == [[25]] * 4
    assert found.constant.tolist() == [False, True, False, False]
    flat = change_points(np.ones((2, 60)), ChangePointSettings(phases="joint"))
    assert flat.n_phases.tolist() == [1, 1]


def test_faithful_defaults():
    faithful = ChangePointSettings(mode="faithful")
    assert (faithful.chosen_readout, faithful.hazard_for(30), faithful.hazard_for(300)) == ("path", 15, 75)
    y = noise(20, 30)
    explicit = ChangePointSettings(kappa0=1, alpha0=1, beta0=0.1, hazard_samples=15, readout="path")
    assert change_points(y, faithful).log_evidence.tolist() == change_points(y, explicit).log_evidence.tolist()


def test_the_record_survives_packing():
    found = change_points(noise(3, 40) + 5 * (np.arange(40) >= 20))
    back = unpack(ChangePoints, pack(found))
    assert back.boundaries_of(2).tolist() == found.boundaries_of(2).tolist() == [20]
    assert (back.n_samples, back.hazard_samples, back.seconds) == (40, 30.0, found.seconds)


@pytest.mark.parametrize("phases", ["per_counter", "joint"])
def test_progress_is_told_and_can_stop_the_search(phases):
    told = []
    chosen = ChangePointSettings(phases=phases)
    change_points(noise(4, 600), chosen, lambda share, message: told.append((share, message)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert len(shares) > 3
    assert "4 counters" in told[-1][1]

    def stop(share, message):
        told.append((share, message))
        if share > 0:
            raise Cancelled("stopped")

    told.clear()
    with pytest.raises(Cancelled):
        change_points(noise(4, 600), chosen, stop)
    assert len(told) == 2


def test_values_are_left_alone():
    y = noise(2, 30)
    y[0, 3] = np.nan
    before = y.copy()
    change_points(y)
    assert np.array_equal(y, before, equal_nan=True)


@pytest.mark.soak
@pytest.mark.slow
def test_a_day_fits_into_memory():
    n_samples = 86_400
    y = noise(2, n_samples)
    y[:, n_samples // 3 :] += 3
    found = change_points(y)
    assert found.prune == 1e-3
    assert [found.boundaries_of(i).tolist() for i in range(2)] == [[28_800], [28_800]] or np.abs(
        found.starts - n_samples // 3
    ).max() <= 2


@needs_shared_data
def test_recorded_counters():
    import pandas as pd

    runs = pd.read_csv(FOLDER / "telemetry" / "runs.csv")
    names = (FOLDER / "telemetry" / "counters72.txt").read_text().split()
    _, run = next(iter(runs.groupby(["workload", "run"])))
    found = change_points(run[names].to_numpy(dtype=np.float64).T)
    assert found.n_phases.max() <= 8
    assert np.isfinite(found.log_evidence[~found.constant]).all()
    assert found.n_phases[~found.constant].mean() < 4
