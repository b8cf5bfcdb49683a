"""Training of the network: its loss terms, and several members at once, each on its own share of the windows.

Windows carry weights in every loss, so that padding and held-out ones count 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.extras import needed
from workprof.core.progress import Progress, silent
from workprof.nodes.network import (
    CODE,
    HIDDEN,
    SMALL,
    WINDOW,
    Batch,
    Inputs,
    Recipe,
    Sizes,
    Weights,
    classify,
    decode,
    first_weights,
    forward,
    jax_on_cpu,
    norm,
)

TRIPLET_MARGIN = 0.05
MINED_MARGIN = 0.2


def class_balance(n_positive: float, n_negative: float, beta: float) -> float:
    """Return alpha, the weight of anomalous runs: w_pos / (w_pos + w_neg), w = (1 - beta) / (1 - beta^n).

    0.5 where a class is empty.
    """
    if min(n_positive, n_negative) <= 0:
        return 0.5
    positive, negative = ((1 - beta) / (1 - beta**n) for n in (n_positive, n_negative))
    return float(positive / (positive + negative))


def anomalies_or_runs(label: Any, share: Any) -> Any:
    """Return what the anomaly terms of a batch are divided by: its anomalous runs, and without any all its runs.

    Every run of every window counts, those that dropped edges have made invalid and predecessors too.

    Args:
        label: (n_windows, n) 1 = anomalous.
        share: (n_windows,) weights.

    Source: Perona's public code (`pos_samples_divider`).
    """
    jnp = jax_on_cpu().numpy
    n_anomalous = (share[:, None] * label).sum()
    return jnp.where(n_anomalous > 0, n_anomalous, jnp.maximum(label.shape[1] * share.sum(), 1.0))


def focal(logits: Any, labels: Any, weights: Any, alpha: Any, gamma: float) -> Any:
    """Return the class-balanced focal loss, summed over runs.

    Args:
        logits: (n_runs,).
        labels: (n_runs,) 1 = anomalous.
        weights: (n_runs,).
        alpha: weight of the positive class 0-1.
        gamma: how much easy runs are played down.
    """
    jax = jax_on_cpu()
    jnp = jax.numpy
    entropy = jax.nn.softplus(logits) - labels * logits
    right = jnp.exp(-jnp.maximum(entropy, SMALL))
    balance = alpha * labels + (1 - alpha) * (1 - labels)
    return (weights * balance * entropy * jnp.maximum(1 - right, SMALL) ** gamma).sum()


def weighted_entropy(logits: Any, labels: Any, weights: Any, positive: Any) -> Any:
    """Return the cross-entropy, summed over runs; an anomalous run counts `positive` times. Shapes as `focal`."""
    jax = jax_on_cpu()
    return (weights * (positive * labels * jax.nn.softplus(-logits) + (1 - labels) * jax.nn.softplus(logits))).sum()


def squared_error(restored: Any, runs: Any, counted: Any) -> Any:
    """Return the mean squared error over the entries that count (same shape, weights)."""
    jnp = jax_on_cpu().numpy
    return (counted * (restored - runs) ** 2).sum() / jnp.maximum(counted.sum(), 1.0)


def cross_entropy(logits: Any, types: Any, weights: Any) -> Any:
    """Return the mean cross-entropy of (n_runs, n_types) logits against (n_runs,) types."""
    jax = jax_on_cpu()
    log_share = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), types[:, None], axis=-1)[:, 0]
    return -(weights * log_share).sum() / jax.numpy.maximum(weights.sum(), 1.0)


def triplets(codes: Any, types: Any, weights: Any) -> Any:
    """Return the triplet margin loss on cosine similarity, averaged over the triplets that violate the margin.

    Args:
        codes: (n, code).
        types: (n,), anchor and positive share one, the negative has another.
        weights: (n,), 0 leaves a code out.
    """
    jnp = jax_on_cpu().numpy
    unit = codes / jnp.sqrt((codes**2).sum(axis=-1, keepdims=True) + SMALL)
    alike = unit @ unit.T
    same = (types[:, None] == types[None, :]) & (weights[:, None] * weights[None, :] > 0)
    other = (types[:, None] != types[None, :]) & (weights[:, None] * weights[None, :] > 0)
    positive = same & ~jnp.eye(len(types), dtype=bool)
    gap = alike[:, :, None] - alike[:, None, :]
    chosen = positive[:, :, None] & other[:, None, :] & (gap <= MINED_MARGIN)
    loss = jnp.where(chosen, jnp.maximum(TRIPLET_MARGIN - gap, 0.0), 0.0)
    return loss.sum() / jnp.maximum((loss > 0).sum(), 1)


def rank_normal(code_norms: Any, run_norms: Any, normal: Any) -> Any:
    """Return the ranking loss of normal pairs inside windows: norms of codes in the ratio of the norms of the runs.

    Args:
        code_norms: (n_windows, n).
        run_norms: (n_windows, n).
        normal: (n_windows, n), weights; a pair counts the product.
    """
    jnp = jax_on_cpu().numpy
    first, second = run_norms[:, :, None], run_norms[:, None, :]
    pairs = normal[:, :, None] * normal[:, None, :] * (first != second)
    ratio = first / jnp.maximum(second, SMALL)
    short = -jnp.sign(first - second) * (code_norms[:, :, None] - ratio * code_norms[:, None, :])
    return (pairs * jnp.maximum(short, 0.0)).sum() / jnp.maximum(pairs.sum(), 1.0)


def rank_anomalous(code_norms: Any, run_norms: Any, anomalous: Any, least: Any) -> Any:
    """Return the ranking loss of an anomalous last run against its normal predecessors; 0 without anomalous runs.

    Args:
        code_norms: (n_windows, n), the last one is judged.
        run_norms: (n_windows, n).
        anomalous: (n_windows,), weight where the last run is anomalous.
        least: (n_windows,), rho: smallest norm of the type's normal training runs less their standard deviation.
    """
    jnp = jax_on_cpu().numpy
    largest = jnp.maximum(jnp.maximum(run_norms[:, :-1], run_norms[:, -1:]), SMALL)
    rho = jnp.maximum(least, SMALL)[:, None]
    factor = jnp.minimum(largest / rho, rho / largest)
    bad, good = code_norms[:, -1:], code_norms[:, :-1]
    terms = jnp.maximum(bad - factor * good, 0.0) + jnp.maximum(bad / jnp.maximum(factor, SMALL) - good, 0.0)
    return (anomalous[:, None] * terms).sum() / jnp.maximum(anomalous.sum(), 1.0)


TERMS = ("outlier", "reconstruction", "classification", "clustering", "rank_normal", "rank_anomalous")
UNLABELLED = -1.0
"""As alpha: there are no anomalous windows, so the outlier term is left out."""


def loss_terms(
    weights: Weights, batch: Batch, share: Any, recipe: Recipe, keeps: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return every term of the loss.

    Args:
        weights: of one member.
        batch: arrays of `Inputs`, and 'alpha' of the focal loss.
        share: (n,) weight of each window; 0 leaves it out.
        recipe: the network's.
        keeps: masks in training.
    """
    jnp = jax_on_cpu().numpy
    outputs = forward(weights, batch, recipe, keeps)
    codes, decodable = outputs["codes"], outputs["decodable"]
    drawn = keeps or {}
    counted = (batch["counted"] if recipe.owned_only else jnp.ones_like(batch["runs"])) * share[:, None, None]
    restored = [decode(weights, one, drawn.get(name)) for one, name in ((codes, "decode"), (decodable, "decode_v"))]
    kinds, each = jnp.repeat(batch["kind"], WINDOW), jnp.repeat(share, WINDOW)
    flat = [one.reshape(-1, CODE) for one in (codes, decodable)]
    last, judged = batch["label"][:, -1], share * outputs["valid"]
    divisor = anomalies_or_runs(batch["label"], share)
    normal = (1 - batch["label"]) * share[:, None]
    labelled = batch["alpha"] >= 0
    sizes = [norm(codes), norm(outputs["predicted"])]
    return {
        "outlier": focal(outputs["logit"], last, judged, batch["alpha"], recipe.focal_gamma) * labelled / divisor,
        "reconstruction": sum(squared_error(one, batch["targets"], counted) for one in restored),
        "classification": sum(cross_entropy(classify(weights, one), kinds, each) for one in flat),
        "clustering": _clustering(codes, decodable, batch["kind"], share, recipe),
        "rank_normal": sum(rank_normal(one, batch["size"], normal) for one in sizes),
        "rank_anomalous": rank_anomalous(sizes[1], batch["size"], share * last, batch["least"]),
    }


def draw_masks(key: Any, n: int, recipe: Recipe) -> dict[str, Any]:
    """Return masks of what survives dropout in one training step; edges are dropped, self loops included."""
    jax = jax_on_cpu()
    keys = jax.random.split(key, 6)
    drawn: dict[str, Any] = {}
    if recipe.edge_dropout:
        drawn["edges"] = jax.random.bernoulli(keys[0], 1 - recipe.edge_dropout, (n, WINDOW, WINDOW))
    if not recipe.dropout:
        return drawn
    share = 1 - recipe.dropout
    shapes = {
        "encode": (n, WINDOW, HIDDEN),
        "decode": (n, WINDOW, HIDDEN),
        "decode_v": (n, WINDOW, HIDDEN),
        "predict": (n, WINDOW, CODE),
        "attention": (n, WINDOW, recipe.heads, WINDOW),
    }
    masks = zip(shapes.items(), keys[1:], strict=True)
    return drawn | {name: (jax.random.bernoulli(one, share, shape), share) for (name, shape), one in masks}


def _clustering(codes: Any, decodable: Any, kind: Any, share: Any, recipe: Recipe) -> Any:
    jnp = jax_on_cpu().numpy
    if not recipe.cluster_all:
        both = jnp.concatenate([codes[:, -1], decodable[:, -1]])
        return triplets(both, jnp.tile(kind, 2), jnp.tile(share, 2))
    both = jnp.concatenate([codes.reshape(-1, CODE), decodable.reshape(-1, CODE)])
    return triplets(both, jnp.tile(jnp.repeat(kind, WINDOW), 2), jnp.tile(jnp.repeat(share, WINDOW), 2))


CLIPPED_NORM = 1.0
AVERAGED_SHARE = 0.8
"""Of the epochs pass before weights are averaged. Source: Perona's public code."""

COMPILED = {"xla_backend_optimization_level": 1}
"""Half the time of compiling, and no slower for matrices this small."""


@dataclass(frozen=True)
class Trained:
    """Members after training.

    Attributes:
        weights: by name, (n_members, ...): averages over the last fifth of the epochs.
        losses: (n_epochs, n_members, 6) mean of every term in an epoch, in the order of `training.TERMS`.
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
        Perona's public code; ours has no checkpoint picked on the validation part, the averaged weights stand.
    """
    jax = jax_on_cpu()
    sizes = Sizes(inputs.runs.shape[-1], inputs.edges.shape[-1], int(inputs.kind.max()) + 1, inputs.evidence.shape[-1])
    fresh = [first_weights(recipe, sizes, int(seed)) for seed in seeds]
    alphas = np.full(len(shares), UNLABELLED)
    for member, share in enumerate(shares):
        n_positive = float((share * inputs.label[:, -1]).sum())
        n_negative = float(share.sum()) - n_positive
        if min(n_positive, n_negative) > 0:
            fresh[member]["detect_2_bias"] = np.full(1, np.log(n_positive / n_negative))
            alphas[member] = class_balance(n_positive, n_negative, recipe.class_beta)
    weights = {name: np.stack([one[name] for one in fresh]) for name in fresh[0]} | dict(start or {})

    n_steps = recipe.epochs * -(-len(inputs) // recipe.batch)
    first_state = jax.vmap(optimiser(recipe, n_steps).init)
    state = first_state({name: jax.numpy.asarray(value) for name, value in weights.items()})
    keys = jax.vmap(jax.random.key)(seeds)
    rng = np.random.default_rng(int(seeds[0]))
    epoch = _compiled_epoch(recipe, n_steps)
    sums, n_summed, losses = {name: np.zeros_like(value) for name, value in weights.items()}, 0, []
    for number in range(recipe.epochs):
        progress(number / recipe.epochs, f"Training the network, pass {number + 1} of {recipe.epochs}")
        order, real = _batches(len(inputs), recipe.batch, rng)
        members = weights, state, keys, shares, alphas
        (weights, state, keys), terms = epoch(members, inputs.arrays(), (order, real))
        losses.append(np.asarray(terms))
        if number >= int(AVERAGED_SHARE * recipe.epochs):
            sums, n_summed = {name: sums[name] + np.asarray(value) for name, value in weights.items()}, n_summed + 1
    return Trained({name: value / n_summed for name, value in sums.items()}, np.array(losses))


def selection_loss(weights: Weights, inputs: Inputs, recipe: Recipe) -> float:
    """Return the loss by which the published search chooses: that of training with cross-entropy in place of focal.

    Args:
        weights: by name, of one member.
        inputs: windows of the validation part.
        recipe: the network's.

    Source:
        Perona's public code: mean over batches, an anomalous run counts normal / anomalous times. Its count is over
        all parts of the data; ours is over the validation part.
    """
    jax = jax_on_cpu()
    label = inputs.label[:, -1]
    positive = float((1 - label).sum() / label.sum()) if 0 < label.sum() < len(label) else 1.0

    def of_batch(batch: Batch, real: Any) -> Any:
        outputs = forward(weights, batch, recipe)
        terms = loss_terms(weights, dict(batch) | {"alpha": UNLABELLED}, real, recipe)
        entropy = weighted_entropy(outputs["logit"], batch["label"][:, -1], real * outputs["valid"], positive)
        whole = sum(terms[name] * (recipe.reconstruction_weight if name == "reconstruction" else 1.0) for name in TERMS)
        return whole + entropy / anomalies_or_runs(batch["label"], real)

    order, real = _batches(len(inputs), recipe.batch, np.random.default_rng(0))
    compiled, arrays = jax.jit(of_batch), inputs.arrays()
    losses = [
        compiled({name: value[places] for name, value in arrays.items()}, counted)
        for places, counted in zip(order, real, strict=True)
    ]
    return float(np.mean(losses))


def optimiser(recipe: Recipe, n_steps: int) -> Any:
    """Return clipping, decay added to the gradient of linear weights, Adam's moments, learning rate.

    Source: Perona's public code; ours lets the learning rate fall to 0 as a cosine where the recipe says so.
    """
    optax = needed("optax", "nodes")

    falling = optax.cosine_decay_schedule(recipe.learning_rate, max(n_steps, 1))
    rate = falling if recipe.falling_rate else optax.constant_schedule(recipe.learning_rate)

    return optax.chain(
        optax.clip_by_global_norm(CLIPPED_NORM),
        optax.add_decayed_weights(
            recipe.weight_decay, mask=lambda tree: {name: not name.endswith("_bias") for name in tree}
        ),
        optax.scale_by_adam(),
        optax.scale_by_schedule(lambda step: -rate(step)),
    )


def _batches(n: int, size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Return (n_batches, size) shuffled positions, and 1 where they are real, 0 where they fill up the last batch."""
    n_batches = -(-n // size)
    order = np.resize(rng.permutation(n), n_batches * size)
    real = (np.arange(n_batches * size) < n).astype(np.float64)
    return order.reshape(n_batches, size).astype(np.int64), real.reshape(n_batches, size)


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
        terms = loss_terms(weights, noisy(batch, first), share, recipe, draw_masks(second, len(share), recipe))
        stacked = jnp.stack([terms[name] for name in TERMS])
        return stacked @ weigh, stacked

    def step(carry: Any, chosen: Any) -> Any:
        weights, state, key, data, share, alpha = carry
        places, real = chosen
        key, own = jax.random.split(key)
        batch = {name: value[places] for name, value in data.items()} | {"alpha": alpha}
        gradient, terms = jax.grad(loss, has_aux=True)(weights, batch, share[places] * real, own)
        change, state = steps.update(gradient, state, weights)
        weights = jax.tree.map(lambda old, by: old + by, weights, change)
        return (weights, state, key, data, share, alpha), terms

    def member(own: Any, data: Any, batches: Any) -> Any:
        weights, state, key, share, alpha = own
        carry, terms = jax.lax.scan(step, (weights, state, key, data, share, alpha), batches)
        return carry[:3], terms.mean(axis=0)

    return jax.jit(jax.vmap(member, in_axes=(0, None, None)), compiler_options=COMPILED)
