"""The published score of a node: the 10-norm of its codes. It ranks, it does not measure."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from workprof.arrays import Floats
from workprof.nodes.metrics import ASPECT_OF, ASPECTS
from workprof.nodes.ranking.aspect_scores import OVERALL, Scored
from workprof.nodes.ranking.medians import LEAST_RUNS, multiplicities
from workprof.nodes.ranking.settings import RankSettings

NORM = 10
NORM_COLUMNS = ("row_id", "node", "benchmark", "norm")


def code_norms(codes: Floats) -> Floats:
    """Return (n_runs,) 10-norm of each code, (n_runs, n_code); 0 for an empty one.

    Source: perona.md 4.1; the largest entry is taken out first, so that no power overflows.
    """
    largest = np.abs(codes).max(axis=1, initial=0.0)
    shares = np.abs(codes) / np.where(largest > 0, largest, 1.0)[:, None]
    norms: Floats = largest * (shares**NORM).sum(axis=1) ** (1 / NORM)
    return norms


def norm_scores(
    norms: pd.DataFrame, nodes: tuple[str, ...], settings: RankSettings
) -> tuple[dict[str, Scored], Scored | None]:
    """Return the published score of each aspect and overall; higher is better.

    Args:
        norms: columns `NORM_COLUMNS`, one row per run.
        nodes: in order.
        settings: weights, draws and seed.

    Source: perona.md 4.1: mean norm per node and type, divided by the largest of the nodes; disk = fio + ioping,
    network = iperf3 + qperf. The overall score is their weighted sum, as in the weighting of CherryPick. Intervals are
    ours.
    """
    types = sorted(set(norms["benchmark"]) & set(ASPECT_OF))
    parts = {name: _type_score(norms[norms["benchmark"] == name], nodes, settings) for name in types}
    members = {aspect: [name for name in types if ASPECT_OF[name] == aspect] for aspect in ASPECTS}
    aspects = {
        aspect: _sum(aspect, {name: (1.0, parts[name]) for name in own}) for aspect, own in members.items() if own
    }
    counted = {aspect: settings.shares[aspect] for aspect in aspects if settings.shares[aspect] > 0}
    if not counted:
        return aspects, None
    lines = {name: (share, parts[name]) for aspect, share in counted.items() for name in members[aspect]}
    return aspects, _sum(OVERALL, lines)


def _type_score(norms: pd.DataFrame, nodes: tuple[str, ...], settings: RankSettings) -> tuple[Floats, Floats, Floats]:
    """Return (n_nodes,) means, (n_draws, n_nodes) resampled means, both over the largest mean, and (n_nodes,) runs."""
    means, runs = np.full(len(nodes), np.nan), np.zeros(len(nodes))
    draws = np.full((settings.n_draws, len(nodes)), np.nan)
    for row, node in enumerate(nodes):
        own = np.sort(norms.loc[norms["node"] == node, "norm"].to_numpy(dtype=np.float64))
        runs[row] = len(own)
        if len(own):
            means[row] = own.mean()
        if len(own) >= LEAST_RUNS:
            key = settings.seed, node, str(norms["benchmark"].iloc[0])
            weights = multiplicities(np.zeros(len(own), dtype=np.int64), settings.n_draws, key)
            draws[:, row] = weights @ own / len(own)
    largest = float(np.nanmax(means)) or 1.0
    return means / largest, draws / largest, runs


def _sum(name: str, lines: Mapping[str, tuple[float, tuple[Floats, Floats, Floats]]]) -> Scored:
    score = np.sum([share * part[0] for share, part in lines.values()], axis=0)
    draws = np.sum([share * part[1] for share, part in lines.values()], axis=0)
    fewest = np.min([part[2] for _, part in lines.values()], axis=0).astype(np.int64)
    metrics = tuple(f"{benchmark}.code_norm" for benchmark in lines)
    with np.errstate(divide="ignore"):
        return Scored(name, np.log(score), np.log(draws), fewest, metrics)
