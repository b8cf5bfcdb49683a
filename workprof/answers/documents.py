"""Nested documents of memory: what commands, the service and scripts read."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from workprof.core.units import GB
from workprof.memory.assessment import Assessment
from workprof.memory.facts import FactPoints
from workprof.memory.ledger import LedgerRunList
from workprof.memory.ledger_settings import RESOURCES
from workprof.memory.model_tables import PredictorTables
from workprof.memory.models import ModelResult, PredictorResult
from workprof.memory.over_time import OverTime, OverTimeRuns
from workprof.memory.policies import BY_TASK
from workprof.memory.policy_figures import PolicyFigures
from workprof.memory.replay import ReplayResult
from workprof.memory.why import Why


def assessment_document(result: Assessment) -> dict[str, Any]:
    """Return the JSON document of an assessment."""
    names = (
        *("task", "n", "requested_gb", "utilisation", "utilisation_by_time", "cpu_utilisation"),
        *("cpu_utilisation_by_time", "requested_gb_h", "wasted_gb_h", "too_few", "n_without_request", "n_without_use"),
        *("n_lower_bound", "n_over_request"),
    )
    return {
        "n_finished": result.n_finished,
        "n_runs": result.n_runs,
        "n_requesting": result.n_requesting,
        "n_judged": result.n_judged,
        "n_lower_bound": result.n_lower_bound,
        "n_without_use": result.memory.n_without_use,
        "requested_gb_h": result.requested_gb_h,
        "used_gb_h": result.used_gb_h,
        "wasted_gb_h": result.wasted_gb_h,
        "memory": asdict(result.memory),
        "cpu": asdict(result.cpu),
        "tasks": [
            {name: getattr(one, name) for name in names} | {"peak_gb": asdict(one.peak_gb), "class": one.size_class}
            for one in result.tasks
        ],
        "groups": [asdict(one) for one in result.groups],
        "features": [asdict(one) for one in result.features.facts],
        "features_n_drawn": result.features.n_drawn,
        "features_left_out": [asdict(one) for one in result.features.left_out],
        "left_out": result.left_out,
        "evidence": [asdict(one) for one in result.evidence],
        "seconds": result.seconds,
    }


def fact_document(result: FactPoints) -> dict[str, Any]:
    """Return the JSON document of a fact: use in GB (1e9 bytes)."""
    return {
        **asdict(result.settings),
        "kind": result.kind,
        "known": result.known,
        "values": result.values,
        "used_gb": result.used_gb,
        "boxes": [{"value": box.pop("task"), **box} for box in map(asdict, result.boxes)],
        "n": result.n,
        "n_missing": result.n_missing,
        "seconds": result.seconds,
    }


def why_document(result: Why) -> dict[str, Any]:
    """Return the JSON document of a size and its reasons: sizes and uses in GB (1e9 bytes)."""
    return {
        "task": result.settings.task,
        "policy": BY_TASK,
        "input": result.settings.input_column,
        "input_value": result.input_value,
        "n_known": result.n_known,
        "too_few": result.too_few,
        "size_gb": result.size_bytes / GB,
        "next_gb": result.next_bytes / GB,
        "last_gb": result.last_bytes / GB,
        "requested_gb": result.requested_bytes / GB,
        "margin_share": result.margin_share,
        "n_above": result.n_above,
        "retried": result.retried,
        "n_tried": result.n_tried,
        "odds_of_retry": asdict(result.odds_of_retry),
        "history": {"used_gb": result.used_bytes / GB, "hours": result.hours, "inputs": result.inputs},
        "candidates": {
            "size_gb": result.candidate_bytes / GB,
            "cost_gb_h": result.candidate_cost_gb_h,
            "chosen": result.chosen,
        },
        "seconds": result.seconds,
    }


def models_document(result: PredictorResult) -> dict[str, Any]:
    """Return the JSON document of trained models."""
    return {
        "task": result.task,
        "edges_gb": (result.edges_bytes / GB).tolist(),
        "optimal_improvement": result.optimal_improvement,
        "models": [_model(one) for one in result.models],
        "cheapest": [_model(one) for one in result.cheapest],
        "constant": _model(result.constant),
        "cheapest_constant": _model(result.cheapest_constant),
        "ranks_differ": result.ranks_differ,
        "ranking": asdict(result.ranking),
        "inputs": [asdict(one) for one in result.inputs],
        "uses_after_the_run": result.uses_after_the_run,
        "unused": list(result.unused),
        "notes": list(result.notes),
        "seconds": result.seconds,
    }


def tables_document(result: PredictorTables) -> dict[str, Any]:
    """Return the JSON document of the tables."""
    return {
        "tables_7_8": [asdict(row) for row in result.models],
        "tables_9_10": [asdict(row) for row in result.samplings],
        "table_11": [asdict(row) | {"edges_gb": [edge / GB for edge in row.edges_bytes]} for row in result.binnings],
        "best_k_by_estimate": result.best_k_by_estimate,
        "best_k_by_replay": result.best_k_by_replay,
        "ranks_differ": result.ranks_differ,
        "notes": list(result.notes),
        "seconds": result.seconds,
    }


def replay_document(result: ReplayResult) -> dict[str, Any]:
    """Return the JSON document of a replay."""
    return {
        "protocol": result.protocol,
        "known": result.known,
        "seed": result.seed,
        "seeds": list(result.settings.used_seeds),
        "target": result.target,
        "input": result.input_column,
        "n_tasks": result.n_tasks,
        "n_test": result.n_test,
        "n_cold": result.n_cold,
        "n_history": result.n_history,
        "used_gb_h": result.used_gb_h,
        "policies": {name: _policy(one) for name, one in result.policies.items()},
        "tasks": [asdict(one) | {"failures": _count(one.failures)} for one in result.tasks],
        "frontier": [
            asdict(one) | {"price": one.price_runs, "failures": _count(one.failures)} for one in result.frontier
        ],
        "foreseen": None if result.foreseen is None else asdict(result.foreseen),
        "choices": [asdict(one) for one in result.choices],
        "best_by_task": [asdict(one) for one in result.best_by_task],
        "left_out": result.left_out,
        "evidence": [asdict(one) for one in result.evidence],
        "notes": list(result.notes),
        "seconds": result.seconds,
        "compared": None if result.compared is None else asdict(result.compared),
    }


def ledger_runs_document(result: LedgerRunList) -> dict[str, Any]:
    """Return the JSON document of the runs behind a number; amounts in the resource's unit."""
    one = next(one for one in RESOURCES if one.name == result.resource)
    columns = (result.row_ids, result.requested, result.used, result.hours, result.wasted_each)
    names = ("row_id", "requested", "used", "hours", "wasted")
    return {
        "n_runs": result.n_runs,
        "resource": result.resource,
        "wasted": result.wasted,
        "wasted_unit": result.unit,
        "unit": one.unit,
        "runs": [
            {result.settings.ledger.by: name, "task": task} | dict(zip(names, values, strict=True))
            for name, task, *values in zip(
                result.names, result.tasks, *(column.tolist() for column in columns), strict=True
            )
        ],
    }


def over_time_document(result: OverTime) -> dict[str, Any]:
    """Return the JSON document of memory over time: GB·h of every row in every bin, times in seconds."""
    return {
        "by": result.settings.by,
        "bin": result.settings.bins,
        "bin_seconds": result.width_s,
        "dated": result.dated,
        "utc_offset_s": result.utc_offset_s,
        "requested_gb_h": result.total_requested,
        "used_gb_h": result.total_used,
        "unused_gb_h": result.total_unused,
        "n_judged": result.n_judged,
        "n_not_judged": result.n_not_judged,
        "n_without_time": result.n_without_time,
        "bins": [
            {"at": at, "from_s": start, "requested_gb_h": requested, "used_gb_h": used, "unused_gb_h": unused}
            for at, (start, requested, used, unused) in enumerate(
                zip(
                    result.edges_s[:-1].tolist(),
                    result.requested.sum(axis=0).tolist(),
                    result.used.sum(axis=0).tolist(),
                    result.unused.sum(axis=0).tolist(),
                    strict=True,
                )
            )
        ],
        "rows": [
            {
                result.settings.by: name,
                "requested_gb_h": result.requested[at].tolist(),
                "used_gb_h": result.used[at].tolist(),
                "unused_gb_h": result.unused[at].tolist(),
                "n_runs": result.n_runs[at].tolist(),
            }
            for at, name in enumerate(result.rows)
        ],
        "bursts": [asdict(one) | {"from_s": float(result.edges_s[one.bin])} for one in result.bursts],
        "bursts_left_out": result.settings.leave_out_bursts,
        "seconds": result.seconds,
    }


def over_time_runs_document(result: OverTimeRuns) -> dict[str, Any]:
    """Return the JSON document of the runs of a cell: sizes in GB (1e9 bytes)."""
    numbers = (result.row_ids, result.requested_gb, result.used_gb, result.hours, result.hours_inside)
    keys = ("row_id", "requested_gb", "used_gb", "hours", "hours_inside", "unused_gb_h")
    return {
        "n_runs": result.n_runs,
        "unused_gb_h": result.unused_gb_h,
        "runs": [
            {result.settings.over.by: name, "task": task} | dict(zip(keys, values, strict=True))
            for name, task, *values in zip(
                result.names,
                result.tasks,
                *(column.tolist() for column in (*numbers, result.unused_each_gb_h)),
                strict=True,
            )
        ],
    }


def _model(one: ModelResult) -> dict[str, Any]:
    document = {name: value for name, value in vars(one).items() if name not in ("predicted", "u_rate_interval")}
    interval = [one.u_rate_interval.low, one.u_rate_interval.high]
    waterfall = asdict(one.waterfall)
    return document | {"confusion": one.confusion.tolist(), "u_rate_interval": interval, "waterfall": waterfall}


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
        "n_sized_from": one.n_sized_from,
    }


def _count(mean: float) -> float | int:
    """Return a mean of counts; a whole one as the count that it is."""
    return int(mean) if float(mean).is_integer() else mean
