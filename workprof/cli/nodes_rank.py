"""Commands that compare nodes: ranked, grouped, advised for a profile of jobs."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, warn
from workprof.cli.further_settings import With, further
from workprof.cli.nodes_rank_text import advice_text, groups_text, ranking_text
from workprof.errors import SettingsError
from workprof.nodes.advice import Advice, AdviceSettings
from workprof.nodes.comparisons import AspectScore
from workprof.nodes.groups import CORRECTED, FAITHFUL, Groups, GroupSettings
from workprof.nodes.ranking import RankedNode, Ranking
from workprof.nodes.selection import EXCLUSIONS, PERONA, SCORES, RankSettings
from workprof.nodes.written import moment, numbers_by_name, texts_by_name

Dataset = Annotated[str, typer.Argument(help="Benchmark runs: name, or 8 characters of the hash.", show_default=False)]
Weights = Annotated[
    str | None,
    typer.Option("--weights", help="cpu=1,disk=2,...: of the aspects; those not named count 0.", show_default=False),
]
Prices = Annotated[
    str | None, typer.Option("--prices", help="NODE=0.12,...: per hour, for price-performance.", show_default=False)
]
Exclude = Annotated[str, typer.Option("--exclude", help=f"Runs left out: {', '.join(EXCLUSIONS)}.")]
Nodes = Annotated[str | None, typer.Option("--nodes", help="A,B,...; default: all.", show_default=False)]
Since = Annotated[str | None, typer.Option("--since", help="Epoch seconds or ISO 8601 (UTC).", show_default=False)]
Until = Annotated[str | None, typer.Option("--until", help="Likewise.", show_default=False)]
Mode = Annotated[str, typer.Option("--mode", help="corrected or faithful (as published).")]
Seed = Annotated[int, typer.Option("--seed", help="Of the resamples.")]
DEFAULT = RankSettings()


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (rank, groups, advise):
        app.command()(command)


def rank(
    dataset: Dataset,
    weights: Weights = None,
    score: Annotated[str | None, typer.Option("--score", help=f"{' or '.join(SCORES)} (as published).")] = None,
    exclude: Exclude = DEFAULT.exclude,
    nodes: Nodes = None,
    since: Since = None,
    until: Until = None,
    prices: Prices = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of intervals, 0.5 to 0.99.")] = DEFAULT.confidence,
    seed: Seed = DEFAULT.seed,
    mode: Mode = CORRECTED,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Rank the nodes: how much better, how sure, tied with whom, degraded or not."""
    settings = RankSettings(
        weights=numbers_by_name("--weights", weights),
        score=score or (PERONA if is_faithful(mode) else DEFAULT.score),
        exclude=exclude,
        since_s=moment("--since", since),
        until_s=moment("--until", until),
        nodes=names(nodes) if nodes else (),
        prices_per_h=numbers_by_name("--prices", prices),
        confidence=confidence,
        seed=seed,
    )
    with opened(home) as workbench:
        found = workbench.node_ranking(dataset, further(settings, given), progress_line())
    _tell(found.notes)
    emit(ranking_answer(found), as_json, lambda: ranking_text(found))


def groups(
    dataset: Dataset,
    exclude: Exclude = DEFAULT.exclude,
    nodes: Nodes = None,
    reference: Annotated[
        str | None, typer.Option("--reference", help="NODE=GROUP,...: to compare with.", show_default=False)
    ] = None,
    seed: Seed = DEFAULT.seed,
    mode: Mode = CORRECTED,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Group the nodes that are alike."""
    is_faithful(mode)
    ranking = RankSettings(exclude=exclude, nodes=names(nodes) if nodes else (), seed=seed)
    settings = GroupSettings(ranking, mode, reference=texts_by_name("--reference", reference))
    with opened(home) as workbench:
        found = workbench.node_groups(dataset, further(settings, given), progress_line())
    _tell(found.notes)
    emit(groups_answer(found), as_json, lambda: groups_text(found))


def advise(
    dataset: Dataset,
    jobs: Annotated[str, typer.Option("--jobs", help="Dataset of the jobs.", show_default=False)],
    profile: Annotated[int, typer.Option("--profile", help="Of its default clustering.", show_default=False)],
    weights: Weights = None,
    exclude: Exclude = DEFAULT.exclude,
    prices: Prices = None,
    seed: Seed = DEFAULT.seed,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Say which node suits a profile of jobs, by what they use."""
    settings = replace(
        DEFAULT,
        weights=numbers_by_name("--weights", weights),
        exclude=exclude,
        prices_per_h=numbers_by_name("--prices", prices),
        seed=seed,
    )
    asked = further(AdviceSettings(jobs, profile, ranking=settings), given)
    with opened(home) as workbench:
        found = workbench.node_advice(dataset, asked.jobs, asked.profile, asked.ranking, progress_line())
    _tell(found.notes)
    emit(advice_answer(found), as_json, lambda: advice_text(found))


def ranking_answer(found: Ranking) -> dict[str, Any]:
    """Return the JSON document of a ranking."""
    return {
        "score": found.settings.score,
        "published": found.published,
        "weights": found.shares,
        "nodes": [_node(one) for one in found.nodes],
        "pairs": [asdict(one) for one in found.pairs],
        "without": [asdict(one) for one in found.leave_outs],
        "metrics": found.metrics,
        "dropped_metrics": [asdict(one) for one in found.dropped_metrics],
        "not_pooled": [asdict(one) for one in found.not_pooled],
        "n_runs": found.n_runs,
        "left_out": found.left_out,
        "notes": list(found.notes),
    }


def groups_answer(found: Groups) -> dict[str, Any]:
    """Return the JSON document of a grouping."""
    return {
        "k": found.k,
        "silhouette": found.silhouette,
        "groups": [asdict(one) for one in found.groups],
        "aspects": found.aspects,
        "silhouettes": found.silhouettes,
        "stability": found.stability,
        "reference_rand": found.reference_rand,
        "not_grouped": found.not_grouped,
        "published": found.published,
        "notes": list(found.notes),
    }


def advice_answer(found: Advice) -> dict[str, Any]:
    """Return the JSON document of an advice."""
    return {
        "profile": found.settings.profile,
        "n_jobs": found.n_jobs,
        "weights": found.weights,
        "proposed": found.proposed,
        "uses": [asdict(one) for one in found.uses],
        "nodes": [_node(one) for one in found.ranking.nodes],
        "notes": list(found.notes),
    }


def _node(one: RankedNode) -> dict[str, Any]:
    return {
        "node": one.node,
        "score": one.score,
        "interval": _interval(one),
        "rank": one.rank,
        "tied_with": list(one.tied_with),
        "aspects": {
            name: {"score": own.score, "interval": _interval(own), "rank": own.rank, "n_runs": own.n_runs}
            for name, own in one.aspects.items()
        },
        "n_runs": one.n_runs,
        "price_per_h": one.price_per_h,
        "price_performance": one.price_performance,
        "degraded": asdict(one.degraded) if one.degraded else None,
        "change": asdict(one.change) if one.change else None,
        "reason": one.reason,
    }


def _interval(one: RankedNode | AspectScore) -> list[float] | None:
    return [one.low, one.high] if one.low == one.low else None  # NaN: fewer than 3 runs


def is_faithful(mode: str) -> bool:
    """Return whether the published definitions are asked for."""
    if mode not in (CORRECTED, FAITHFUL):
        raise SettingsError(f"--mode is {mode!r}; use {CORRECTED} or {FAITHFUL}")
    return mode == FAITHFUL


def _tell(notes: tuple[str, ...]) -> None:
    for note in notes:
        warn(f"note: {note}")
