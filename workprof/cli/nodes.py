"""The commands on nodes: what their results are as JSON and as text; their options are the declared settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from workprof.cli import nodes_suite
from workprof.cli.console import Home, Json, emit, opened, parameter, progress_line, register, table, warn
from workprof.cli.questions import FACES, WITH, Face, add, add_others, options, settings_of
from workprof.core.errors import SettingsError
from workprof.core.records import to_json
from workprof.core.units import format_share
from workprof.nodes import questions
from workprof.nodes.advice import Advice
from workprof.nodes.allocation import PROFILE, Allocation
from workprof.nodes.comparisons import AspectScore
from workprof.nodes.detection import Detection, ScoredRuns
from workprof.nodes.groups import Groups
from workprof.nodes.ranking import RankedNode, Ranking, per_price
from workprof.nodes.runtime_intervals import Coverage
from workprof.nodes.scores import OVERALL
from workprof.nodes.search import Search
from workprof.nodes.transfer import Transfer
from workprof.profiles.names import name_of

HELP = "Which node is fastest for which work, and which has degraded."
app = typer.Typer(help=HELP, no_args_is_help=True, rich_markup_mode=None)

Reports = Annotated[Path, typer.Option("--reports", help="Folder with one folder of reports per machine.")]
Scores = Annotated[
    Path | None,
    typer.Option(
        "--scores", help="CSV machine,cpu,linpack,memory,io; default: the published ones.", show_default=False
    ),
]
ConfigurationTable = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV with the columns machine, count, runtime (s), cost, and workload where several; or the name of a "
        "dataset made of one.",
    ),
]
NodeScores = Annotated[
    Path | None,
    typer.Option(
        "--node-scores", help="CSV machine,cpu,memory,disk,network; search with them too.", show_default=False
    ),
]
SHOWN_PAIRS = 12
SHOWN_RUNS = 40
SHOWN_KINDS = 40


@app.callback()
def nodes() -> None:
    """Which node is fastest for which work, and which has degraded."""


def ranking_json(result: Ranking) -> dict[str, Any]:
    """Return the JSON document of a ranking."""
    return {
        "score": result.settings.score,
        "published": result.published,
        "weights": result.shares,
        "nodes": [_node(one) for one in result.nodes],
        "pairs": [asdict(one) for one in result.pairs],
        "without": [asdict(one) for one in result.leave_outs],
        "metrics": result.metrics,
        "dropped_metrics": [asdict(one) for one in result.dropped_metrics],
        "not_pooled": [asdict(one) for one in result.not_pooled],
        "n_runs": result.n_runs,
        "left_out": result.left_out,
        "notes": list(result.notes),
    }


def groups_json(result: Groups) -> dict[str, Any]:
    """Return the JSON document of a grouping."""
    return {
        "k": result.k,
        "silhouette": result.silhouette,
        "groups": [asdict(one) for one in result.groups],
        "aspects": result.aspects,
        "silhouettes": result.silhouettes,
        "stability": result.stability,
        "reference_rand": result.reference_rand,
        "not_grouped": result.not_grouped,
        "published": result.published,
        "notes": list(result.notes),
    }


def advice_json(result: Advice) -> dict[str, Any]:
    """Return the JSON document of an advice."""
    return {
        "profile": result.settings.profile,
        "n_jobs": result.n_jobs,
        "weights": result.weights,
        "proposed": result.proposed,
        "uses": [asdict(one) for one in result.uses],
        "nodes": [_node(one) for one in result.ranking.nodes],
        "notes": list(result.notes),
    }


def allocation_json(result: Allocation) -> dict[str, Any]:
    """Return the JSON document of an allocation."""
    return {
        "by": result.settings.by,
        "n_jobs": result.n_jobs,
        "groups": [asdict(one) for one in result.groups],
        "resources": [asdict(one) for one in result.resources],
        "kinds": [asdict(one) for one in result.kinds],
        "notes": list(result.notes),
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


def ranking_text(result: Ranking) -> str:
    """Return the nodes, who is how much better, and what is degraded."""
    clear = [one for one in result.pairs if one.aspect == OVERALL and one.clear][:SHOWN_PAIRS]
    degraded = [
        f"{one.node} is degraded: {one.degraded.reason}; {one.degraded.action}" for one in result.nodes if one.degraded
    ]
    parts = [
        "\n".join(_best_lines(result)),
        "\n".join(degraded),
        f"{result.n_runs} runs{_left_out(result)}; weights {weights_text(result.shares)}; "
        f"{'10-norm of the code' if result.published else '1 = geometric mean of the nodes'}",
        nodes_table(result.nodes),
        "\n".join(
            f"{one.node} is {_more(one.ratio)} faster than {one.other} ({_more(one.low)} to {_more(one.high)})"
            for one in clear
        ),
    ]
    if result.alike:
        parts.append(f"differences within noise: {', '.join(result.alike)}")
    hang = [one.benchmark for one in result.leave_outs if not one.same_order]
    if hang:
        parts.append(f"the order changes without {' or '.join(hang)}")
    return "\n\n".join(part for part in parts if part)


def _left_out(result: Ranking) -> str:
    """Return ' (91 labelled as stressed excluded)', or nothing."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in result.left_out.items())
    return f" ({reasons} excluded)" if reasons else ""


def _best_lines(result: Ranking) -> list[str]:
    """Return which node is best, and with prices which gives most for its price."""
    lines = []
    for ranking, word in ((result, "fastest"), (per_price(result), "best per price")):
        ranked = [one for one in ranking.nodes if one.rank]
        if ranked:
            tied = f", tied with {', '.join(ranked[0].tied_with)}" if ranked[0].tied_with else ""
            lines.append(f"{word}: {ranked[0].node}, score {with_interval(ranked[0])}{tied}")
    return lines


def _more(ratio: float) -> str:
    return f"{(ratio - 1) * 100:.0f} %"


def groups_text(result: Groups) -> str:
    """Return the groups with their labels."""
    rows: list[dict[str, object]] = [
        {"group": number, "nodes": ", ".join(one.nodes)} | one.labels for number, one in enumerate(result.groups)
    ]
    silhouette = "" if math.isnan(result.silhouette) else f", mean silhouette {result.silhouette:.2f}"
    stability = "" if math.isnan(result.stability) else f", stability {result.stability:.2f}"
    return f"{result.k} groups{silhouette}{stability}\n\n{table(rows)}"


def advice_text(result: Advice) -> str:
    """Return the weights with their reasons, and the nodes."""
    uses = [
        f"{one.aspect}: {format_share(one.share)} ({one.source})" for one in result.uses if math.isfinite(one.share)
    ]
    head = f"profile {result.settings.profile}, {result.n_jobs:,} runs; weights {weights_text(result.weights)}"
    return "\n\n".join(
        ["\n".join(_best_lines(result.ranking)), head, "\n".join(uses), nodes_table(result.ranking.nodes)]
    )


def _named_kinds(result: Allocation, names: Sequence[str]) -> Allocation:
    """Return an allocation whose profiles have their names, so that its table is as wide as they are."""
    return replace(result, kinds=tuple(replace(one, name=name_of(one.name, names)) for one in result.kinds))


def allocation_text(result: Allocation) -> str:
    """Return the groups with their ranks, and the kinds of jobs with their labels."""
    k = len(result.groups)
    groups: list[dict[str, object]] = [
        {"group": number, "nodes": ", ".join(one.nodes), "places": one.places}
        | {f"{name} rank": f"{rank} of {k}" for name, rank in one.ranks.items()}
        for number, one in enumerate(result.groups)
    ]
    kinds: list[dict[str, object]] = [
        {
            "kind of jobs": one.name,
            "runs": f"{one.n_jobs:,}",
            **{name: f"{label} of {k}" if label else "not known" for name, label in one.labels.items()},
            "groups, best first": ", ".join(map(str, one.groups)),
        }
        for one in result.kinds[:SHOWN_KINDS]
    ]
    head = f"kinds of jobs: {len(result.kinds):,}, groups of nodes: {k}; rank 1 = weakest, label 1 = uses least"
    n_more = len(result.kinds) - SHOWN_KINDS
    more = [f"... and {n_more:,} more kinds: --json has all"] if n_more > 0 else []
    return "\n\n".join([head, table(groups), table(kinds), *more])


def nodes_table(nodes: tuple[RankedNode, ...]) -> str:
    """Return one line per node."""
    aspects = list(nodes[0].aspects) if nodes else []
    return table(
        [
            {
                "rank": one.rank or "-",
                "node": one.node,
                "score": with_interval(one),
                "tied with": ", ".join(one.tied_with),
                **{name: with_interval(one.aspects[name]) for name in aspects},
                "score/price": "" if math.isnan(one.price_performance) else f"{one.price_performance:.3g}",
                "degraded": one.degraded.action if one.degraded else "",
            }
            for one in nodes
        ]
    )


def with_interval(one: RankedNode | AspectScore) -> str:
    """Return a score with its interval: '1.98 (1.96-2.00)'."""
    if math.isnan(one.score):
        return "no data"
    return f"{one.score:.2f}" if math.isnan(one.low) else f"{one.score:.2f} ({one.low:.2f}-{one.high:.2f})"


def weights_text(shares: dict[str, float]) -> str:
    """Return the weights: 'cpu 50 %, disk 50 %'."""
    return ", ".join(f"{name} {format_share(share, 0)}" for name, share in shares.items()) or "none"


def detection_json(result: Detection) -> dict[str, Any]:
    """Return the JSON document of a detection; its runs are those outside the training part."""
    return {
        "mode": result.settings.mode,
        "published_definitions": result.published,
        "supervised": result.supervised,
        "detector": result.detector,
        "threshold": result.threshold,
        "model": asdict(result.model),
        "detectors": {name: asdict(one) for name, one in result.detectors.items()},
        "runs": _runs(result.runs),
        "not_scored": len(result.not_scored),
        "not_scored_runs": [asdict(one) for one in result.not_scored],
        "parts": asdict(result.parts),
        "calibration": asdict(result.calibration) if result.calibration else None,
        "recipe": asdict(result.network.recipe),
        "dropped_metrics": [asdict(one) for one in result.dropped],
        "orientations": [asdict(one) | {"disagree": one.disagree} for one in result.orientations],
        "messages": list(result.messages),
        "seconds": result.seconds,
    }


def _runs(runs: ScoredRuns) -> list[dict[str, Any]]:
    return [
        {
            "row_id": runs.row_id[place],
            "node": str(runs.node[place]),
            "benchmark": str(runs.benchmark[place]),
            "started": float(runs.started_s[place]),
            "stressed": None if runs.label[place] < 0 else bool(runs.label[place]),
            "p_anomalous": float(runs.p_anomalous[place]),
            "p_value": float(runs.p_value[place]),
            "flag": bool(runs.flag[place]),
            "drivers": [asdict(one) for one in runs.drivers[place]],
            "reconstruction_error": float(runs.reconstruction_error[place]),
        }
        for place in range(len(runs.tested))
        if runs.tested[place]
    ]


def detection_text(result: Detection) -> str:
    """Return how the detection was made, how good each detector is, and the flagged runs."""
    head = (
        f"{result.parts.n_scored} of {result.parts.n_test} runs judged by {result.detector}, "
        f"trained on {result.parts.by} ({result.parts.n_train_scored} labelled, "
        f"{result.parts.n_train_anomalous} of them under load)"
    )
    if result.published:
        head = f"published definitions\n{head}"
    model = (
        f"network: mean squared reconstruction error {result.model.mse:.4f}, "
        f"identifies the benchmark of {format_share(result.model.type_accuracy)}"
    )
    parts = [head, model, table(_detector_rows(result)), table(_flagged(result))]
    n_flagged = int((result.runs.flag & result.runs.tested).sum())
    more = [f"... and {n_flagged - SHOWN_RUNS} more runs: --json has all"] if n_flagged > SHOWN_RUNS else []
    return "\n\n".join([*parts, *more])


def _detector_rows(result: Detection) -> list[dict[str, object]]:
    return [
        {
            "detector": name + (" (used)" if name == result.detector else ""),
            "F1 normal": f"{one.f1_normal:.3f}",
            "F1 anomalous": f"{one.f1_anomalous:.3f}",
            "weighted accuracy": f"{one.weighted_accuracy:.3f}",
            "PR-AUC": f"{one.pr_auc:.3f}",
            "Brier": f"{one.brier:.3f}",
        }
        for name, one in result.detectors.items()
    ]


def _flagged(result: Detection) -> list[dict[str, object]]:
    runs = result.runs
    p = runs.p_anomalous if result.supervised else runs.p_value
    places = [place for place in range(len(runs.tested)) if runs.tested[place] and runs.flag[place]]
    return [
        {
            "node": runs.node[place],
            "benchmark": runs.benchmark[place],
            "started": f"{runs.started_s[place]:.0f}",
            "p" if result.supervised else "p-value": f"{p[place]:.3f}",
            "furthest from its history": ", ".join(f"{one.metric} {one.size:+.1f}" for one in runs.drivers[place][:2]),
        }
        for place in places[:SHOWN_RUNS]
    ]


def transfer_json(result: Transfer, interval: Coverage | None) -> dict[str, Any]:
    """Return the JSON document of a transfer."""
    return {
        "methods": {name: asdict(one) for name, one in result.methods.items()},
        "default": result.default,
        "left_out": result.left_out,
        "n_untrained": result.n_untrained,
        "n_absent": result.n_absent,
        "history": list(result.history),
        "interval": asdict(interval) if interval else None,
    }


def _transfer_notes(result: Transfer) -> list[str]:
    notes = [f"{name} is excluded: {reason}" for name, reason in result.left_out.items()]
    if result.history:
        notes.append(f"runs on {', '.join(result.history)} tell how each task follows the scores")
    if result.n_untrained:
        notes.append(f"{result.n_untrained} tasks and parts have one local run only; nothing is predicted from it")
    if result.n_absent:
        notes.append(f"{result.n_absent} predictions cannot be judged: the target has no run of the task")
    return notes


def transfer_text(result: Transfer, interval: Coverage | None) -> str:
    """Return the errors of every method, and how often the intervals held."""
    rows: list[dict[str, object]] = [
        {
            "method": name + (" (default)" if name == result.default else ""),
            "median error": f"{one.median:.4f}",
            "P90": f"{one.p90:.4f}",
            "P95": f"{one.p95:.4f}",
            "n": one.n,
        }
        for name, one in result.methods.items()
    ]
    errors = "error = |predicted - measured| / measured\n\n" + table(rows)
    if interval is None or not interval.n:
        return errors
    return (
        f"{errors}\n\n{format_share(interval.confidence)} intervals held {format_share(interval.share)} of "
        f"{interval.n} runtimes ({interval.held_out} unseen); upper end / lower end {interval.median_width:.2f}"
    )


def _transfer(reports: Path, scores: Path | None, as_json: bool, **given: Any) -> None:
    from workprof.workbench.nodes import runtime_transfer  # noqa: PLC0415  `--help` stays quick

    compared = runtime_transfer(reports, settings_of(questions.TRANSFER, given), scores)
    result, interval = compared.result, compared.interval
    for note in (*compared.notes, *_transfer_notes(result)):
        warn(f"note: {note}")
    emit(transfer_json(result, interval), as_json, lambda: transfer_text(result, interval))


def search_json(result: Search) -> dict[str, Any]:
    """Return the JSON document of a configuration search."""
    return {
        "optimizer": result.settings.optimizer,
        "n_configurations": result.n_configurations,
        "seeds": result.settings.seeds,
        "cheapest": result.workloads,
        "least_costs": result.least_costs,
        "curves": to_json(result.curves),
        "path": [asdict(one) for one in result.path],
        "differences": [asdict(one) for one in result.differences],
        "notes": list(result.notes),
    }


def search_text(result: Search) -> str:
    """Return the first search step by step, and how far from the cheapest the searches are after each trial."""
    head = f"{result.n_configurations} configurations; cheapest: " + ", ".join(
        f"{outcome} for {name}" if name else outcome for name, outcome in result.workloads.items()
    )
    path: list[dict[str, object]] = [
        {
            **({"workload": one.workload} if one.workload else {}),
            "trial": one.trial,
            "configuration": one.configuration,
            "runtime (s)": f"{one.runtime_s:,.1f}",
            "cost": f"{one.cost:,.4g}",
            "least cost so far": "–" if one.best_cost is None else f"{one.best_cost:,.4g}",
        }
        for one in result.path
    ]
    curves: list[dict[str, object]] = []
    for step in range(result.settings.trials):
        line: dict[str, object] = {"trials": step + 1}
        for kind, curve in result.curves.items():
            line[kind] = f"{curve.mean[step]:.3f} ({format_share(float(curve.found_share[step]))})"
        if result.differences:
            one = result.differences[step]
            line["difference"] = f"{one.mean:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
        curves.append(line)
    words = f"mean cost found / least cost of {result.settings.seeds} searches (share that found the cheapest)"
    return f"{head}\n\n{table(path)}\n\n{words}\n\n{table(curves)}"


def _search(dataset: str, node_scores: Path | None, home: Path | None, as_json: bool, **given: Any) -> None:
    from workprof.nodes.search import search_file  # noqa: PLC0415  `--help` stays quick

    settings, file = settings_of(questions.SEARCH, given), Path(dataset)
    if file.is_file() or file.suffix:
        if settings.runs:
            raise SettingsError(f"--runs is of a home and {file} a file; ingest it first (`workprof ingest {file}`)")
        result = search_file(file, settings, node_scores, progress_line())
    elif node_scores:
        raise SettingsError("--node-scores is of a CSV of configurations; give --runs for a dataset")
    else:
        with opened(home) as workbench:
            result = workbench.configuration_search(dataset, settings, progress_line())
    for note in result.notes:
        warn(f"note: {note}")
    emit(search_json(result), as_json, lambda: search_text(result))


add(app, Face(questions.RANK, ranking_json, ranking_text, lambda result: result.notes))
add(app, Face(questions.GROUPS, groups_json, groups_text, lambda result: result.notes))
add(
    app,
    Face(
        questions.ADVICE,
        advice_json,
        advice_text,
        lambda result: result.notes,
        profiles_of=lambda _, settings: settings.jobs,
    ),
)
add(
    app,
    Face(
        questions.ALLOCATE,
        allocation_json,
        allocation_text,
        lambda result: result.notes,
        profiles_of=lambda _, settings: settings.jobs if settings.by == PROFILE else "",
        named=_named_kinds,
    ),
)
add(app, Face(questions.DETECT, detection_json, detection_text, lambda result: result.messages))
register(
    app,
    "transfer",
    questions.TRANSFER.title,
    _transfer,
    [
        parameter("reports", Reports),
        *(one for one in options(questions.TRANSFER) if one.name != WITH),
        parameter("scores", Scores, None),
        parameter("as_json", Json, False),
    ],
)
FACES[questions.SEARCH.name] = Face(questions.SEARCH, search_json, search_text, lambda result: result.notes)
register(
    app,
    "search",
    questions.SEARCH.title,
    _search,
    [
        parameter("dataset", ConfigurationTable),
        *options(questions.SEARCH),
        parameter("node_scores", NodeScores, None),
        parameter("home", Home, None),
        parameter("as_json", Json, False),
    ],
)
nodes_suite.register(app)
add_others(app, questions.QUESTIONS)
