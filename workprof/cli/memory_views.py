"""Commands on memory that look at one thing: a fact, the reason of a size, more bins, the runs that a plan breaks."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, opened, progress_line
from workprof.cli.further_settings import Fit, With, clustering, further
from workprof.cli.memory_views_text import curve_text, fact_text, violations_text, why_text
from workprof.errors import SettingsError
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import ImprovementCurve, ProfileBinSettings
from workprof.memory.facts import FactPoints, FactPointsSettings
from workprof.memory.plan import PlanSettings, Violations, ViolationSettings
from workprof.memory.policies import SizingSettings
from workprof.memory.retry import RULES, RetrySettings
from workprof.memory.why import Why, WhySettings
from workprof.units import GB, parse_size

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
Task = Annotated[str, typer.Option("--task", help="Name of the task.", show_default=False)]
Target = Annotated[str, typer.Option("--target", help="What counts as use: peak_rss or rss.")]
PLAN, SIZING, RETRY, BINS = PlanSettings(), SizingSettings(), RetrySettings(), BinSettings()


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (fact, why, curve, violations):
        app.command()(command)


def fact(
    dataset: Dataset,
    column: Annotated[str, typer.Option("--column", help="A number or a category of the table.", show_default=False)],
    task: Annotated[str, typer.Option("--task", help="Name of the task; default: all runs.")] = "",
    target: Target = "peak_rss",
    seed: Annotated[int, typer.Option("--seed", help="Of the draw, where there are too many points.")] = 0,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Set one fact against the use of memory: points of a number, a box of every category."""
    settings = further(FactPointsSettings(column, task, target, seed), given)
    with opened(home) as workbench:
        found = workbench.fact_points(dataset, settings, progress_line())
    emit(fact_answer(found), as_json, lambda: fact_text(found))


def why(
    dataset: Dataset,
    task: Task,
    size_from: Annotated[str, typer.Option("--input", help="none, or a column with numbers.")] = "none",
    value: Annotated[
        float | None, typer.Option("--value", help="Of the input; default: the median.", show_default=False)
    ] = None,
    target: Target = "peak_rss",
    price: Annotated[float, typer.Option("--price", help="Of a failure, in mean runs.")] = SIZING.price_runs,
    retry: Annotated[str, typer.Option("--retry", help=f"How failures are lifted: {', '.join(RULES)}.")] = RETRY.rule,
    fails_after: Annotated[
        float, typer.Option("--time-to-failure", help="Share of its time after which a too small attempt dies, 0-1.")
    ] = RETRY.time_to_failure,
    cap: Annotated[str | None, typer.Option("--cap", help="Largest size there is, such as 128GB.")] = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell why our policy gives the next run of a task its size, and how likely it is too small."""
    largest = float(parse_size(cap, bare="GB")) if cap else None
    lifting = RetrySettings(rule=retry, time_to_failure=fails_after, cap_bytes=largest)
    settings = WhySettings(task, size_from, value, target, SizingSettings(price_runs=price), lifting)
    with opened(home) as workbench:
        found = workbench.why_size(dataset, further(settings, given), progress_line())
    emit(why_answer(found), as_json, lambda: why_text(found))


def curve(
    dataset: Dataset,
    task: Annotated[
        str | None, typer.Option("--task", help="Name of the task; '' = all runs as one.", show_default=False)
    ] = None,
    profile: Annotated[
        int | None,
        typer.Option("--profile", help="In place of a task: number in the clustering of --fit.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("-k", help="Changes nothing: every number from 1 to 8 is told.")] = BINS.k,
    weight: Annotated[str, typer.Option("--weight", help="time, count or cost.")] = BINS.weight,
    top: Annotated[str, typer.Option("--top", help="Largest bin: free or pinned (the request).")] = BINS.top,
    step: Annotated[str, typer.Option("--step", help="Edges are multiples of this; 0 = any.")] = "0",
    headroom: Annotated[float, typer.Option("--headroom", help="Share kept free above each use.")] = BINS.headroom,
    search: Annotated[str, typer.Option("--search", help="exact or stride (as published).")] = BINS.search,
    target: Target = BINS.target,
    fit: Fit = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Tell what one to eight bins would save, and what no number of bins can beat."""
    if (task is None) == (profile is None):
        raise SettingsError("give either --task or --profile; `workprof memory assess` lists the tasks")
    size = float(parse_size(step, bare="GB"))
    settings = BinSettings(
        task or "", k, weight=weight, top=top, step_bytes=size, headroom=headroom, search=search, target=target
    )
    with opened(home) as workbench:
        if profile is None:
            found = workbench.improvement(dataset, further(settings, given), progress_line())
        else:
            asked = further(ProfileBinSettings(profile, settings), given)
            found = workbench.profile_improvement(dataset, asked, clustering(fit), progress_line())
    emit(curve_answer(found), as_json, lambda: curve_text(found))


def violations(
    dataset: Dataset,
    rule: Annotated[str, typer.Option("--rule", help="max_seen, percentile, least_waste or class_sizes.")] = PLAN.rule,
    headroom: Annotated[float, typer.Option("--headroom", help="Share added to the chosen use.")] = PLAN.headroom,
    most: Annotated[int, typer.Option("--most", help="Runs that are listed.")] = ViolationSettings().most,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """List the runs that a plan is too small for, the ones that are short by most first."""
    settings = further(ViolationSettings(PlanSettings(rule=rule, headroom=headroom), most), given)
    with opened(home) as workbench:
        found = workbench.violations(dataset, settings, progress_line())
    emit(violations_answer(found), as_json, lambda: violations_text(found))


def fact_answer(found: FactPoints) -> dict[str, Any]:
    """Return the JSON document of a fact: use in GB (1e9 bytes)."""
    return {
        **asdict(found.settings),
        "kind": found.kind,
        "known": found.known,
        "values": found.values,
        "used_gb": found.used_gb,
        "boxes": [{"value": box.pop("task"), **box} for box in map(asdict, found.boxes)],
        "n": found.n,
        "n_missing": found.n_missing,
        "seconds": found.seconds,
    }


def why_answer(found: Why) -> dict[str, Any]:
    """Return the JSON document of a size and its reasons: sizes and uses in GB (1e9 bytes)."""
    return {
        "task": found.settings.task,
        "input": found.settings.input_column,
        "input_value": found.input_value,
        "n_known": found.n_known,
        "too_few": found.too_few,
        "size_gb": found.size_bytes / GB,
        "next_gb": found.next_bytes / GB,
        "last_gb": found.last_bytes / GB,
        "requested_gb": found.requested_bytes / GB,
        "margin_share": found.margin_share,
        "n_above": found.n_above,
        "retried": found.retried,
        "n_tried": found.n_tried,
        "odds_of_retry": asdict(found.odds_of_retry),
        "history": {"used_gb": found.used_bytes / GB, "hours": found.hours, "inputs": found.inputs},
        "candidates": {
            "size_gb": found.candidate_bytes / GB,
            "cost_gb_h": found.candidate_cost_gb_h,
            "chosen": found.chosen,
        },
        "seconds": found.seconds,
    }


def curve_answer(found: ImprovementCurve) -> dict[str, Any]:
    """Return the JSON document of the savings against the number of bins."""
    names = ("optimal_improvement", "time_based_optimal_improvement", "saved_share", "time_based_saved_share")
    shares = {name: getattr(found, name).tolist() for name in names}
    return {
        "task": found.settings.task,
        "bins": [
            {"k": k, "edges_gb": [edge / GB for edge in edges]} | {name: shares[name][at] for name in names}
            for at, (k, edges) in enumerate(zip(found.k, found.edges_bytes, strict=True))
        ],
        "oracle": asdict(found.oracle),
        "continuous": asdict(found.continuous),
        "seconds": found.seconds,
    }


def violations_answer(found: Violations) -> dict[str, Any]:
    """Return the JSON document of the runs above their size: sizes and uses in GB (1e9 bytes)."""
    columns = (found.row_ids, found.used_bytes / GB, found.size_bytes / GB, found.short_bytes / GB, found.hours)
    names = ("row_id", "used_gb", "size_gb", "short_gb", "hours")
    return {
        "n_above": found.n_above,
        "n_runs": found.n_runs,
        "runs": [
            {"task": task} | dict(zip(names, values, strict=True))
            for task, *values in zip(found.tasks, *(column.tolist() for column in columns), strict=True)
        ],
    }
