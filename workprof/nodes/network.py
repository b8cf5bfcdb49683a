"""Perona's network: a small graph network that codes benchmark runs, in JAX on the processor with 64-bit numbers.

A window is a run and its three normal predecessors. The encoder codes each run in 32 numbers, attention and hops over
the predecessors predict the code of the last one, and the detector judges it by the difference. Every function takes
windows: codes (n_windows, 4, 32), edges [window, to, from].

Source: Scheinert et al., Perona: Robust Infrastructure Fingerprinting for Resource-Efficient Big Data Analytics (2022),
and its public code, github.com/dos-group/perona-infrastructure-fingerprinting; ours is a rewriting of its layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import SettingsError
from workprof.core.extras import needed

CODE = 32
"""Numbers in the code of a run."""

HIDDEN = 64
WINDOW = 4
PREDECESSORS = WINDOW - 1
HOPS = 3

SPACE: dict[str, tuple[float, ...]] = {
    "heads": (1, 3, 5),
    "beta": (0, 1),
    "root_weight": (0, 1),
    "dropout": (0.0, 0.1, 0.2),
    "edge_dropout": (0.0, 0.1, 0.2),
    "focal_gamma": (0.5, 1.0, 2.0, 5.0),
    "class_beta": (0.9, 0.99, 0.999, 0.9999),
    "learning_rate": (1e-1, 1e-2, 1e-3),
    "weight_decay": (1e-2, 1e-3, 1e-4),
}
"""The published space of the search. Source: Perona's public code."""


@dataclass(frozen=True)
class Recipe:
    """What a network is made of and how it is trained.

    Attributes:
        heads: attention heads, averaged.
        beta, root_weight: switches of the transformer convolution.
        strict: nothing of a run reaches its own prediction (no self edge, no root weight, query from predecessors).
        owned_only: reconstruction counts the metrics that a run's benchmark has, not the filled-in ones.
        cluster_all: triplets of all four runs of a window (published), else of the last one only: 64 times fewer.
        dropout, edge_dropout: shares 0-1.
        focal_gamma, class_beta: of the class-balanced focal loss.
        learning_rate, weight_decay: of Adam; the decay is added to the gradient.
        falling_rate: the learning rate falls to 0 as a cosine (ours), else it stays (published).
        epochs, batch: passes and windows per step.
        reconstruction_weight: of that term; 1 as published, where each of the others has as much say.
        noise: standard deviation added to runs and edges in training.

    Raises:
        SettingsError: for a number out of bounds.
    """

    heads: int = 3
    beta: bool = False
    root_weight: bool = True
    strict: bool = True
    owned_only: bool = True
    cluster_all: bool = False
    dropout: float = 0.0
    edge_dropout: float = 0.1
    focal_gamma: float = 0.5
    class_beta: float = 0.9
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    falling_rate: bool = True
    epochs: int = 80
    batch: int = 16
    reconstruction_weight: float = 100.0
    noise: float = 0.01

    def __post_init__(self) -> None:
        for name, least, most in (
            ("heads", 1, 16),
            ("dropout", 0, 0.9),
            ("edge_dropout", 0, 0.9),
            ("focal_gamma", 0, 10),
            ("class_beta", 0, 0.99999),
            ("learning_rate", 1e-6, 1),
            ("weight_decay", 0, 1),
            ("epochs", 1, 1000),
            ("batch", 1, 1024),
            ("reconstruction_weight", 0, 1000),
            ("noise", 0, 1),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                raise SettingsError(f"{name} is {value}; give a number from {least} to {most}")


PUBLISHED = Recipe(
    falling_rate=False,
    strict=False,
    owned_only=False,
    cluster_all=True,
    learning_rate=1e-2,
    weight_decay=1e-3,
    epochs=100,
    reconstruction_weight=1.0,
)
"""Perona as published, at values inside its space; the values its own search found are not published."""


@dataclass(frozen=True)
class Sizes:
    """Widths that the data decide: columns of a run, of an edge, benchmark types, and evidence beside the code."""

    n_columns: int
    n_edge: int
    n_types: int
    n_evidence: int = 0


def jax_on_cpu() -> Any:
    """Return the jax module, set to the processor and to double precision."""
    jax = needed("jax", "nodes")

    settings: Any = jax.config
    settings.update("jax_platforms", "cpu")
    settings.update("jax_enable_x64", True)
    return jax


@dataclass(frozen=True)
class Inputs:
    """Windows of four runs as arrays; n windows.

    Attributes:
        runs: (n, 4, n_columns) what the encoder reads.
        targets: (n, 4, n_columns) what the decoder is to restore, about 0 to 1.
        counted: (n, 4, n_columns) 1 where reconstruction is judged, else 0.
        edges: (n, 4, 4, n_edge), [window, to, from].
        mask: (n, 4, 4) which edges exist.
        label: (n, 4) 1 = anomalous; only the last run can be.
        kind: (n,) benchmark type.
        size: (n, 4) 10-norm of the run.
        least: (n,) rho of the type, see `training.rank_anomalous`.
        evidence: (n, n_evidence) of the last run; no columns for the published network.
    """

    runs: Floats
    targets: Floats
    counted: Floats
    edges: Floats
    mask: Bools
    label: Floats
    kind: Ints
    size: Floats
    least: Floats
    evidence: Floats

    def __len__(self) -> int:
        return len(self.kind)

    def at(self, places: Ints) -> Inputs:
        """Return some of the windows."""
        return Inputs(**{name: array[places] for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Any]:
        """Return the arrays by name, for JAX."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def padded(n: int, least: int = 16) -> int:
    """Return the size that n windows are filled up to, so that few sizes are compiled: a power of two."""
    return max(least, 1 << max(n - 1, 0).bit_length())


def filled_up(inputs: Inputs) -> Inputs:
    """Return the windows with copies of the first one behind them, up to `padded` many."""
    places = np.zeros(padded(len(inputs)), dtype=np.int64)
    places[: len(inputs)] = np.arange(len(inputs))
    return inputs.at(places)


Weights = Mapping[str, Any]
SMALL = 1e-12
NORM_ORDER = 10.0
DROPPED = -1.7580993408473766
"""What a dropped unit becomes: the negative limit of SELU."""


def first_weights(recipe: Recipe, sizes: Sizes, seed: int) -> dict[str, Floats]:
    """Return fresh weights, N(0, 1 / fan-in), and biases of zero, by name.

    Source: Perona's public code.
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
    if recipe.strict:  # the last run has no edge to itself
        mask = mask & ~jax.numpy.zeros((WINDOW, WINDOW), dtype=bool).at[-1, -1].set(True)
    gathered, attention = attend(weights, codes, edges, mask, recipe, keeps[0])
    mean = (rooted(weights, gathered, codes, recipe) + hop(weights, codes, attention, recipe)) / 2
    return jax.nn.selu(alpha_dropout(jax.nn.selu(mean), keeps[1]) @ weights["out"])


def norm_10(values: Floats) -> Floats:
    """Return (...) 10-norm over the last axis, by NumPy; the largest entry is taken out first: no power overflows."""
    largest = np.abs(values).max(axis=-1, initial=0.0)
    shares = np.abs(values) / np.where(largest > 0, largest, 1.0)[..., None]
    norms: Floats = largest * (shares**NORM_ORDER).sum(axis=-1) ** (1 / NORM_ORDER)
    return norms


def norm(values: Any) -> Any:
    """Return the same by JAX; zero, with a finite gradient, for zeros."""
    jnp = jax_on_cpu().numpy
    largest = jnp.maximum(jnp.abs(values).max(axis=-1, keepdims=True), SMALL)
    inner = (jnp.abs(values / largest) ** NORM_ORDER).sum(axis=-1)
    return largest[..., 0] * jnp.where(inner > 0, jnp.where(inner > 0, inner, 1.0) ** (1 / NORM_ORDER), 0.0)


Batch = Mapping[str, Any]


@dataclass(frozen=True)
class NetworkOutput:
    """What the network tells of each window's last run, averaged over its members.

    Attributes:
        logit: (n,) of 'anomalous'.
        code: (n, 32), of the first member: codes of different members have different axes.
        predicted: (n, 32) what its predecessors predict.
        restored: (n, n_columns) decoded from the code.
        kind: (n,) most likely type.
    """

    logit: Floats
    code: Floats
    predicted: Floats
    restored: Floats
    kind: Floats


def forward(weights: Weights, batch: Batch, recipe: Recipe, keeps: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return codes, predicted codes (as predicted, and as decoded), and the logit of each window's last run.

    Args:
        weights: of one member.
        batch: arrays of `Inputs`.
        recipe: the network's.
        keeps: masks of `draw_masks` in training.
    """
    jax = jax_on_cpu()
    jnp, drawn = jax.numpy, keeps or {}
    mask = batch["mask"] & drawn["edges"] if "edges" in drawn else batch["mask"]
    codes = encode(weights, batch["runs"], drawn.get("encode"))
    predicted = predict_codes(
        weights, codes, batch["edges"], mask, recipe, (drawn.get("attention"), drawn.get("predict"))
    )
    loops = jnp.eye(WINDOW, dtype=bool)
    valid = ((mask & ~loops).sum(axis=-1) >= PREDECESSORS)[..., None]
    still = jax.lax.stop_gradient(codes)
    predicted = jnp.where(valid, predicted, still)
    kept = jnp.where(valid, batch["label"][..., None] == 0, batch["label"][..., None] != 0)
    evidence = batch["evidence"] if "evidence" in weights else None
    return {
        "codes": codes,
        "predicted": predicted,
        "decodable": jnp.where(kept, predicted, still),
        "valid": valid[:, -1, 0],
        "logit": detect(weights, codes[:, -1], predicted[:, -1], evidence),
    }


def apply_network(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> NetworkOutput:
    """Return what trained members apply_network of windows.

    Args:
        members: weights by name, (n_members, ...).
        inputs: the windows.
        recipe: the network's.
    """
    n = len(inputs)
    by_member = _compiled_output(recipe)(dict(members), filled_up(inputs).arrays())
    output = {name: np.asarray(value)[..., :n, :] for name, value in by_member.items()}
    return NetworkOutput(
        logit=output["logit"][..., 0].mean(axis=0),
        code=output["code"][0],
        predicted=output["predicted"][0],
        restored=output["restored"].mean(axis=0),
        kind=output["kind"].mean(axis=0).argmax(axis=-1),
    )


def member_logits(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> Floats:
    """Return (n_members, n_windows) logits, member by member."""
    output = _compiled_output(recipe)(dict(members), filled_up(inputs).arrays())
    return np.asarray(output["logit"])[:, : len(inputs), 0]


def member_distances(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> Floats:
    """Return (n_members, n_windows) lengths of code less predicted code, member by member."""
    output = _compiled_output(recipe)(dict(members), filled_up(inputs).arrays())
    difference = np.asarray(output["code"]) - np.asarray(output["predicted"])
    return np.asarray(np.linalg.norm(difference[:, : len(inputs)], axis=-1))


@cache
def _compiled_output(recipe: Recipe) -> Any:
    jax = jax_on_cpu()

    def one(weights: Weights, batch: Batch) -> dict[str, Any]:
        output = forward(weights, batch, recipe)
        code = output["codes"][:, -1]
        return {
            "logit": output["logit"][:, None],
            "code": code,
            "predicted": output["predicted"][:, -1],
            "restored": decode(weights, code),
            "kind": jax.nn.softmax(classify(weights, code)),
        }

    return jax.jit(jax.vmap(one, in_axes=(0, None)))


@dataclass(frozen=True)
class SavedNetwork:
    """Recipe and weights.

    Attributes:
        recipe: what it is made of and how it was trained.
        weights: by name, (n_members, ...), double precision.
        losses: (n_epochs, 6) mean of every term, in the order of `training.TERMS`.
    """

    recipe: Recipe
    weights: dict[str, Floats]
    losses: Floats
