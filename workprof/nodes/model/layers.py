"""The layers: encoder, attention over predecessors, hops, decoder, classifier, detector.

Every function takes windows: codes (n_windows, 4, 32), edges [window, to, from].
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from workprof.arrays import Floats
from workprof.nodes.model.backend import jax_on_cpu
from workprof.nodes.model.shape import CODE, HIDDEN, HOPS, WINDOW, Recipe, Sizes

Weights = Mapping[str, Any]
SMALL = 1e-12
NORM_ORDER = 10.0
DROPPED = -1.7580993408473766
"""What a dropped unit becomes: the negative limit of SELU."""


def first_weights(recipe: Recipe, sizes: Sizes, seed: int) -> dict[str, Floats]:
    """Return fresh weights, N(0, 1 / fan-in), and biases of zero, by name.

    Source: perona.md 3.2.
    """
    wide = recipe.heads * CODE
    shapes = {
        "encode_1": (sizes.n_columns, HIDDEN),
        "encode_2": (HIDDEN, CODE),
        "decode_1": (CODE, HIDDEN),
        "decode_2": (HIDDEN, sizes.n_columns),
        "classify": (CODE, sizes.n_types),
        "query": (CODE, wide),
        "key": (CODE, wide),
        "value": (CODE, wide),
        "edge": (sizes.n_edge, wide),
        "hops": (HOPS + 1, CODE, CODE),
        "out": (CODE, CODE),
        "detect_1": (CODE, CODE),
        "detect_2": (CODE, 1),
    }
    if recipe.root_weight:
        shapes["root"] = (CODE, CODE)
        if recipe.beta:
            shapes["gate"] = (3 * CODE, 1)
    rng = np.random.default_rng(seed)
    weights = {name: rng.normal(0.0, shape[-2] ** -0.5, shape) for name, shape in shapes.items()}
    if sizes.n_evidence:
        weights["evidence"] = np.zeros((sizes.n_evidence, 1))
    biased = {"classify": sizes.n_types, "query": wide, "key": wide, "value": wide, "detect_1": CODE, "detect_2": 1}
    return weights | {f"{name}_bias": np.zeros(width) for name, width in biased.items()}


def is_linear(name: str) -> bool:
    """Tell whether weight decay falls on these weights: biases are spared."""
    return not name.endswith("_bias")


def encode(weights: Weights, runs: Any, keep: Any = None) -> Any:
    """Return the codes (..., 32) of runs (..., n_columns); `keep` masks hidden units in training."""
    jax = jax_on_cpu()
    hidden = alpha_dropout(jax.nn.selu(runs @ weights["encode_1"]), keep)
    return jax.nn.selu(hidden @ weights["encode_2"])


def decode(weights: Weights, codes: Any, keep: Any = None) -> Any:
    """Return runs (..., n_columns) in (0, 1) from codes."""
    jax = jax_on_cpu()
    hidden = alpha_dropout(jax.nn.selu(codes @ weights["decode_1"]), keep)
    return jax.nn.sigmoid(hidden @ weights["decode_2"])


def classify(weights: Weights, codes: Any) -> Any:
    """Return a logit per benchmark type."""
    return codes @ weights["classify"] + weights["classify_bias"]


def detect(weights: Weights, codes: Any, predicted: Any, evidence: Any = None) -> Any:
    """Return the logit of 'anomalous' from how far codes lie from what their predecessors predict.

    Args:
        weights: of the network.
        codes: (..., 32).
        predicted: (..., 32), before any replacement.
        evidence: (..., n_evidence), added linearly; ours, the published network has none.
    """
    jax = jax_on_cpu()
    hidden = jax.nn.selu((codes - predicted) @ weights["detect_1"] + weights["detect_1_bias"])
    logit = (hidden @ weights["detect_2"] + weights["detect_2_bias"])[..., 0]
    return logit if evidence is None else logit + (evidence @ weights["evidence"])[..., 0]


def alpha_dropout(values: Any, keep: Any) -> Any:
    """Return SELU outputs with units dropped so that mean and variance hold; `keep` is (mask, share kept) or None."""
    if keep is None:
        return values
    mask, share = keep
    scale = (share + DROPPED**2 * share * (1 - share)) ** -0.5
    shift = -scale * (1 - share) * DROPPED
    return jax_on_cpu().numpy.where(mask, values, DROPPED) * scale + shift


def masked_softmax(scores: Any, mask: Any) -> Any:
    """Return softmax over the last axis where `mask` holds; zeros, with a gradient of zero, in a row without any."""
    jnp = jax_on_cpu().numpy
    lowest = jnp.where(mask, scores, -jnp.inf).max(axis=-1, keepdims=True)
    powers = jnp.where(mask, jnp.exp(jnp.where(mask, scores - jnp.where(jnp.isfinite(lowest), lowest, 0.0), 0.0)), 0.0)
    return powers / jnp.maximum(powers.sum(axis=-1, keepdims=True), SMALL)


def attend(weights: Weights, codes: Any, edges: Any, mask: Any, recipe: Recipe, keep: Any = None) -> tuple[Any, Any]:
    """Return what each run gathers from its predecessors, and the attention averaged over heads.

    Args:
        weights: of the network.
        codes: (n_windows, 4, 32).
        edges: (n_windows, 4, 4, n_edge).
        mask: (n_windows, 4, 4), which edges exist.
        recipe: heads and whether the last run's query comes from its predecessors.
        keep: (mask, share) of attention that survives in training, or None.

    Returns:
        (n_windows, 4, 32) and (n_windows, 4, 4), the latter before attention is dropped.
    """
    jnp = jax_on_cpu().numpy
    split = (*codes.shape[:-1], recipe.heads, CODE)
    asking = codes.at[:, -1].set(codes[:, :-1].mean(axis=1)) if recipe.strict else codes
    query = (asking @ weights["query"] + weights["query_bias"]).reshape(split)
    key = (codes @ weights["key"] + weights["key_bias"]).reshape(split)
    value = (codes @ weights["value"] + weights["value_bias"]).reshape(split)
    along = (edges @ weights["edge"]).reshape(*edges.shape[:-1], recipe.heads, CODE)
    scores = jnp.einsum("wbhc,wbahc->wbha", query, key[:, None] + along) / CODE**0.5
    alpha = masked_softmax(scores, mask[:, :, None, :])
    dropped = alpha if keep is None else alpha * keep[0] / keep[1]
    gathered = jnp.einsum("wbha,wbahc->wbhc", dropped, value[:, None] + along).mean(axis=2)
    return gathered, alpha.mean(axis=2)


def rooted(weights: Weights, gathered: Any, codes: Any, recipe: Recipe) -> Any:
    """Return the gathered values joined with the run's own code; in strict mode the last run's own stays out."""
    if not recipe.root_weight:
        return gathered
    jax = jax_on_cpu()
    own = codes @ weights["root"]
    joined = gathered + own
    if recipe.beta:
        sides = jax.numpy.concatenate([gathered, own, gathered - own], axis=-1)
        gate = jax.nn.sigmoid(sides @ weights["gate"])
        joined = gate * own + (1 - gate) * gathered
    return joined.at[:, -1].set(gathered[:, -1]) if recipe.strict else joined


def hop(weights: Weights, codes: Any, attention: Any, recipe: Recipe) -> Any:
    """Return the sum over k = 0 .. 3 of attention^k codes W_k; in strict mode the last run has no k = 0."""
    jnp = jax_on_cpu().numpy
    start = codes @ weights["hops"][0]
    total = start.at[:, -1].set(0.0) if recipe.strict else start
    reached = codes
    for k in range(1, HOPS + 1):
        reached = jnp.einsum("wba,wac->wbc", attention, reached)
        total = total + reached @ weights["hops"][k]
    return total


def predict_codes(
    weights: Weights, codes: Any, edges: Any, mask: Any, recipe: Recipe, keeps: tuple[Any, Any] = (None, None)
) -> Any:
    """Return v^ (n_windows, 4, 32): the code that its predecessors predict for each run."""
    jax = jax_on_cpu()
    seen = without_last_loop(mask) if recipe.strict else mask
    gathered, attention = attend(weights, codes, edges, seen, recipe, keeps[0])
    both = rooted(weights, gathered, codes, recipe) + hop(weights, codes, attention, recipe)
    return jax.nn.selu(alpha_dropout(jax.nn.selu(both) / 2, keeps[1]) @ weights["out"])


def without_last_loop(mask: Any) -> Any:
    """Return edges without the last run's edge to itself."""
    jnp = jax_on_cpu().numpy
    return mask & ~jnp.zeros((WINDOW, WINDOW), dtype=bool).at[-1, -1].set(True)


def norm(values: Any) -> Any:
    """Return the 10-norm over the last axis; zero, with a finite gradient, for zeros."""
    jnp = jax_on_cpu().numpy
    largest = jnp.maximum(jnp.abs(values).max(axis=-1, keepdims=True), SMALL)
    inner = (jnp.abs(values / largest) ** NORM_ORDER).sum(axis=-1)
    return largest[..., 0] * jnp.where(inner > 0, jnp.where(inner > 0, inner, 1.0) ** (1 / NORM_ORDER), 0.0)
