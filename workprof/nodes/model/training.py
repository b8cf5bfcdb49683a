"""Training: several members at once, each on its own share of the windows, from its own first weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.nodes.model.backend import jax_on_cpu
from workprof.nodes.model.inputs import Inputs
from workprof.nodes.model.layers import first_weights, is_linear
from workprof.nodes.model.losses import class_balance
from workprof.nodes.model.network import TERMS, UNLABELLED, draw_keeps, loss_terms
from workprof.nodes.model.shape import Recipe, Sizes
from workprof.progress import Progress, silent

CLIPPED_NORM = 1.0
AVERAGED_SHARE = 0.8
"""Of the epochs pass before weights are averaged. Source: perona.md 3.4."""

COMPILED = {"xla_backend_optimization_level": 1}
"""Half the time of compiling, and no slower for matrices this small."""


@dataclass(frozen=True)
class Trained:
    """Members after training.

    Attributes:
        weights: by name, (n_members, ...): averages over the last fifth of the epochs.
        losses: (n_epochs, n_members, 6) mean of every term in an epoch, in the order of `network.TERMS`.
    """

    weights: dict[str, Floats]
    losses: Floats


def train(
    inputs: Inputs,
    shares: Floats,
    recipe: Recipe,
    seeds: Ints,
    start: Mapping[str, Floats] | None = None,
    progress: Progress = silent,
) -> Trained:
    """Return members trained on windows.

    Args:
        inputs: windows of the training part.
        shares: (n_members, n_windows) 1 = the member learns from the window, 0 = it never sees it.
        recipe: the network's.
        seeds: (n_members,) of first weights and of every draw.
        start: weights by name, (n_members, ...), that replace the first ones.
        progress: told every epoch.

    Source:
        perona.md 3.4; ours has no checkpoint picked on the validation part, the averaged weights stand.
    """
    jax = jax_on_cpu()
    weights = _first_weights(inputs, shares, recipe, seeds) | dict(start or {})
    alphas = np.array([_alpha(_counts(inputs, share), recipe.class_beta) for share in shares])
    n_steps = recipe.epochs * -(-len(inputs) // recipe.batch)
    state = _initial_state(recipe, weights, n_steps)
    keys = jax.vmap(jax.random.key)(seeds)
    rng = np.random.default_rng(int(seeds[0]))
    epoch = _compiled_epoch(recipe, n_steps)
    sums, n_summed, losses = {name: np.zeros_like(value) for name, value in weights.items()}, 0, []
    for number in range(recipe.epochs):
        progress(number / recipe.epochs, f"Training the network, pass {number + 1} of {recipe.epochs}")
        order, real = _batches(len(inputs), recipe.batch, rng)
        given = ((weights, state, keys, shares, alphas), inputs.arrays(), (order, real))
        (weights, state, keys), told = epoch(*given)
        losses.append(np.asarray(told))
        if number >= int(AVERAGED_SHARE * recipe.epochs):
            sums, n_summed = {name: sums[name] + np.asarray(value) for name, value in weights.items()}, n_summed + 1
    return Trained({name: value / n_summed for name, value in sums.items()}, np.array(losses))


def optimiser(recipe: Recipe, n_steps: int) -> Any:
    """Return clipping, decay added to the gradient of linear weights, Adam's moments, learning rate.

    Source: perona.md 3.5; ours lets the learning rate fall to 0 as a cosine where the recipe says so.
    """
    import optax  # noqa: PLC0415  heavy

    falling = optax.cosine_decay_schedule(recipe.learning_rate, max(n_steps, 1))
    rate = falling if recipe.falling_rate else optax.constant_schedule(recipe.learning_rate)

    return optax.chain(
        optax.clip_by_global_norm(CLIPPED_NORM),
        optax.add_decayed_weights(recipe.weight_decay, mask=lambda tree: {name: is_linear(name) for name in tree}),
        optax.scale_by_adam(),
        optax.scale_by_schedule(lambda step: -rate(step)),
    )


def _first_weights(inputs: Inputs, shares: Floats, recipe: Recipe, seeds: Ints) -> dict[str, Floats]:
    """Return fresh weights by name, (n_members, ...)."""
    sizes = Sizes(inputs.runs.shape[-1], inputs.edges.shape[-1], int(inputs.kind.max()) + 1, inputs.evidence.shape[-1])
    fresh = [_first(recipe, sizes, int(seed), share, inputs) for seed, share in zip(seeds, shares, strict=True)]
    return {name: np.stack([one[name] for one in fresh]) for name in fresh[0]}


def _first(recipe: Recipe, sizes: Sizes, seed: int, share: Floats, inputs: Inputs) -> dict[str, Floats]:
    weights = first_weights(recipe, sizes, seed)
    n_positive, n_negative = _counts(inputs, share)
    if min(n_positive, n_negative) > 0:
        weights["detect_2_bias"] = np.full(1, np.log(n_positive / n_negative))
    return weights


def _counts(inputs: Inputs, share: Floats) -> tuple[float, float]:
    label = inputs.label[:, -1]
    return float((share * label).sum()), float((share * (1 - label)).sum())


def _alpha(counts: tuple[float, float], beta: float) -> float:
    """Return the weight of anomalous windows, or `UNLABELLED` where there are none to learn from."""
    return class_balance(*counts, beta) if min(counts) > 0 else UNLABELLED


def _batches(n: int, size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return (n_batches, size) shuffled positions, and 1 where they are real, 0 where they fill up the last batch."""
    n_batches = -(-n // size)
    order = np.resize(rng.permutation(n), n_batches * size)
    real = (np.arange(n_batches * size) < n).astype(np.float64)
    return order.reshape(n_batches, size).astype(np.int64), real.reshape(n_batches, size)


def _initial_state(recipe: Recipe, weights: Mapping[str, Floats], n_steps: int) -> Any:
    jax = jax_on_cpu()
    start = {name: jax.numpy.asarray(value) for name, value in weights.items()}
    return jax.vmap(optimiser(recipe, n_steps).init)(start)


@cache
def _compiled_epoch(recipe: Recipe, n_steps: int) -> Any:
    """Return one pass over all batches for all members; compiled once per shape."""
    jax = jax_on_cpu()
    jnp, steps = jax.numpy, optimiser(recipe, n_steps)
    weigh = np.array([recipe.reconstruction_weight if name == "reconstruction" else 1.0 for name in TERMS])

    def noisy(batch: dict[str, Any], key: Any) -> dict[str, Any]:
        one, two = jax.random.split(key)
        runs = batch["runs"] + recipe.noise * jax.random.normal(one, batch["runs"].shape)
        edges = batch["edges"] + recipe.noise * jax.random.normal(two, batch["edges"].shape)
        return batch | {"runs": runs, "edges": edges}

    def loss(weights: Any, batch: dict[str, Any], share: Any, key: Any) -> Any:
        first, second = jax.random.split(key)
        terms = loss_terms(weights, noisy(batch, first), share, recipe, draw_keeps(second, len(share), recipe))
        told = jnp.stack([terms[name] for name in TERMS])
        return told @ weigh, told

    def step(carry: Any, turn: Any) -> Any:
        weights, state, key, data, share, alpha = carry
        places, real = turn
        key, own = jax.random.split(key)
        batch = {name: value[places] for name, value in data.items()} | {"alpha": alpha}
        gradient, told = jax.grad(loss, has_aux=True)(weights, batch, share[places] * real, own)
        change, state = steps.update(gradient, state, weights)
        weights = jax.tree.map(lambda old, by: old + by, weights, change)
        return (weights, state, key, data, share, alpha), told

    def member(own: Any, data: Any, turns: Any) -> Any:
        weights, state, key, share, alpha = own
        carry, told = jax.lax.scan(step, (weights, state, key, data, share, alpha), turns)
        return carry[:3], told.mean(axis=0)

    return jax.jit(jax.vmap(member, in_axes=(0, None, None)), compiler_options=COMPILED)
