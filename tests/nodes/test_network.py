"""The network: layers against loops, what may reach a prediction, training, and its stored form."""

from dataclasses import replace

import numpy as np
import pytest

from workprof.core.errors import SettingsError
from workprof.core.records import pack, unpack
from workprof.nodes.network import (
    CODE,
    PUBLISHED,
    Inputs,
    Recipe,
    SavedNetwork,
    Sizes,
    alpha_dropout,
    apply_network,
    attend,
    first_weights,
    forward,
    hop,
    norm,
    predict_codes,
    selu,
)
from workprof.nodes.training import train

pytestmark = pytest.mark.slow

N_COLUMNS, N_EDGE, N_TYPES, N_EVIDENCE = 5, 3, 2, 2
SIZES = Sizes(N_COLUMNS, N_EDGE, N_TYPES, N_EVIDENCE)
TINY = Recipe(heads=2, epochs=30, learning_rate=1e-2, batch=8)


def windows(n=6, seed=0, anomalous=True):
    """Return small windows, a third of them anomalous."""
    rng = np.random.default_rng(seed)
    label = np.zeros((n, 4))
    if anomalous:
        label[::3, -1] = 1
    runs = rng.uniform(0, 1, (n, 4, N_COLUMNS))
    return Inputs(
        runs=runs,
        targets=runs,
        counted=(rng.random(runs.shape) < 0.7).astype(float),
        edges=rng.normal(0, 1, (n, 4, 4, N_EDGE)),
        mask=np.broadcast_to(np.tril(np.ones((4, 4), dtype=bool)), (n, 4, 4)).copy(),
        label=label,
        kind=np.arange(n) % N_TYPES,
        size=rng.uniform(0.5, 1, (n, 4)),
        least=np.full(n, 0.4),
        evidence=rng.normal(0, 1, (n, N_EVIDENCE)),
    )


def weights_of(recipe, seed=0):
    rng = np.random.default_rng(seed)
    weights = first_weights(recipe, SIZES, seed)
    return {name: value + 0.1 * rng.normal(size=value.shape) for name, value in weights.items()}


def attention_by_loop(weights, codes, edges, mask, heads):
    """One window, published form: every head, every run, every predecessor on its own."""
    gathered, mean_alpha = np.zeros((4, CODE)), np.zeros((4, 4))
    for head in range(heads):
        own = slice(head * CODE, (head + 1) * CODE)
        for to in range(4):
            incoming = np.flatnonzero(mask[to])
            if not len(incoming):
                continue
            query = codes[to] @ weights["query"][:, own] + weights["query_bias"][own]
            along = [edges[to, one] @ weights["edge"][:, own] for one in incoming]
            keys = [
                codes[a] @ weights["key"][:, own] + weights["key_bias"][own] + e
                for a, e in zip(incoming, along, strict=True)
            ]
            values = [
                codes[a] @ weights["value"][:, own] + weights["value_bias"][own] + e
                for a, e in zip(incoming, along, strict=True)
            ]
            powers = np.exp([query @ key / CODE**0.5 for key in keys])
            alpha = powers / powers.sum()
            gathered[to] += sum(a * v for a, v in zip(alpha, values, strict=True)) / heads
            mean_alpha[to, incoming] += alpha / heads
    return gathered, mean_alpha


def test_attention_equals_a_loop():
    recipe, case, rng = Recipe(heads=3, strict=False), windows(), np.random.default_rng(1)
    weights, codes = weights_of(recipe), rng.normal(size=(6, 4, CODE))
    mask = case.mask & (rng.random((6, 4, 4)) < 0.7)
    mask[0, 2] = False  # a run without any edge gathers nothing
    gathered, alpha = attend(weights, codes, case.edges, mask, recipe)
    for window in range(6):
        expected = attention_by_loop(weights, codes[window], case.edges[window], mask[window], 3)
        np.testing.assert_allclose(gathered[window], expected[0], atol=1e-12)
        np.testing.assert_allclose(alpha[window], expected[1], atol=1e-12)


def test_hops_equal_powers_of_the_attention():
    rng, recipe = np.random.default_rng(0), Recipe(strict=False)
    weights, codes, alpha = weights_of(recipe), rng.normal(size=(2, 4, CODE)), rng.random((2, 4, 4))
    found = hop(weights, codes, alpha, recipe)
    for window in range(2):
        powers = [np.linalg.matrix_power(alpha[window], k) for k in range(4)]
        expected = sum(power @ codes[window] @ weights[f"hop_{k}"] for k, power in enumerate(powers))
        np.testing.assert_allclose(found[window], expected, rtol=1e-10)


def test_what_is_gathered_and_what_hops_are_averaged_before_selu():
    recipe, case = replace(PUBLISHED, root_weight=False), windows()
    weights = weights_of(recipe)
    codes = np.random.default_rng(2).normal(size=(6, 4, CODE))
    gathered, attention = attend(weights, codes, case.edges, case.mask, recipe)
    mean = (gathered + hop(weights, codes, attention, recipe)) / 2
    found = predict_codes(weights, codes, case.edges, case.mask, recipe)
    np.testing.assert_allclose(found, selu(selu(mean) @ weights["out"]), atol=1e-12)


def test_norm_is_the_published_ten_norm():
    for value, expected in ((0.5, 1.0008), (0.8, 1.064), (1.0, 1.246)):
        run = np.append(np.full(8, value), 1.0)  # eight metrics and the one-hot
        assert float(norm(run)) == pytest.approx(expected, abs=1e-3)
    assert float(norm(np.zeros(3))) == 0


@pytest.mark.parametrize("beta", [False, True])
def test_strict_prediction_does_not_see_its_own_run(beta):
    recipe, case = Recipe(heads=2, beta=beta, root_weight=True), windows()
    weights = weights_of(recipe)
    changed = case.runs.copy()
    changed[:, -1] += 0.5
    before, after = (forward(weights, case.arrays() | {"runs": runs}, recipe) for runs in (case.runs, changed))
    np.testing.assert_array_equal(before["predicted"][:, -1], after["predicted"][:, -1])
    assert not np.allclose(before["codes"][:, -1], after["codes"][:, -1])


def test_the_published_prediction_sees_its_own_run():
    case, weights = windows(), weights_of(PUBLISHED)
    changed = case.runs.copy()
    changed[:, -1] += 0.5
    before, after = (forward(weights, case.arrays() | {"runs": runs}, PUBLISHED) for runs in (case.runs, changed))
    assert not np.allclose(before["predicted"][:, -1], after["predicted"][:, -1])


def test_earlier_runs_do_not_see_later_ones():
    recipe, case = Recipe(strict=False), windows()
    weights, changed = weights_of(recipe), case.runs.copy()
    changed[:, 2:] += 0.5
    before, after = (forward(weights, case.arrays() | {"runs": runs}, recipe) for runs in (case.runs, changed))
    np.testing.assert_array_equal(before["codes"][:, :2], after["codes"][:, :2])
    np.testing.assert_array_equal(before["predicted"][:, :2], after["predicted"][:, :2])


def test_alpha_dropout_keeps_mean_and_variance():
    rng = np.random.default_rng(0)
    values = selu(rng.normal(size=400_000))
    kept = np.asarray(alpha_dropout(values, (rng.random(values.shape) < 0.8, 0.8)))
    assert kept.mean() == pytest.approx(values.mean(), abs=0.01)
    assert kept.std() == pytest.approx(values.std(), abs=0.01)


def learnable(n=64):
    """Windows whose last run is anomalous where its first column jumps; the type shows in the last column."""
    case = windows(n, seed=5)
    runs, label = case.runs * 0.05 + 0.5, case.label
    runs[..., -1] = (case.kind * 1.0)[:, None]
    runs[:, -1, 0] += 0.4 * label[:, -1]
    return case.at(np.arange(n)).__class__(
        **(case.arrays() | {"runs": runs, "targets": runs, "counted": np.ones_like(runs), "evidence": np.zeros((n, 0))})
    )


@pytest.fixture(scope="module")
def trained():
    case = learnable()
    return case, train(case, np.ones((2, len(case))), TINY, np.array([0, 1]))


@pytest.mark.slow
def test_training_learns_types_runs_and_anomalies(trained):
    case, found = trained
    told = apply_network(found.weights, case, TINY)
    assert (told.kind == case.kind).all()
    assert ((told.logit > 0) == case.label[:, -1]).mean() > 0.95
    assert ((told.restored - case.targets[:, -1]) ** 2).mean() < 0.02
    assert found.losses.shape == (TINY.epochs, 2, 6)


@pytest.mark.slow
def test_a_member_never_sees_windows_outside_its_share():
    case, few = learnable(), replace(TINY, epochs=3)
    found = train(case, np.ones((2, len(case))), few, np.array([0, 1]))
    share = np.vstack([np.ones(len(case)), np.arange(len(case)) < 40])
    seeds = np.array([0, 1])
    first = train(case, share, few, seeds)
    garbled = case.runs.copy()
    garbled[40:] = 9.0
    other = case.__class__(**(case.arrays() | {"runs": garbled, "targets": garbled}))
    second = train(other, share, few, seeds)
    for name, value in first.weights.items():
        np.testing.assert_array_equal(value[1], second.weights[name][1], err_msg=name)
    np.testing.assert_allclose(first.weights["out"][0], found.weights["out"][0])


@pytest.mark.slow
def test_a_network_comes_back_from_its_stored_form(trained):
    case, found = trained
    kept = SavedNetwork(TINY, found.weights, found.losses.mean(axis=1))
    back = unpack(SavedNetwork, pack(kept))
    assert back.recipe == TINY
    np.testing.assert_array_equal(
        apply_network(back.weights, case, back.recipe).logit, apply_network(kept.weights, case, kept.recipe).logit
    )


@pytest.mark.slow
def test_told_is_the_same_window_by_window(trained):
    case, found = trained
    whole, part = (
        apply_network(found.weights, case, TINY),
        apply_network(found.weights, case.at(np.array([7, 3])), TINY),
    )
    np.testing.assert_allclose(part.logit, whole.logit[[7, 3]], atol=1e-12)


@pytest.mark.parametrize(("name", "value"), [("heads", 0), ("dropout", 1.0), ("epochs", 0), ("learning_rate", 2)])
def test_recipes_refuse_what_cannot_be_trained(name, value):
    with pytest.raises(SettingsError, match=f"{name} is {value}"):
        Recipe(**{name: value})
