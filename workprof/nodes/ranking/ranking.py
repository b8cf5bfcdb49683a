"""Which node is how much better: places with intervals, ties, reasons for no place, and what the ranking stands on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from workprof.arrays import Ints
from workprof.errors import NotEnoughData
from workprof.nodes.metrics import ASPECT_OF
from workprof.nodes.parsed_runs import ParsedRuns, parse_runs
from workprof.nodes.price import price_performance
from workprof.nodes.ranking.aspect_scores import Scored, all_scores
from workprof.nodes.ranking.change import changes
from workprof.nodes.ranking.medians import LEAST_RUNS, Levels, OrientedRuns, levels_of
from workprof.nodes.ranking.newest import degraded_nodes
from workprof.nodes.ranking.norm import norm_scores
from workprof.nodes.ranking.notes import ranking_notes
from workprof.nodes.ranking.places import aspect_scores, leave_outs, pair_ratios, tied_with
from workprof.nodes.ranking.records import AspectScore, RankedNode, Ranking
from workprof.nodes.ranking.selection import Selection, dropped_metrics, oriented, select
from workprof.nodes.ranking.settings import PERONA, RankSettings
from workprof.progress import Progress

NOTHING = AspectScore(float("nan"), float("nan"), float("nan"), None, 0)


@dataclass(frozen=True)
class Asked:
    """Settings, and the names of the nodes in order."""

    settings: RankSettings
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Found:
    """What the score functions made of the runs."""

    aspects: dict[str, Scored]
    overall: Scored | None
    levels: Levels


def rank_nodes(frames: Mapping[str, pd.DataFrame], settings: RankSettings, progress: Progress) -> Ranking:
    """Return the nodes by score.

    Args:
        frames: 'runs', raw; for exclude='flagged' also 'flagged' with row_id; for score='perona' also 'norms'.
        settings: weights, window, exclusions, prices.
        progress: told how far it is.

    Raises:
        NotEnoughData: when no run can be compared, or the published score lacks its codes.
        SettingsError: for a node that there is not.

    Source: perona.md 4.2; faithful (score='perona') 4.1.
    """
    progress(0.1, "reading the runs")
    parsed = parse_runs(frames["runs"])
    selection = select(parsed, settings, _flagged(frames))
    runs = oriented(parsed, selection.kept)
    progress(0.4, "resampling the runs")
    asked = Asked(settings, selection.nodes)
    found = _scores(frames, runs, parsed.row_ids[selection.kept], asked)
    progress(0.7, "comparing the nodes")
    nodes = _nodes(found, runs, asked)
    anytime = select(parsed, replace(settings, since_s=None, until_s=None), _flagged(frames))
    moved = changes(oriented(parsed, anytime.kept), selection.nodes, settings)
    bad = degraded_nodes(runs, selection.nodes)
    nodes = [replace(one, change=c, degraded=d) for one, c, d in zip(nodes, moved, bad, strict=True)]
    progress(1.0, "done")
    return _assembled(parsed, selection, found, nodes, settings)


def _flagged(frames: Mapping[str, pd.DataFrame]) -> Ints | None:
    return frames["flagged"]["row_id"].to_numpy(dtype=np.int64) if "flagged" in frames else None


def _scores(frames: Mapping[str, pd.DataFrame], runs: OrientedRuns, kept_ids: Ints, asked: Asked) -> Found:
    levels = levels_of(runs, asked.nodes, asked.settings.n_draws, asked.settings.seed)
    if asked.settings.score != PERONA:
        return Found(*all_scores(levels, ASPECT_OF, asked.settings.shares), levels)
    norms = frames.get("norms")
    if norms is None or norms.empty:
        raise NotEnoughData("the published score needs the codes of the network; run the detection of degradation")
    kept = norms[norms["row_id"].isin(kept_ids)]
    if kept.empty:
        raise NotEnoughData("none of the chosen runs has a code of the network; choose more runs")
    return Found(*norm_scores(kept, asked.nodes, asked.settings), levels)


def _nodes(found: Found, runs: OrientedRuns, asked: Asked) -> list[RankedNode]:
    names, confidence = asked.nodes, asked.settings.confidence
    aspects = {name: aspect_scores(one, confidence) for name, one in found.aspects.items()}
    total = aspect_scores(found.overall, confidence) if found.overall else [NOTHING] * len(names)
    ties = tied_with(names, total)
    made = []
    for row, (node, one) in enumerate(zip(names, total, strict=True)):
        own = {name: scores[row] for name, scores in aspects.items()}
        price = asked.settings.prices_per_h.get(node, float("nan"))
        reason = "" if one.rank else _why_no_rank(one, own, asked.settings, alone=len(names) == 1)
        made.append(
            RankedNode(
                node=node,
                score=one.score,
                low=one.low,
                high=one.high,
                rank=one.rank,
                tied_with=ties[row],
                aspects=own,
                n_runs=int((runs.node == node).sum()),
                price_per_h=price,
                price_performance=price_performance(one.score, price),
                degraded=None,
                change=None,
                reason=reason,
            )
        )
    return made


def _why_no_rank(one: AspectScore, own: dict[str, AspectScore], settings: RankSettings, *, alone: bool) -> str:
    if alone:
        return "the only node: there is nothing to compare it with"
    lacking = [name for name, score in own.items() if settings.shares[name] > 0 and not np.isfinite(score.score)]
    if lacking:
        return f"no usable run of {', '.join(lacking)}; run it there, or give it the weight 0"
    if not np.isfinite(one.score):
        return "no aspect with a weight above 0 was measured on every node"
    if one.n_runs < LEAST_RUNS:
        few = [name for name, score in own.items() if settings.shares[name] > 0 and score.n_runs < LEAST_RUNS]
        return f"fewer than {LEAST_RUNS} runs of a benchmark ({', '.join(few)}): values only, no rank"
    return "no other node can be ranked: there is nothing to compare it with"


def _assembled(
    parsed: ParsedRuns, selection: Selection, found: Found, nodes: list[RankedNode], settings: RankSettings
) -> Ranking:
    ordered = sorted(nodes, key=lambda one: (one.rank is None, one.rank or 0, one.node))
    order = tuple(one.node for one in ordered if one.rank)
    published = settings.score == PERONA
    counted = {name: share for name, share in settings.shares.items() if name in found.aspects and share > 0}
    total = sum(counted.values())
    used = {metric for one in found.aspects.values() for metric in one.metrics}
    ratios = () if published else pair_ratios(found.levels, settings.shares, ordered[0].node, settings.confidence)
    return Ranking(
        settings=settings,
        nodes=tuple(ordered),
        pairs=ratios,
        leave_outs=() if published or not order else leave_outs(found.levels, settings.shares, order),
        shares={name: share / total for name, share in counted.items()},
        metrics={name: one.metrics for name, one in found.aspects.items()},
        dropped_metrics=dropped_metrics(parsed, selection.kept, used),
        not_pooled=selection.not_pooled,
        n_runs=len(selection.kept),
        left_out=selection.left_out,
        notes=ranking_notes(parsed, selection, found.levels, ordered, settings),
        published=published,
    )
