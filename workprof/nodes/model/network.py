"""The network as a whole: what it tells of windows, and the sum of its losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from workprof.arrays import Floats
from workprof.nodes.model.backend import jax_on_cpu
from workprof.nodes.model.inputs import Inputs, filled_up
from workprof.nodes.model.layers import Weights, classify, decode, detect, encode, norm, predict_codes
from workprof.nodes.model.losses import cross_entropy, focal, rank_anomalous, rank_normal, squared_error, triplets
from workprof.nodes.model.shape import CODE, HIDDEN, PREDECESSORS, WINDOW, Recipe

Batch = Mapping[str, Any]
TERMS = ("outlier", "reconstruction", "classification", "clustering", "rank_normal", "rank_anomalous")
UNLABELLED = -1.0
"""As alpha: there are no anomalous windows, so the outlier term is left out."""


@dataclass(frozen=True)
class Told:
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
        keeps: masks of `draw_keeps` in training.
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
    found = forward(weights, batch, recipe, keeps)
    codes, decodable = found["codes"], found["decodable"]
    drawn = keeps or {}
    counted = (batch["counted"] if recipe.owned_only else jnp.ones_like(batch["runs"])) * share[:, None, None]
    told = [decode(weights, one, drawn.get(name)) for one, name in ((codes, "decode"), (decodable, "decode_v"))]
    kinds, each = jnp.repeat(batch["kind"], WINDOW), jnp.repeat(share, WINDOW)
    flat = [one.reshape(-1, CODE) for one in (codes, decodable)]
    last, judged = batch["label"][:, -1], share * found["valid"]
    normal = (1 - batch["label"]) * share[:, None]
    labelled = batch["alpha"] >= 0
    sizes = [norm(codes), norm(found["predicted"])]
    return {
        "outlier": focal(found["logit"], last, judged, batch["alpha"], recipe.focal_gamma) * labelled,
        "reconstruction": sum(squared_error(one, batch["targets"], counted) for one in told),
        "classification": sum(cross_entropy(classify(weights, one), kinds, each) for one in flat),
        "clustering": _clustering(codes, decodable, batch["kind"], share, recipe),
        "rank_normal": sum(rank_normal(one, batch["size"], normal) for one in sizes),
        "rank_anomalous": rank_anomalous(sizes[1], batch["size"], judged * last, batch["least"]),
    }


def draw_keeps(key: Any, n: int, recipe: Recipe) -> dict[str, Any]:
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


def tell(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> Told:
    """Return what trained members tell of windows.

    Args:
        members: weights by name, (n_members, ...).
        inputs: the windows.
        recipe: the network's.
    """
    n = len(inputs)
    found = _compiled_tell(recipe)(dict(members), filled_up(inputs).arrays())
    told = {name: np.asarray(value)[..., :n, :] for name, value in found.items()}
    return Told(
        logit=told["logit"][..., 0].mean(axis=0),
        code=told["code"][0],
        predicted=told["predicted"][0],
        restored=told["restored"].mean(axis=0),
        kind=told["kind"].mean(axis=0).argmax(axis=-1),
    )


def member_logits(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> Floats:
    """Return (n_members, n_windows) logits, member by member."""
    found = _compiled_tell(recipe)(dict(members), filled_up(inputs).arrays())
    return np.asarray(found["logit"])[:, : len(inputs), 0]


def member_distances(members: Mapping[str, Floats], inputs: Inputs, recipe: Recipe) -> Floats:
    """Return (n_members, n_windows) lengths of code less predicted code, member by member."""
    found = _compiled_tell(recipe)(dict(members), filled_up(inputs).arrays())
    apart = np.asarray(found["code"]) - np.asarray(found["predicted"])
    return np.asarray(np.linalg.norm(apart[:, : len(inputs)], axis=-1))


@cache
def _compiled_tell(recipe: Recipe) -> Any:
    jax = jax_on_cpu()

    def one(weights: Weights, batch: Batch) -> dict[str, Any]:
        found = forward(weights, batch, recipe)
        code = found["codes"][:, -1]
        return {
            "logit": found["logit"][:, None],
            "code": code,
            "predicted": found["predicted"][:, -1],
            "restored": decode(weights, code),
            "kind": jax.nn.softmax(classify(weights, code)),
        }

    return jax.jit(jax.vmap(one, in_axes=(0, None)))


def _clustering(codes: Any, decodable: Any, kind: Any, share: Any, recipe: Recipe) -> Any:
    jnp = jax_on_cpu().numpy
    if not recipe.cluster_all:
        both = jnp.concatenate([codes[:, -1], decodable[:, -1]])
        return triplets(both, jnp.tile(kind, 2), jnp.tile(share, 2))
    both = jnp.concatenate([codes.reshape(-1, CODE), decodable.reshape(-1, CODE)])
    return triplets(both, jnp.tile(jnp.repeat(kind, WINDOW), 2), jnp.tile(jnp.repeat(share, WINDOW), 2))
