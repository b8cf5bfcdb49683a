"""Commands on memory policies: replayed, rolled up, exported."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer

import workprof
from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table, warn
from workprof.cli.further_settings import With, further
from workprof.errors import SettingsError
from workprof.memory.exports import Origin, plan_csv, plan_json, plan_kubernetes, plan_nextflow
from workprof.memory.plan import PlanSettings
from workprof.memory.replay import PolicyFigures, ReplayResult, ReplaySettings, all_policies
from workprof.memory.retry import RULES
from workprof.memory.rollup import Price, Rollup, RollupRow, RollupSettings
from workprof.units import format_share, parse_size

Dataset = Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.", show_default=False)]
Rule = Annotated[str, typer.Option("--rule", help="max_seen, percentile, least_waste or class_sizes.")]
Headroom = Annotated[float, typer.Option("--headroom", help="Share added to the chosen use.")]
TEXTS = {"csv": plan_csv, "json": plan_json, "nextflow": plan_nextflow, "kubernetes": plan_kubernetes}
DEFAULT, PLAN = ReplaySettings(), PlanSettings()
SHOWN_ROWS = 30


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (replay, rollup, export):
        app.command()(command)


def replay(
    dataset: Dataset,
    policies: Annotated[str, typer.Option("--policies", help="all, or A,B,...; default: ours and its peers.")] = "",
    protocol: Annotated[str, typer.Option("--protocol", help="submit-time or sizey.")] = DEFAULT.protocol,
    seed: Annotated[int | None, typer.Option("--seed", help="Of the shuffle; default 1996.")] = None,
    seeds: Annotated[str | None, typer.Option("--seeds", help="A,B,...: means over them.")] = None,
    target: Annotated[str, typer.Option("--target", help="peak_rss or rss.")] = DEFAULT.target,
    size_from: Annotated[str, typer.Option("--input", help="none, or a column with numbers.")] = DEFAULT.input_column,
    price: Annotated[float | None, typer.Option("--price", help="Of a failure, in mean runs, for workprof.")] = None,
    retry: Annotated[str, typer.Option("--retry", help=f"How failures are lifted: {', '.join(RULES)}.")] = RULES[0],
    fails_after: Annotated[
        float, typer.Option("--time-to-failure", help="Share of its time after which a too small attempt dies, 0-1.")
    ] = DEFAULT.retry.time_to_failure,
    cap: Annotated[str | None, typer.Option("--cap", help="Largest size there is, such as 128GB.")] = None,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Run every policy over the runs as they came: what each would have wasted and failed."""
    if seed is not None and seeds:
        raise SettingsError("give either --seed or --seeds")
    largest = float(parse_size(cap, bare="GB")) if cap else None
    lifting = replace(DEFAULT.retry, rule=retry, time_to_failure=fails_after, cap_bytes=largest)
    settings = replace(DEFAULT, protocol=protocol, target=target, input_column=size_from, retry=lifting)
    if policies:
        settings = replace(settings, policies=all_policies() if policies == "all" else names(policies))
    if seed is not None or seeds:
        settings = replace(settings, seeds=_seeds(seeds) if seeds else (seed or 0,))
    if price is not None:
        settings = replace(settings, sizing=replace(settings.sizing, price_runs=price))
    with opened(home) as workbench:
        found = workbench.replay(dataset, further(settings, given), progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(replay_answer(found), as_json, lambda: _replay_text(found))


def rollup(
    dataset: Dataset,
    by: Annotated[str, typer.Option("--by", help="task, workflow, run or namespace.")] = "task",
    measure: Annotated[str, typer.Option("--measure", help="mean, peak or one_each (as published).")] = "mean",
    rule: Rule = PLAN.rule,
    headroom: Headroom = PLAN.headroom,
    price: Annotated[float, typer.Option("--price", help="Per GB·h; an assumption of yours.")] = Price().per_gb_h,
    currency: Annotated[str, typer.Option("--currency", help="Of the price.")] = Price().currency,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Add up memory, cores and money before and after a plan."""
    settings = RollupSettings(
        by=by, measure=measure, plan=PlanSettings(rule=rule, headroom=headroom), price=Price(price, currency)
    )
    with opened(home) as workbench:
        found = workbench.rollup(dataset, further(settings, given), progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(rollup_answer(found), as_json, lambda: _rollup_text(found))


def export(
    dataset: Dataset,
    to: Annotated[str, typer.Option("--to", help="csv, json, nextflow or kubernetes.", show_default=False)],
    output: Annotated[Path, typer.Option("-o", "--output", help="File to write.", show_default=False)],
    rule: Rule = PLAN.rule,
    headroom: Headroom = PLAN.headroom,
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write the advised sizes with their risk, for other programs."""
    if to not in TEXTS:
        raise SettingsError(f"--to is {to!r}; choose from {', '.join(TEXTS)}")
    if not output.parent.is_dir():
        raise SettingsError(f"there is no folder {output.parent}; make it first, or choose another for -o")
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        plan = workbench.plan(entry.hash, further(PlanSettings(rule=rule, headroom=headroom), given), progress_line())
    text = TEXTS[to](plan, Origin(entry.name, entry.hash, workprof.__version__))
    output.write_text(text, encoding="utf-8")
    answer = {"file": str(output), "rows": len(plan.tasks), "seconds": time.perf_counter() - started}
    emit(answer, as_json, lambda: f"{len(plan.tasks):,} tasks written to {output}")


def replay_answer(found: ReplayResult) -> dict[str, Any]:
    """Return the JSON document of a replay."""
    return {
        "protocol": found.protocol,
        "seed": found.seed,
        "seeds": list(found.settings.used_seeds),
        "target": found.target,
        "input": found.input_column,
        "n_tasks": found.n_tasks,
        "n_test": found.n_test,
        "n_cold": found.n_cold,
        "used_gb_h": found.used_gb_h,
        "policies": {name: _policy(one) for name, one in found.policies.items()},
        "tasks": [asdict(one) | {"failures": _count(one.failures)} for one in found.tasks],
        "frontier": [asdict(one) | {"failures": _count(one.failures)} for one in found.frontier],
        "choices": [asdict(one) for one in found.choices],
        "best_by_task": [asdict(one) for one in found.best_by_task],
        "left_out": found.left_out,
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def _policy(one: PolicyFigures) -> dict[str, Any]:
    return {
        "wasted_gb_h": one.wasted_gb_h,
        "charged_gb_h": one.charged_gb_h,
        "failures": _count(one.failures),
        "seconds": one.seconds,
        "failed_share_interval": [one.failed_share.low, one.failed_share.high],
        "saving": one.saving_share,
        "saving_interval": [one.saving.low, one.saving.high],
        "n_never_fit": one.n_never_fit,
        "n_given_up": one.n_given_up,
        "wasted_by_seed": one.wasted_by_seed.tolist(),
        "failures_by_seed": one.failures_by_seed.tolist(),
    }


def _count(mean: float) -> float | int:
    """Return a mean of counts; a whole one as the count that it is."""
    return int(mean) if float(mean).is_integer() else mean


def rollup_answer(found: Rollup) -> dict[str, Any]:
    """Return the JSON document of a roll-up."""
    return {
        "rows": [_row(one) for one in found.rows],
        "total": _row(found.total),
        "one_core_tasks": list(found.one_core_tasks),
        "left_out": found.left_out,
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def _row(one: RollupRow) -> dict[str, Any]:
    return asdict(one)


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(name) for name in names(text))
    except ValueError as error:
        raise SettingsError(f"--seeds is {text!r}; give whole numbers A,B,...") from error


def _replay_text(found: ReplayResult) -> str:
    rows: list[dict[str, object]] = [
        {
            "policy": one.policy,
            "wasted GB·h": f"{one.wasted_gb_h:,.2f}",
            "charged GB·h": f"{one.charged_gb_h:,.2f}",
            "failures": f"{one.failures:,.10g}",
            "failed runs": f"{one.failed_share.low:.2%} to {one.failed_share.high:.2%}",
            "saves": format_share(one.saving_share),
        }
        for one in sorted(found.policies.values(), key=lambda one: one.wasted_gb_h)
    ]
    sized = f"sized for {found.target}, input {found.input_column}"
    head = f"{found.n_test:,} runs of {found.n_tasks} tasks, {found.protocol}, {sized}"
    return f"{head}\n\n{table(rows)}"


def _rollup_text(found: Rollup) -> str:
    rows: list[dict[str, object]] = [
        {
            "name": one.name if len(one.name) <= 48 else f"...{one.name[-45:]}",
            "memory GB": f"{one.memory_gb.before:,.2f} -> {one.memory_gb.after:,.2f}",
            "cores": f"{one.cores.before:,.2f} -> {one.cores.after:,.2f}",
            "GB·h": f"{one.memory_gb_h.before:,.1f} -> {one.memory_gb_h.after:,.1f}",
            "failures": f"{one.n_failures:,}",
            one.money.price.currency: f"{one.money.before:,.2f} -> {one.money.after:,.2f}",
        }
        for one in (*found.rows[:SHOWN_ROWS], found.total)
    ]
    return table(rows)
