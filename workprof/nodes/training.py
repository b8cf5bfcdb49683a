"""Training of the network: its loss terms, and several members at once, each on its own share of the windows.

Windows carry weights in every loss, so that padding and held-out ones count 0. Arrays may have the members first, as in
`network`; every loss is then one number per member.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd import value_and_grad

from workprof.core.arrays import Floats, Ints
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
    constant,
    decode,
    first_weights,
    forward,
    norm,
)

TRIPLET_MARGIN = 0.05
"""By which a code is to be more like one of its own type than like one of another. The published miner also picks
triplets that are so by up to 0.2; beyond this margin they have neither loss nor count."""


def class_balance(n_positive: float, n_negative: float, beta: float) -> float:
    """Alpha, the weight of anomalous runs: w_pos / (w_pos + w_neg), w = (1 - beta) / (1 - beta^n).

    0.5 where a class is empty.
    """
    if min(n_positive, n_negative) <= 0:
        return 0.5
    positive, negative = ((1 - beta) / (1 - beta**n) for n in (n_positive, n_negative))
    return float(positive / (positive + negative))


def anomalies_or_runs(label: Any, share: Any) -> Any:
    """What the anomaly terms of a batch are divided by: its anomalous runs, and without any all its runs.

    Every run of every window counts, those that dropped edges have made invalid and predecessors too.

    `label` is (n_windows, n) 1 = anomalous, `share` (n_windows,) weights.

    Source: Perona's public code (`pos_samples_divider`).
    """
    n_anomalous = (share[..., None] * label).sum(axis=(-2, -1))
    n_runs = np.maximum(label.shape[-1] * share.sum(axis=-1), 1.0)
    return np.where(n_anomalous > 0, n_anomalous, n_runs)


def softplus(values: Any) -> Any:
    """log(1 + exp(values))."""
    return anp.logaddexp(0.0, values)


def focal(logits: Any, labels: Any, weights: Any, alpha: Any, gamma: float) -> Any:
    """The class-balanced focal loss, summed over runs; logits, labels (1 = anomalous) and weights are (n_runs,).

    `alpha` is the weight of the positive class 0-1, `gamma` how much easy runs are played down.
    """
    entropy = softplus(logits) - labels * logits
    right = anp.exp(-anp.maximum(entropy, SMALL))
    balance = alpha * labels + (1 - alpha) * (1 - labels)
    return (weights * balance * entropy * anp.maximum(1 - right, SMALL) ** gamma).sum(axis=-1)


def weighted_entropy(logits: Any, labels: Any, weights: Any, positive: Any) -> Any:
    """The cross-entropy, summed over runs; an anomalous run counts `positive` times. Shapes as `focal`."""
    return (weights * (positive * labels * softplus(-logits) + (1 - labels) * softplus(logits))).sum(axis=-1)


def squared_error(restored: Any, runs: Any, counted: Any, over: int = 2) -> Any:
    """The mean squared error over the entries that count (same shape, weights) of the last `over` axes."""
    axes = tuple(range(-over, 0))
    return (counted * (restored - runs) ** 2).sum(axis=axes) / np.maximum(counted.sum(axis=axes), 1.0)


def cross_entropy(logits: Any, types: Any, weights: Any) -> Any:
    """The mean cross-entropy of (n_runs, n_types) logits against (n_runs,) types."""
    beyond = logits - constant(logits).max(axis=-1, keepdims=True)
    own = (beyond * (np.arange(logits.shape[-1]) == types[..., None])).sum(axis=-1)
    log_share = own - anp.log(anp.exp(beyond).sum(axis=-1))
    return -(weights * log_share).sum(axis=-1) / np.maximum(weights.sum(axis=-1), 1.0)


def triplets(codes: Any, types: Any, weights: Any) -> Any:
    """The triplet margin loss on cosine similarity, averaged over the triplets that violate the margin.

    Codes are (n, code), types (n,): anchor and positive share one, the negative has another. Weights (n,) 0 leave a
    code out.
    """
    unit = codes / anp.sqrt((codes**2).sum(axis=-1, keepdims=True) + SMALL)
    alike = unit @ anp.swapaxes(unit, -1, -2)
    counts = weights[..., :, None] * weights[..., None, :] > 0
    same = types[:, None] == types[None, :]
    positive, negative = same & counts & ~np.eye(len(types), dtype=np.bool_), ~same & counts
    fixed = constant(alike)
    violating = fixed[..., :, None] - fixed[..., None, :] < TRIPLET_MARGIN  # [anchor, positive, negative]
    violating &= positive[..., :, None] & negative[..., None, :]
    by_pair, by_other = violating.sum(axis=-1), violating.sum(axis=-2)
    loss = (by_pair * (TRIPLET_MARGIN - alike) + by_other * alike).sum(axis=(-2, -1))
    return loss / np.maximum(by_pair.sum(axis=(-2, -1)), 1)


def rank_normal(code_norms: Any, run_norms: Any, normal: Any) -> Any:
    """Ranking loss of normal pairs inside windows: norms of codes in the ratio of the norms of the runs.

    All are (n_windows, n); `normal` are weights, and a pair counts the product.
    """
    first, second = run_norms[..., :, None], run_norms[..., None, :]
    pairs = normal[..., :, None] * normal[..., None, :] * (first != second)
    ratio = first / np.maximum(second, SMALL)
    short = -np.sign(first - second) * (code_norms[..., :, None] - ratio * code_norms[..., None, :])
    over = (-3, -2, -1)
    return (pairs * anp.maximum(short, 0.0)).sum(axis=over) / np.maximum(pairs.sum(axis=over), 1.0)


def rank_anomalous(code_norms: Any, run_norms: Any, anomalous: Any, least: Any) -> Any:
    """Ranking loss of an anomalous last run against its normal predecessors; 0 without anomalous runs.

    Norms are (n_windows, n), the last one is judged; `anomalous` (n_windows,) its weight. `least` is rho: the smallest
    norm of the type's normal training runs less their standard deviation.
    """
    largest = np.maximum(np.maximum(run_norms[..., :-1], run_norms[..., -1:]), SMALL)
    rho = np.maximum(least, SMALL)[..., None]
    factor = np.minimum(largest / rho, rho / largest)
    bad, good = code_norms[..., -1:], code_norms[..., :-1]
    terms = anp.maximum(bad - factor * good, 0.0) + anp.maximum(bad / np.maximum(factor, SMALL) - good, 0.0)
    return (anomalous[..., None] * terms).sum(axis=(-2, -1)) / np.maximum(anomalous.sum(axis=-1), 1.0)


TERMS = ("outlier", "reconstruction", "classification", "clustering", "rank_normal", "rank_anomalous")
UNLABELLED = -1.0
"""As alpha: there are no anomalous windows, so the outlier term is left out."""


def loss_terms(
    weights: Weights, batch: Batch, share: Any, recipe: Recipe, masks: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Every term of the loss, (...) each.

    `batch` has the arrays of `Inputs`, the windows' own without members, and 'alpha' (...) of the focal loss; `share`
    (..., n) is the weight of each window, and 0 leaves it out.
    """
    outputs = forward(weights, batch, recipe, masks)
    codes, decodable = outputs["codes"], outputs["decodable"]
    drawn, lead = masks or {}, share.shape[:-1]
    owned = batch["counted"] if recipe.owned_only else np.ones_like(batch["counted"])
    counted = owned * share[..., None, None]
    restored = [decode(weights, one, drawn.get(name)) for one, name in ((codes, "decode"), (decodable, "decode_v"))]
    kinds, each = np.repeat(batch["kind"], WINDOW), np.repeat(share, WINDOW, axis=-1)
    flat = [anp.reshape(one, (*lead, -1, CODE)) for one in (codes, decodable)]
    last, judged = batch["label"][:, -1], share * outputs["valid"]
    alpha = np.asarray(batch["alpha"])
    normal = (1 - batch["label"]) * share[..., None]
    sizes = [norm(codes), norm(outputs["predicted"])]
    outlier = focal(outputs["logit"], last, judged, alpha[..., None], recipe.focal_gamma)
    if recipe.cluster_all:
        clustered, own_kinds, own_share = flat, kinds, each
    else:
        clustered, own_kinds, own_share = [one[..., -1, :] for one in (codes, decodable)], batch["kind"], share
    return {
        "outlier": outlier * (alpha >= 0) / anomalies_or_runs(batch["label"], share),
        "reconstruction": sum(squared_error(one, batch["targets"], counted, 3) for one in restored),
        "classification": sum(cross_entropy(classify(weights, one), kinds, each) for one in flat),
        "clustering": triplets(
            anp.concatenate(clustered, axis=-2), np.tile(own_kinds, 2), np.concatenate([own_share, own_share], axis=-1)
        ),
        "rank_normal": sum(rank_normal(one, batch["size"], normal) for one in sizes),
        "rank_anomalous": rank_anomalous(sizes[1], batch["size"], share * last, batch["least"]),
    }


def draw_masks(rng: np.random.Generator, n: int, recipe: Recipe) -> dict[str, Any]:
    """Masks of what survives dropout in one training step; edges are dropped, self loops included."""
    drawn: dict[str, Any] = {}
    if recipe.edge_dropout:
        drawn["edges"] = rng.random((n, WINDOW, WINDOW)) >= recipe.edge_dropout
    if recipe.dropout:
        shapes = {
            "encode": (n, WINDOW, HIDDEN),
            "decode": (n, WINDOW, HIDDEN),
            "decode_v": (n, WINDOW, HIDDEN),
            "predict": (n, WINDOW, CODE),
            "attention": (n, WINDOW, recipe.heads, WINDOW),
        }
        drawn |= {name: rng.random(shape) >= recipe.dropout for name, shape in shapes.items()}
    return drawn


CLIPPED_NORM = 1.0
AVERAGED_SHARE = 0.8
"""Of the epochs pass before weights are averaged. Source: Perona's public code."""
MOMENTS, ADAM_SMALL = (0.9, 0.999), 1e-8
"""Of Adam. Source: Kingma and Ba, Adam (2015), algorithm 1."""


@dataclass(frozen=True)
class Trained:
    """Members after training."""

    weights: dict[str, Floats]  # by name, (n_members, ...): averages over the last fifth of the epochs
    losses: Floats  # (n_epochs, n_members, 6) mean of every term in an epoch, in the order of `training.TERMS`


def train(
    inputs: Inputs,
    shares: Floats,
    recipe: Recipe,
    seeds: Ints,
    start: Mapping[str, Floats] | None = None,
    progress: Progress = silent,
) -> Trained:
    """Members trained on windows.

    `shares` is (n_members, n_windows), 1 = the member learns from the window, 0 = it never sees it; `seeds`
    (n_members,) are of first weights and of every draw; `start` (n_members, ...) replaces the first weights.

    Source: Perona's public code; ours has no checkpoint picked on the validation part, the averaged weights stand.
    """
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

    adam = Adam(recipe, recipe.epochs * -(-len(inputs) // recipe.batch), weights)
    data, draws = inputs.arrays(), [np.random.default_rng([int(seed), 1]) for seed in seeds]
    rng = np.random.default_rng(int(seeds[0]))
    sums, n_summed, losses = {name: np.zeros_like(value) for name, value in weights.items()}, 0, []
    for number in range(recipe.epochs):
        progress(number / recipe.epochs, f"Training the network, pass {number + 1} of {recipe.epochs}")
        of_epoch = []
        for places, real in zip(*_batches(len(inputs), recipe.batch, rng), strict=True):
            batch = {name: value[places] for name, value in data.items()}
            noisy, masks = _drawn(batch, recipe, draws)
            gradient, terms = _gradient(weights, noisy | {"alpha": alphas}, shares[:, places] * real, recipe, masks)
            weights = adam.stepped(weights, gradient)
            of_epoch.append(terms)
        losses.append(np.mean(of_epoch, axis=0))
        if number >= int(AVERAGED_SHARE * recipe.epochs):
            sums, n_summed = {name: sums[name] + value for name, value in weights.items()}, n_summed + 1
    return Trained({name: value / n_summed for name, value in sums.items()}, np.array(losses))


def _drawn(batch: Batch, recipe: Recipe, draws: Sequence[np.random.Generator]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A batch with noise and masks of dropout, drawn for every member from its own generator."""
    noise, masks = [], []
    for rng in draws:
        noise.append({name: recipe.noise * rng.normal(size=batch[name].shape) for name in ("runs", "edges")})
        masks.append(draw_masks(rng, len(batch["kind"]), recipe))
    noisy = {name: batch[name] + np.stack([one[name] for one in noise]) for name in ("runs", "edges")}
    stacked: dict[str, Any] = {name: np.stack([one[name] for one in masks]) for name in masks[0]}
    return dict(batch) | noisy, {
        name: mask if name == "edges" else (mask, 1 - recipe.dropout) for name, mask in stacked.items()
    }


def _gradient(
    weights: Weights, batch: Batch, share: Floats, recipe: Recipe, masks: Mapping[str, Any]
) -> tuple[dict[str, Floats], Floats]:
    """The gradient of each member's loss, and (n_members, 6) its terms."""
    weigh = np.array([recipe.reconstruction_weight if name == "reconstruction" else 1.0 for name in TERMS])
    result: list[Floats] = []

    def loss(values: Weights) -> Any:
        terms = loss_terms(values, batch, share, recipe, masks)
        stacked = anp.stack([terms[name] for name in TERMS], axis=-1)
        result.append(constant(stacked))
        return (stacked * weigh).sum()  # the members' losses have no weights in common

    gradient: dict[str, Floats] = value_and_grad(loss)(dict(weights))[1]
    return gradient, result[0]


def selection_loss(weights: Weights, inputs: Inputs, recipe: Recipe) -> float:
    """The loss by which the published search chooses: that of training with cross-entropy in place of focal.

    Source: Perona's public code: mean over batches, an anomalous run counts normal / anomalous times. Its count is over
    all parts of the data; ours is over the validation part.
    """
    label = inputs.label[:, -1]
    positive = float((1 - label).sum() / label.sum()) if 0 < label.sum() < len(label) else 1.0

    def of_batch(batch: Batch, real: Any) -> Any:
        outputs = forward(weights, batch, recipe)
        terms = loss_terms(weights, dict(batch) | {"alpha": UNLABELLED}, real, recipe)
        entropy = weighted_entropy(outputs["logit"], batch["label"][:, -1], real * outputs["valid"], positive)
        whole = sum(terms[name] * (recipe.reconstruction_weight if name == "reconstruction" else 1.0) for name in TERMS)
        return whole + entropy / anomalies_or_runs(batch["label"], real)

    order, real = _batches(len(inputs), recipe.batch, np.random.default_rng(0))
    losses = [of_batch(inputs.at(places).arrays(), counted) for places, counted in zip(order, real, strict=True)]
    return float(np.mean(losses))


class Adam:
    """Adam for all members at once, each with its own clipped gradient; linear weights decay through the gradient.

    Source: Perona's public code; ours lets the learning rate fall to 0 as a cosine where the recipe says so.
    """

    def __init__(self, recipe: Recipe, n_steps: int, weights: Weights) -> None:
        """Begin with moments of zero for weights (n_members, ...)."""
        self._recipe, self._n_steps, self._step = recipe, max(n_steps, 1), 0
        self._moments = [{name: np.zeros_like(value) for name, value in weights.items()} for _ in MOMENTS]

    def stepped(self, weights: Weights, gradient: Mapping[str, Floats]) -> dict[str, Floats]:
        """The weights after a step."""
        recipe = self._recipe
        lengths = sum((one.reshape(len(one), -1) ** 2).sum(axis=1) for one in gradient.values()) ** 0.5
        clip = np.minimum(1.0, CLIPPED_NORM / np.maximum(lengths, SMALL))  # (n_members,)
        rate = recipe.learning_rate
        if recipe.falling_rate:
            rate *= (1 + np.cos(np.pi * min(self._step / self._n_steps, 1.0))) / 2
        self._step += 1
        first, second = (1 - share**self._step for share in MOMENTS)
        moved = {}
        for name, value in weights.items():
            change = gradient[name] * clip.reshape(-1, *(1,) * (value.ndim - 1))
            if not name.endswith("_bias"):
                change += recipe.weight_decay * value
            mean, spread = (moments[name] for moments in self._moments)
            mean += (1 - MOMENTS[0]) * (change - mean)
            spread += (1 - MOMENTS[1]) * (change * change - spread)
            moved[name] = value - rate * (mean / first) / (np.sqrt(spread / second) + ADAM_SMALL)
        return moved


def _batches(n: int, size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """(n_batches, size) shuffled positions, and 1 where they are real, 0 where they fill up the last batch."""
    n_batches = -(-n // size)
    order = np.resize(rng.permutation(n), n_batches * size)
    real = (np.arange(n_batches * size) < n).astype(np.float64)
    return order.reshape(n_batches, size).astype(np.int64), real.reshape(n_batches, size)
