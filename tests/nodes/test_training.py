"""The loss terms on pairs that can be worked out by hand, and their gradients against finite differences."""

import numpy as np
import pytest
from autograd import grad

from tests.nodes.test_network import N_COLUMNS, N_EDGE, N_EVIDENCE, N_TYPES, windows
from workprof.nodes.network import PUBLISHED, Recipe, Sizes, first_weights
from workprof.nodes.training import (
    TERMS,
    UNLABELLED,
    anomalies_or_runs,
    class_balance,
    cross_entropy,
    focal,
    loss_terms,
    rank_anomalous,
    rank_normal,
    selection_loss,
    squared_error,
    triplets,
    weighted_entropy,
)

pytestmark = pytest.mark.slow


def test_class_balance_weighs_the_rare_class_more():
    positive, negative = (1 - 0.9) / (1 - 0.9**2), (1 - 0.9) / (1 - 0.9**8)
    assert class_balance(2, 8, 0.9) == pytest.approx(positive / (positive + negative))
    assert class_balance(0, 8, 0.9) == 0.5


def test_focal_of_two_runs():
    # p = 0.8 for both; alpha 0.75, gamma 2
    logit = np.log(4.0)
    by_hand = 0.75 * 0.2**2 * -np.log(0.8) + 0.25 * 0.8**2 * -np.log(0.2)
    found = focal(np.array([logit, logit]), np.array([1.0, 0.0]), np.ones(2), 0.75, 2.0)
    assert float(found) == pytest.approx(by_hand)


def test_focal_leaves_out_the_padding():
    logits, labels = np.array([0.0, 0.0, 5.0]), np.array([0.0, 0.0, 1.0])
    found = focal(logits, labels, np.array([1.0, 1.0, 0.0]), 0.5, 1.0)
    assert float(found) == pytest.approx(2 * 0.5 * 0.5 * np.log(2))


def test_anomaly_terms_are_divided_by_anomalous_runs_or_else_by_every_run_of_every_window():
    label = np.zeros((3, 4))
    assert float(anomalies_or_runs(label, np.array([1.0, 1.0, 0.0]))) == 8
    label[0, -1] = label[2, -1] = 1
    assert float(anomalies_or_runs(label, np.array([1.0, 1.0, 0.0]))) == 1
    assert float(anomalies_or_runs(label, np.ones(3))) == 2


def test_an_anomalous_run_weighs_more_in_the_entropy_that_chooses():
    # logits 0: ln 2 each; the anomalous one three times
    found = weighted_entropy(np.zeros(3), np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0]), 3.0)
    assert float(found) == pytest.approx(4 * np.log(2))


def test_the_loss_that_chooses_does_not_depend_on_the_order_of_its_windows():
    case, recipe = windows(16), PUBLISHED
    weights = first_weights(recipe, Sizes(N_COLUMNS, N_EDGE, N_TYPES, N_EVIDENCE), 0)
    found = [selection_loss(weights, case.at(places), recipe) for places in (np.arange(16), np.arange(16)[::-1])]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert np.isfinite(found[0])


def test_squared_error_counts_owned_entries_only():
    restored, runs = np.array([[0.5, 9.0]]), np.array([[0.0, 0.0]])
    assert float(squared_error(restored, runs, np.array([[1.0, 0.0]]))) == 0.25
    assert float(squared_error(restored, runs, np.zeros((1, 2)))) == 0


def test_cross_entropy_of_even_logits():
    found = cross_entropy(np.zeros((3, 4)), np.array([0, 1, 2]), np.array([1.0, 1.0, 0.0]))
    assert float(found) == pytest.approx(np.log(4))


def test_triplets_of_three_codes():
    # anchors 0 and 1 share a type; cosines: 0-1 is 0, 0-2 is 1, 1-2 is 0
    codes, types = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), np.array([0, 0, 1])
    # (0, 1, 2): 0.05 - (0 - 1) = 1.05; (1, 0, 2): 0.05 - (0 - 0) = 0.05
    assert float(triplets(codes, types, np.ones(3))) == pytest.approx((1.05 + 0.05) / 2, abs=1e-6)
    assert float(triplets(codes, types, np.array([1.0, 1.0, 0.0]))) == 0


def test_rank_normal_wants_the_ratio_of_the_norms():
    ones = np.ones((1, 2))
    assert float(rank_normal(np.array([[2.0, 1.0]]), np.array([[1.0, 0.5]]), ones)) == 0
    # ordered pairs (0, 1): t = 1, phi = 2: max(0, -(1 - 2 * 1)) = 1; (1, 0): t = -1, phi = 0.5: 1 - 0.5 * 1 = 0.5
    assert float(rank_normal(np.ones((1, 2)), np.array([[1.0, 0.5]]), ones)) == pytest.approx(0.75)
    assert float(rank_normal(np.array([[3.0, 1.0]]), ones, ones)) == 0, "equal norms are no pair"


def test_rank_anomalous_shortens_the_anomalous_code():
    # n = 0.8, rho = 0.4: f = 0.5; |bad| = |good| = 1: (1 - 0.5) + (2 - 1), per predecessor
    codes, runs = np.ones((1, 4)), np.array([[0.8, 0.8, 0.8, 0.2]])
    assert float(rank_anomalous(codes, runs, np.ones(1), np.array([0.4]))) == pytest.approx(3 * 1.5)
    assert float(rank_anomalous(codes, runs, np.zeros(1), np.array([0.4]))) == 0
    short = np.array([[1.0, 1.0, 1.0, 0.5]])
    assert float(rank_anomalous(short, runs, np.ones(1), np.array([0.4]))) == 0


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [Recipe(heads=2, beta=True), PUBLISHED], ids=["ours", "published"])
def test_gradients_agree_with_finite_differences(recipe):
    evidence = 0 if recipe is PUBLISHED else N_EVIDENCE
    weights = first_weights(recipe, Sizes(N_COLUMNS, N_EDGE, N_TYPES, evidence), seed=3)
    batch = windows().arrays() | {"alpha": 0.7}
    share = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0])

    def total(values):
        return sum(loss_terms(values, batch, share, recipe).values())

    gradient = grad(total)(weights)
    rng = np.random.default_rng(0)
    kept_on_one_side = {"encode_1", "encode_2"}  # predictions replaced by the code stop its gradient
    for name, value in weights.items():
        if name in kept_on_one_side:
            continue
        way = rng.normal(size=value.shape)
        step = 1e-6
        ahead, behind = (float(total(weights | {name: value + sign * step * way})) for sign in (1, -1))
        expected = float((np.asarray(gradient[name]) * way).sum())
        assert (ahead - behind) / (2 * step) == pytest.approx(expected, rel=1e-4, abs=1e-6), name


@pytest.mark.slow
def test_gradients_stay_finite_without_anomalous_runs_edges_or_codes():
    recipe = Recipe(heads=1)
    weights = first_weights(recipe, Sizes(N_COLUMNS, N_EDGE, N_TYPES, N_EVIDENCE), seed=1)
    weights["encode_2"] = np.zeros_like(weights["encode_2"])  # every code is zero
    case = windows(anomalous=False)
    case.mask[:] = False
    batch = case.arrays() | {"alpha": UNLABELLED}

    def total(values):
        return sum(loss_terms(values, batch, np.ones(6), recipe).values())

    gradients, terms = grad(total)(weights), loss_terms(weights, batch, np.ones(6), recipe)
    assert set(terms) == set(TERMS)
    assert np.isfinite([float(term) for term in terms.values()]).all()
    assert float(terms["outlier"]) == 0
    assert all(np.isfinite(np.asarray(one)).all() for one in gradients.values())


def test_members_at_once_have_the_losses_and_gradients_that_each_has_alone():
    recipe, case = Recipe(heads=2), windows()
    sizes = Sizes(N_COLUMNS, N_EDGE, N_TYPES, N_EVIDENCE)
    members = [first_weights(recipe, sizes, seed) for seed in (1, 2)]
    share, alpha = np.array([[1.0, 1, 1, 1, 0, 1], [1, 0, 1, 1, 1, 1]]), np.array([0.7, UNLABELLED])
    batch = case.arrays()

    def of_one(weights, member):
        return sum(loss_terms(weights, batch | {"alpha": alpha[member]}, share[member], recipe).values())

    def of_all(weights):
        given = batch | {"runs": case.runs[None], "edges": case.edges[None], "alpha": alpha}
        return sum(loss_terms(weights, given, share, recipe).values())

    stacked = {name: np.stack([one[name] for one in members]) for name in members[0]}
    np.testing.assert_allclose(of_all(stacked), [of_one(one, at) for at, one in enumerate(members)], rtol=1e-12)
    gradient = grad(lambda weights: of_all(weights).sum())(stacked)
    for member, weights in enumerate(members):
        for name, expected in grad(lambda values, at=member: of_one(values, at))(weights).items():
            np.testing.assert_allclose(gradient[name][member], expected, rtol=1e-9, atol=1e-12, err_msg=name)
