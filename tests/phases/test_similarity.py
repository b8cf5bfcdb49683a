"""Distances: worked values, slow obvious versions, invariants."""

from dataclasses import replace

import numpy as np
import pytest

from tests.phases.planted_runs import COUNTERS, planted
from workprof.phases.fingerprints import Fingerprint, FingerprintSettings, fingerprints_of
from workprof.phases.runs import runs_of
from workprof.phases.similarity import DistanceScale, MatchSettings, euclidean, scale_of, warping

ONE = DistanceScale(np.ones((1, 1)))
PUBLISHED = MatchSettings(scale="none")
FLAT = MatchSettings(scale="none", flat=True)


def print_of(*phases):
    """A fingerprint of one counter with one statistic."""
    values = np.array(phases, dtype=float).reshape(1, -1, 1)
    n = values.shape[1]
    nothing = np.zeros(1, dtype=np.bool_)
    return Fingerprint("w", "1", values, np.array([n]), np.arange(1, n), np.array([0, n - 1]), nothing, (), n)


def slow_warping(local):
    """Best path by trying each way back, without reuse."""

    def cost(i, j):
        if i < 0 or j < 0:
            return np.inf
        if i == j == 0:
            return local[0, 0]
        return local[i, j] + min(cost(i - 1, j), cost(i, j - 1), cost(i - 1, j - 1))

    return cost(local.shape[0] - 1, local.shape[1] - 1)


@pytest.fixture(scope="module")
def prints():
    return fingerprints_of(runs_of(planted(3, 2), COUNTERS), FingerprintSettings()).prints


def test_worked_values():
    short, long = print_of(2, 5), print_of(0, 2, 4)
    ed = euclidean(short, long, ONE, PUBLISHED)
    assert (ed.value, ed.offset) == (0.5, 1)
    dtw = warping(short, long, ONE, PUBLISHED)
    assert (dtw.value, dtw.offset) == (1.0, 1)
    assert warping(short, long, ONE, replace(PUBLISHED, offsets=False)).value == 3.0
    assert euclidean(short, long, ONE, replace(PUBLISHED, offsets=False)).value == 2.5


@pytest.mark.parametrize("settings", [PUBLISHED, FLAT, MatchSettings()])
def test_a_run_is_at_no_distance_from_itself_and_distances_are_symmetric(prints, settings):
    scale = scale_of(prints, settings)
    for distance in (euclidean, warping):
        assert distance(prints[0], prints[0], scale, settings).value == 0
        there, back = (distance(*pair, scale, settings).value for pair in (prints[:2], prints[1::-1]))
        assert there == pytest.approx(back)


def test_warping_equals_the_slow_version():
    draw = np.random.default_rng(0)
    for n, m in ((1, 1), (2, 5), (4, 4), (5, 3)):
        a, b = draw.normal(size=n), draw.normal(size=m)
        wanted = slow_warping(np.abs(a[:, None] - b[None]))
        found = warping(print_of(*a), print_of(*b), ONE, FLAT).value
        assert found == pytest.approx(wanted)


@pytest.mark.soak
@pytest.mark.slow  # tslearn compiles
def test_warping_is_not_the_root_of_summed_squares():
    from tslearn.metrics import dtw_path_from_metric

    squares = dtw_path_from_metric(np.array([2.0, 5]), np.array([0.0, 2, 4]), metric="sqeuclidean")[1]
    assert squares**0.5 == pytest.approx(5**0.5)  # what tslearn's `dtw` returns
    assert warping(print_of(2, 5), print_of(0, 2, 4), ONE, FLAT).value == 3


@pytest.mark.slow  # tslearn compiles
def test_warping_equals_tslearn_with_manhattan_cost(prints):
    from tslearn.metrics import dtw_path_from_metric

    from workprof.phases.similarity import phases_of

    scale = scale_of(prints, PUBLISHED)
    a, b = (phases_of(one, scale) for one in prints[2:4])
    wanted = dtw_path_from_metric(a, b, metric="cityblock")[1]
    assert warping(prints[2], prints[3], scale, replace(PUBLISHED, offsets=False)).value == pytest.approx(wanted)


def test_padding_beyond_the_real_phases_changes_no_scale(prints):
    scale = scale_of(prints, MatchSettings())
    longer = tuple(replace(one, values=np.pad(one.values, ((0, 0), (0, 3), (0, 0)))) for one in prints)
    assert np.allclose(scale_of(longer, MatchSettings()).sd, scale.sd)


def test_permuting_the_counters_changes_no_distance(prints):
    def turned(one):
        return replace(one, values=one.values[::-1], n_phases=one.n_phases[::-1])

    scale = scale_of(prints, MatchSettings())
    back = DistanceScale(scale.sd[::-1])
    for distance in (euclidean, warping):
        wanted = distance(prints[0], prints[3], scale, MatchSettings()).value
        assert distance(turned(prints[0]), turned(prints[3]), back, MatchSettings()).value == pytest.approx(wanted)


def test_distances_in_deviations_do_not_depend_on_units(prints):
    louder = tuple(replace(one, values=one.values * 1000) for one in prints)
    a, b = (
        euclidean(some[0], some[2], scale_of(some, MatchSettings()), MatchSettings()).value for some in (prints, louder)
    )
    assert a == pytest.approx(b)


def test_alignment_lays_a_delayed_run_over_the_other():
    from workprof.phases.timeline import alignment_of

    first = np.repeat([[0.0, 5.0]], 2, axis=0).repeat(10, axis=1)
    second = np.repeat([[0.0, 5.0]], 2, axis=0).repeat([4, 16], axis=1)
    found = alignment_of(first, second)
    assert found.cost == 0
    assert found.path[0].tolist() == [0, 0]
    assert found.path[-1].tolist() == [19, 19]
    assert (np.diff(found.path, axis=0) >= 0).all()
    assert ((found.path[:, 0] >= 10) == (found.path[:, 1] >= 4)).all()


@pytest.mark.slow  # tslearn compiles
def test_alignment_takes_the_path_of_tslearn():
    from tslearn.metrics import dtw_path_from_metric

    from workprof.phases.timeline import alignment_of

    draw = np.random.default_rng(0)
    for n, m in ((1, 1), (1, 6), (5, 1), (7, 9), (40, 25)):
        first, second = draw.normal(size=(3, n)), draw.normal(size=(3, m))
        for one, other in ((first, second), (np.round(first), np.round(second))):  # whole numbers: many ways are equal
            path, cost = dtw_path_from_metric(one.T, other.T, metric="cityblock")
            found = alignment_of(one, other)
            assert found.path.tolist() == [list(step) for step in path]
            assert found.cost == pytest.approx(cost)
