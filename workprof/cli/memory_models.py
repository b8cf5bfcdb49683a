"""The command that trains models of a run's bin, and what it prints."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Annotated, Any

import typer

from workprof.cli.console import Home, Json, emit, names, opened, progress_line, table, warn
from workprof.cli.further_settings import With, further
from workprof.cli.memory import Dataset, Mode, Task, is_faithful
from workprof.memory.bin_models import PredictorSettings, faithful_predictor
from workprof.memory.bin_search import BinSettings
from workprof.memory.model_tables import PredictorTables, TableSettings
from workprof.memory.models import ModelResult, PredictorResult
from workprof.units import GB, format_share


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command()(train)


def train(
    dataset: Dataset,
    task: Task,
    k: Annotated[int, typer.Option("-k", help="Number of bins, 2 to 8.")] = 3,
    models: Annotated[str, typer.Option("--models", help="xgboost, svm.")] = "xgboost,svm",
    sampling: Annotated[
        str, typer.Option("--sampling", help="none, random, smote, weighted.")
    ] = "none,random,smote,weighted",
    penalty: Annotated[float, typer.Option("--penalty", help="Weight of an under-estimate in the u-score.")] = 10.0,
    trials: Annotated[int, typer.Option("--trials", help="Of the search for parameters; 0 = defaults.")] = 20,
    before: Annotated[str | None, typer.Option("--before", help="Further columns known before a run A,B.")] = None,
    after: Annotated[
        str | None, typer.Option("--after", help="Columns known only after a run that are used all the same.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of every draw.")] = 0,
    tables: Annotated[bool, typer.Option("--tables", help="The thesis' Tables 7 to 11: 2, 3 and 4 bins.")] = False,
    mode: Mode = "corrected",
    given: With = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Train models that tell a run's bin before it runs; the published estimate and a replay side by side."""
    base = faithful_predictor(task, k) if is_faithful(mode) else PredictorSettings(bins=BinSettings(task=task, k=k))
    settings = replace(
        base,
        models=names(models),
        sampling=names(sampling),
        penalty=penalty,
        trials=trials,
        before_the_run=names(before) if before else (),
        after_the_run=names(after) if after else (),
        seed=seed,
    )
    with opened(home) as workbench:
        if tables:
            _show_tables(
                workbench.bin_tables(dataset, further(TableSettings(settings), given), progress_line()), as_json
            )
            return
        found = workbench.bin_models(dataset, further(settings, given), progress_line())
    for note in found.notes:
        warn(f"note: {note}")
    emit(models_answer(found), as_json, lambda: _models_text(found))


def models_answer(found: PredictorResult) -> dict[str, Any]:
    """Return the JSON document of trained models."""
    return {
        "task": found.task,
        "edges_gb": (found.edges_bytes / GB).tolist(),
        "optimal_improvement": found.optimal_improvement,
        "models": [_model(one) for one in found.models],
        "cheapest": [_model(one) for one in found.cheapest],
        "constant": _model(found.constant),
        "cheapest_constant": _model(found.cheapest_constant),
        "ranks_differ": found.ranks_differ,
        "ranking": asdict(found.ranking),
        "inputs": [asdict(one) for one in found.inputs],
        "uses_after_the_run": found.uses_after_the_run,
        "unused": list(found.unused),
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def _model(one: ModelResult) -> dict[str, Any]:
    told = {name: value for name, value in vars(one).items() if name not in ("predicted", "u_rate_interval")}
    interval = [one.u_rate_interval.low, one.u_rate_interval.high]
    waterfall = asdict(one.waterfall)
    return told | {"confusion": one.confusion.tolist(), "u_rate_interval": interval, "waterfall": waterfall}


def _show_tables(found: PredictorTables, as_json: bool) -> None:
    for note in found.notes:
        warn(f"note: {note}")
    emit(tables_answer(found), as_json, lambda: _tables_text(found))


def tables_answer(found: PredictorTables) -> dict[str, Any]:
    """Return the JSON document of the tables."""
    return {
        "tables_7_8": [asdict(row) for row in found.models],
        "tables_9_10": [asdict(row) for row in found.samplings],
        "table_11": [asdict(row) | {"edges_gb": [edge / GB for edge in row.edges_bytes]} for row in found.binnings],
        "best_k_by_estimate": found.best_k_by_estimate,
        "best_k_by_replay": found.best_k_by_replay,
        "ranks_differ": found.ranks_differ,
        "notes": list(found.notes),
        "seconds": found.seconds,
    }


def _tables_text(found: PredictorTables) -> str:
    models: list[dict[str, object]] = [
        {"bins": one.k, "model": f"{one.model}, {one.sampling}", "accuracy": format_share(one.accuracy)}
        | {"u-score": f"{one.u_score:.1f}"}
        for one in found.models
    ]
    samplings: list[dict[str, object]] = [
        {"bins": one.k, "model": one.model, "sampling": one.sampling, "done": one.done, "u-score": f"{one.u_score:.1f}"}
        for one in found.samplings
    ]
    binnings: list[dict[str, object]] = [
        {"bins": one.k, "model": one.model, "optimal": format_share(one.optimal_improvement)}
        | {"estimated": format_share(one.estimated_improvement), "replayed": format_share(one.replayed_improvement)}
        for one in found.binnings
    ]
    parts = ("Tables 7, 8", table(models), "Tables 9, 10", table(samplings), "Table 11", table(binnings))
    differ = f"the estimate prefers {found.best_k_by_estimate} bins, the replay {found.best_k_by_replay}"
    return "\n\n".join((*parts, differ))


def _models_text(found: PredictorResult) -> str:
    rows: list[dict[str, object]] = [
        {
            "model": one.name,
            "accuracy": format_share(one.accuracy),
            "u-score": f"{one.u_score:.1f}",
            "under-estimated": format_share(one.u_rate),
            "95 % interval": f"{one.u_rate_interval.low:.1%} to {one.u_rate_interval.high:.1%}",
            "estimated": format_share(one.estimated_improvement),
            "replayed": format_share(one.replayed_improvement),
        }
        for one in (*found.models, *found.cheapest, found.constant, found.cheapest_constant)
    ]
    warning = "\nestimate and replay rank these models differently: trust the replay" if found.ranks_differ else ""
    return table(rows) + warning
