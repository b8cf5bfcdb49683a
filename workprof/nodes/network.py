"""Perona's network: a small graph network that codes benchmark runs, in NumPy, its gradients by autograd.

A window is a run and its three normal predecessors. The encoder codes each run in 32 numbers, attention and hops over
the predecessors predict the code of the last one, and the detector judges it by the difference. Every function takes
windows: codes (..., n_windows, 4, 32), edges [window, to, from]. The dots stand for the members of an ensemble, which
are computed at once: weights have them first, (n_members, ...), or not at all.

Source: Scheinert et al., Perona: Robust Infrastructure Fingerprinting for Resource-Efficient Big Data Analytics (2022),
and its public code, github.com/dos-group/perona-infrastructure-fingerprinting; ours is a rewriting of its layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.extend import defvjp, primitive
from autograd.tracer import getval

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import SettingsError

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
    """What a network is made of and how it is trained; raises SettingsError for a number out of bounds."""

    heads: int = 3  # attention heads, averaged
    beta: bool = False  # and `root_weight`: switches of the transformer convolution
    root_weight: bool = True
    # nothing of a run reaches its own prediction (no self edge, no root weight, query from predecessors)
    strict: bool = True
    owned_only: bool = True  # reconstruction counts the metrics that a run's benchmark has, not the filled-in ones
    # triplets of all four runs of a window (published), else of the last one only: 64 times fewer
    cluster_all: bool = False
    dropout: float = 0.0  # and `edge_dropout`: shares 0-1
    edge_dropout: float = 0.1
    focal_gamma: float = 0.5  # and `class_beta`: of the class-balanced focal loss
    class_beta: float = 0.9
    learning_rate: float = 3e-3  # and `weight_decay`: of Adam; the decay is added to the gradient
    weight_decay: float = 1e-4
    falling_rate: bool = True  # the learning rate falls to 0 as a cosine (ours), else it stays (published)
    epochs: int = 80  # and `batch`: passes and windows per step
    batch: int = 16
    reconstruction_weight: float = 100.0  # of that term; 1 as published, where each of the others has as much say
    noise: float = 0.01  # standard deviation added to runs and edges in training

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


@dataclass(frozen=True)
class Inputs:
    """Windows of four runs as arrays; n windows."""

    runs: Floats  # (n, 4, n_columns) what the encoder reads
    targets: Floats  # (n, 4, n_columns) what the decoder is to restore, about 0 to 1
    counted: Floats  # (n, 4, n_columns) 1 where reconstruction is judged, else 0
    edges: Floats  # (n, 4, 4, n_edge), [window, to, from]
    mask: Bools  # (n, 4, 4) which edges exist
    label: Floats  # (n, 4) 1 = anomalous; only the last run can be
    kind: Ints  # (n,) benchmark type
    size: Floats  # (n, 4) 10-norm of the run
    least: Floats  # (n,) rho of the type, see `training.rank_anomalous`
    evidence: Floats  # (n, n_evidence) of the last run; no columns for the published network

    def __len__(self) -> int:
        return len(self.kind)

    def at(self, places: Ints) -> Inputs:
        """Some of the windows."""
        return Inputs(**{name: array[places] for name, array in self.arrays().items()})

    def arrays(self) -> dict[str, Any]:
        """The arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


Weights = Mapping[str, Any]
SMALL = 1e-12
NORM_ORDER = 10.0
SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772
"""Of SELU. Source: Klambauer et al., Self-Normalizing Neural Networks (2017), equation 2."""
DROPPED = -SCALE * ALPHA
"""What a dropped unit becomes: the negative limit of SELU."""
LAST = np.arange(WINDOW)[:, None] == WINDOW - 1
"""(4, 1) the place in a window that is judged."""


def first_weights(recipe: Recipe, sizes: Sizes, seed: int) -> dict[str, Floats]:
    """Fresh weights, N(0, 1 / fan-in), and biases of zero, by name.

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
        **{f"hop_{k}": (CODE, CODE) for k in range(HOPS + 1)},
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


selu: Any = primitive(lambda values: SCALE * np.where(values > 0, values, ALPHA * np.expm1(np.minimum(values, 0.0))))
"""Scaled exponential linear units of values of any shape."""
defvjp(selu, lambda units, values: lambda change: change * np.where(values > 0, SCALE, units + SCALE * ALPHA))


def sigmoid(values: Any) -> Any:
    """1 / (1 + exp(-values)); no power overflows."""
    return 0.5 * (1.0 + anp.tanh(0.5 * values))


def constant(values: Any) -> Any:
    """Values through which no gradient goes."""
    while hasattr(values, "_node"):
        values = getval(values)
    return values


def linear(weights: Weights, name: str, values: Any) -> Any:
    """Values (..., *rows, n_in) by the weights (..., n_in, n_out) and biases (..., n_out) of a name.

    The dots are the members; values have them too, or 1 in their place where they are the same for all.
    """
    weight, bias = weights[name], weights.get(f"{name}_bias")
    members = anp.ndim(weight) - 2
    rows = anp.reshape(values, (*values.shape[:members], -1, values.shape[-1]))
    out = rows @ weight if bias is None else rows @ weight + anp.expand_dims(bias, -2)
    return anp.reshape(out, (*out.shape[:-2], *values.shape[members:-1], out.shape[-1]))


def encode(weights: Weights, runs: Any, dropout: Any = None) -> Any:
    """The codes (..., 32) of runs (..., n_columns); `dropout` masks hidden units in training."""
    return selu(linear(weights, "encode_2", alpha_dropout(selu(linear(weights, "encode_1", runs)), dropout)))


def decode(weights: Weights, codes: Any, dropout: Any = None) -> Any:
    """Runs (..., n_columns) in (0, 1) from codes."""
    return sigmoid(linear(weights, "decode_2", alpha_dropout(selu(linear(weights, "decode_1", codes)), dropout)))


def classify(weights: Weights, codes: Any) -> Any:
    """A logit per benchmark type."""
    return linear(weights, "classify", codes)


def detect(weights: Weights, codes: Any, predicted: Any, evidence: Any = None) -> Any:
    """The logit of 'anomalous' from how far codes (..., 32) lie from what their predecessors predict.

    `evidence` (..., n_evidence) is added linearly; ours, the published network has none.
    """
    logit = linear(weights, "detect_2", selu(linear(weights, "detect_1", codes - predicted)))[..., 0]
    return logit if evidence is None else logit + linear(weights, "evidence", evidence)[..., 0]


def alpha_dropout(values: Any, dropout: Any) -> Any:
    """SELU outputs with units dropped so that mean and variance hold; `dropout`: (mask, share kept) or None."""
    if dropout is None:
        return values
    mask, share = dropout
    scale = (share + DROPPED**2 * share * (1 - share)) ** -0.5
    shift = -scale * (1 - share) * DROPPED
    return anp.where(mask, values, DROPPED) * scale + shift


def masked_softmax(scores: Any, mask: Any) -> Any:
    """Softmax over the last axis where `mask` holds; zeros, with a gradient of zero, in a row without any."""
    highest = np.where(mask, constant(scores), -np.inf).max(axis=-1, keepdims=True)
    powers = anp.exp(anp.where(mask, scores - np.where(np.isfinite(highest), highest, 0.0), 0.0)) * mask
    return powers / anp.maximum(powers.sum(axis=-1, keepdims=True), SMALL)


def attend(weights: Weights, codes: Any, edges: Any, mask: Any, recipe: Recipe, dropout: Any = None) -> tuple[Any, Any]:
    """What each run gathers from its predecessors, and the attention averaged over heads, before any is dropped.

    Shapes: codes and what is gathered (..., n_windows, 4, 32), edges (..., n_windows, 4, 4, n_edge), mask and attention
    (..., n_windows, 4, 4). `dropout` is (mask, share) of attention that survives in training.
    """
    before = codes[..., :-1, :].mean(axis=-2, keepdims=True)
    queried = LAST * before + ~LAST * codes if recipe.strict else codes

    def by_head(name: str, values: Any) -> Any:
        out = linear(weights, name, values)
        return anp.reshape(out, (*out.shape[:-1], recipe.heads, CODE))

    query = by_head("query", queried)[..., None, :]  # [..., window, to, head, 1, 32]
    key, value = (anp.swapaxes(by_head(name, codes), -2, -3)[..., None, :, :, :] for name in ("key", "value"))
    along = anp.swapaxes(by_head("edge", edges), -2, -3)  # [..., window, to, head, from, 32]
    scores = anp.sum(query * (key + along), axis=-1) / CODE**0.5
    alpha = masked_softmax(scores, mask[..., None, :])
    surviving = alpha if dropout is None else alpha * dropout[0] / dropout[1]
    gathered = anp.sum(surviving[..., None] * (value + along), axis=-2).mean(axis=-2)
    return gathered, alpha.mean(axis=-2)


def rooted(weights: Weights, gathered: Any, codes: Any, recipe: Recipe) -> Any:
    """The gathered values joined with the run's own code; in strict mode the last run's own stays out."""
    if not recipe.root_weight:
        return gathered
    own = linear(weights, "root", codes)
    joined = gathered + own
    if recipe.beta:
        gate = sigmoid(linear(weights, "gate", anp.concatenate([gathered, own, gathered - own], axis=-1)))
        joined = gate * own + (1 - gate) * gathered
    return anp.where(LAST, gathered, joined) if recipe.strict else joined


def hop(weights: Weights, codes: Any, attention: Any, recipe: Recipe) -> Any:
    """The sum over k = 0 .. 3 of attention^k codes W_k; in strict mode the last run has no k = 0."""
    start = linear(weights, "hop_0", codes)
    total = anp.where(LAST, 0.0, start) if recipe.strict else start
    reached = codes
    for k in range(1, HOPS + 1):
        reached = attention @ reached
        total = total + linear(weights, f"hop_{k}", reached)
    return total


def predict_codes(
    weights: Weights, codes: Any, edges: Any, mask: Any, recipe: Recipe, dropouts: tuple[Any, Any] = (None, None)
) -> Any:
    """V^ (..., n_windows, 4, 32): the code that its predecessors predict for each run."""
    if recipe.strict:  # the last run has no edge to itself
        mask = mask & ~(LAST & LAST.T)
    gathered, attention = attend(weights, codes, edges, mask, recipe, dropouts[0])
    mean = (rooted(weights, gathered, codes, recipe) + hop(weights, codes, attention, recipe)) / 2
    return selu(linear(weights, "out", alpha_dropout(selu(mean), dropouts[1])))


def norm_10(values: Floats) -> Floats:
    """(...) 10-norm over the last axis, by NumPy; the largest entry is taken out first: no power overflows."""
    largest = np.abs(values).max(axis=-1, initial=0.0)
    shares = np.abs(values) / np.where(largest > 0, largest, 1.0)[..., None]
    norms: Floats = largest * (shares**NORM_ORDER).sum(axis=-1) ** (1 / NORM_ORDER)
    return norms


def norm(values: Any) -> Any:
    """The same with its gradient; zero, with a finite gradient, for zeros."""
    largest = np.maximum(np.abs(constant(values)).max(axis=-1, keepdims=True), SMALL)
    inner = (((values / largest) ** 2) ** (NORM_ORDER / 2)).sum(axis=-1)
    return largest[..., 0] * anp.where(inner > 0, anp.where(inner > 0, inner, 1.0) ** (1 / NORM_ORDER), 0.0)


Batch = Mapping[str, Any]


@dataclass(frozen=True)
class NetworkOutput:
    """What the network tells of each window's last run, averaged over its members."""

    logit: Floats  # (n,) of 'anomalous'
    code: Floats  # (n, 32), of the first member: codes of different members have different axes
    predicted: Floats  # (n, 32) what its predecessors predict
    restored: Floats  # (n, n_columns) decoded from the code
    kind: Floats  # (n,) most likely type


def forward(weights: Weights, batch: Batch, recipe: Recipe, masks: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Codes, predicted codes (as predicted, and as decoded), and the logit of each window's last run.

    `batch` has the arrays of `Inputs`; runs and edges have the members first, or 1, where the weights have.
    """
    drawn = masks or {}
    mask = batch["mask"] & drawn["edges"] if "edges" in drawn else batch["mask"]
    codes = encode(weights, batch["runs"], drawn.get("encode"))
    predicted = predict_codes(
        weights, codes, batch["edges"], mask, recipe, (drawn.get("attention"), drawn.get("predict"))
    )
    valid = ((mask & ~np.eye(WINDOW, dtype=np.bool_)).sum(axis=-1) >= PREDECESSORS)[..., None]
    still = constant(codes)
    predicted = anp.where(valid, predicted, still)
    as_predicted = np.where(valid, batch["label"][..., None] == 0, batch["label"][..., None] != 0)
    evidence = None
    if "evidence" in weights:  # the same for all members
        evidence = np.expand_dims(batch["evidence"], tuple(range(codes.ndim - 1 - batch["evidence"].ndim)))
    return {
        "codes": codes,
        "predicted": predicted,
        "decodable": anp.where(as_predicted, predicted, still),
        "valid": valid[..., -1, 0],
        "logit": detect(weights, codes[..., -1, :], predicted[..., -1, :], evidence),
    }


def apply_network(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> NetworkOutput:
    """What trained members, weights (n_members, ...) by name, tell of windows."""
    from scipy.special import softmax  # noqa: PLC0415  `import workprof` stays light

    output = _of_members(members, inputs, recipe)
    code = output["codes"][..., -1, :]
    return NetworkOutput(
        logit=output["logit"].mean(axis=0),
        code=code[0],
        predicted=output["predicted"][0, :, -1],
        restored=decode(members, code).mean(axis=0),
        kind=softmax(classify(members, code), axis=-1).mean(axis=0).argmax(axis=-1),
    )


def member_logits(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> Floats:
    """(n_members, n_windows) logits, member by member."""
    return np.asarray(_of_members(members, inputs, recipe)["logit"])


def member_distances(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> Floats:
    """(n_members, n_windows) lengths of code less predicted code, member by member."""
    output = _of_members(members, inputs, recipe)
    return np.asarray(np.linalg.norm((output["codes"] - output["predicted"])[..., -1, :], axis=-1))


def _of_members(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> dict[str, Any]:
    return forward(members, {name: array[None] for name, array in inputs.arrays().items()}, recipe)


@dataclass(frozen=True)
class SavedNetwork:
    """Recipe and weights."""

    recipe: Recipe  # what it is made of and how it was trained
    weights: dict[str, Floats]  # by name, (n_members, ...), double precision
    losses: Floats  # (n_epochs, 6) mean of every term, in the order of `training.TERMS`
