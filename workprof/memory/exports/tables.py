"""A plan as a table (CSV) and as JSON."""

from __future__ import annotations

import csv
import io
import json

from workprof.memory.exports.about import Origin, gigabytes, header_lines, mebibytes, settings_line
from workprof.memory.plans.plans import Plan, PlannedTask
from workprof.records import to_json
from workprof.spreadsheets import spreadsheet_text

COLUMNS = (
    "task",
    "runs",
    "size_gb",
    "size_mib",
    "requested_gb",
    "largest_gb",
    "class",
    "rule",
    "retry_odds",
    "retry_odds_low",
    "retry_odds_high",
    "tested_runs",
    "failed_runs",
    "too_few_runs",
    "dataset",
    "dataset_hash",
    "settings",
)


def plan_csv(plan: Plan, origin: Origin) -> str:
    """Return the plan as CSV: a header row, one row per task, dataset and settings in every row.

    A text that a spreadsheet would run as a formula gets an apostrophe in front.
    """
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(COLUMNS)
    about = (origin.dataset, origin.dataset_hash, settings_line(plan.settings))
    for task in plan.tasks:
        writer.writerow([_cell(value) for value in (*_values(task), *about)])
    return target.getvalue()


def plan_json(plan: Plan, origin: Origin) -> str:
    """Return the plan as one JSON document: `about`, `dataset`, `settings`, `tasks`, `left_out`."""
    document = {
        "about": list(header_lines(origin, plan.settings)),
        "dataset": {"name": origin.dataset, "hash": origin.dataset_hash},
        "workprof": origin.version,
        "settings": to_json(plan.settings),
        "tasks": [to_json(task) | {"size_gb": gigabytes(task.size_bytes)} for task in plan.tasks],
        "left_out": to_json(plan.left_out),
        "notes": list(plan.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=True, allow_nan=False) + "\n"


def _values(task: PlannedTask) -> tuple[object, ...]:
    risk = task.risk
    return (
        task.task,
        task.n,
        round(gigabytes(task.size_bytes), 6),
        mebibytes(task.size_bytes),
        round(gigabytes(task.requested_bytes), 6),
        round(gigabytes(task.largest_bytes), 6),
        task.size_class,
        task.rule,
        round(risk.odds, 6),
        round(risk.low, 6),
        round(risk.high, 6),
        risk.n_tested,
        risk.n_failed,
        "yes" if task.too_few else "no",
    )


def _cell(value: object) -> object:
    if isinstance(value, float) and value != value:  # noqa: PLR0124  NaN: nothing is known
        return ""
    return spreadsheet_text(value) if isinstance(value, str) else value
