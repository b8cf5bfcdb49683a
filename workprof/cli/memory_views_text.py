"""What the commands on memory that look at one thing print for people."""

from __future__ import annotations

import numpy as np

from workprof.cli.console import table
from workprof.memory.bins import ImprovementCurve
from workprof.memory.facts import FactPoints
from workprof.memory.plan import Violations
from workprof.memory.why import Why
from workprof.units import GB, format_share

SHOWN_RUNS = 30
PARTS = 4
"""Of the runs in order of a number, for people; `--json` has the points."""


def fact_text(found: FactPoints) -> str:
    """Return the use by category, or by quarters of the runs in order of the number."""
    settings = found.settings
    whose = f"task {settings.task}" if settings.task else "all tasks"
    head = (
        f"{settings.column} ({found.kind}, {found.known}) of {whose}: {found.n:,} runs, {found.n_missing:,} without it"
    )
    return f"{head}\n\n{table(_boxes(found) or _quarters(found))}"


def why_text(found: Why) -> str:
    """Return the sizes of the next run, what they rest on, and the odds of a retry."""
    sizes = ", then ".join(f"{size / GB:.3f}" for size in (found.size_bytes, found.next_bytes, found.last_bytes))
    odds = found.odds_of_retry
    asked = "" if np.isnan(found.requested_bytes) else f"; the last one asked for {found.requested_bytes / GB:.3f} GB"
    few = "\nso few runs make it a guess" if found.too_few else ""
    cheapest = found.candidate_bytes[int(found.candidate_cost_gb_h.argmin())]
    return (
        f"{found.settings.task}: {sizes} GB, from {found.n_known:,} runs that used up to "
        f"{found.used_bytes.max() / GB:.3f} GB{asked}\n"
        f"{found.n_above:,} of them used more; {found.retried:,} of {found.n_tried:,} sized so in turn failed "
        f"({format_share(odds.low)} to {format_share(odds.high)})\n"
        f"cheapest for the past runs: {cheapest / GB:.3f} GB at {found.candidate_cost_gb_h.min():.4g} GB·h a run{few}"
    )


def curve_text(found: ImprovementCurve) -> str:
    """Return the savings of every number of bins and the bounds."""
    rows: list[dict[str, object]] = [
        {
            "bins": k,
            "saves": format_share(found.optimal_improvement[at]),
            "by time": format_share(found.time_based_optimal_improvement[at]),
            "edges GB": ", ".join(f"{edge / GB:.2f}" for edge in found.edges_bytes[at]),
        }
        for at, k in enumerate(found.k)
    ]
    for name, bound in (("no bins, headroom kept", found.continuous), ("no bins, no headroom", found.oracle)):
        saves, by_time = map(format_share, (bound.optimal_improvement, bound.time_based_optimal_improvement))
        rows.append({"bins": name, "saves": saves, "by time": by_time, "edges GB": ""})
    return table(rows)


def violations_text(found: Violations) -> str:
    """Return the runs above their size."""
    rows: list[dict[str, object]] = [
        {
            "row": row,
            "task": task,
            "used GB": f"{used / GB:.3f}",
            "size GB": f"{size / GB:.3f}",
            "hours": f"{hours:.2f}",
        }
        for row, task, used, size, hours in zip(
            found.row_ids, found.tasks, found.used_bytes, found.size_bytes, found.hours, strict=True
        )
    ]
    head = f"{found.n_above:,} of {found.n_runs:,} runs used more than the plan gives them"
    rest = len(rows) - SHOWN_RUNS
    return f"{head}\n\n{table(rows[:SHOWN_RUNS])}" + (f"\n... and {rest} more: --json has them" if rest > 0 else "")


def _boxes(found: FactPoints) -> list[dict[str, object]]:
    return [
        {
            "value": box.task,
            "runs": f"{box.n:,}",
            "median GB": f"{box.median_gb:.3f}",
            "quartiles GB": f"{box.q1_gb:.3f} to {box.q3_gb:.3f}",
        }
        for box in found.boxes
    ]


def _quarters(found: FactPoints) -> list[dict[str, object]]:
    order = np.argsort(found.values, kind="stable")
    parts = [part for part in np.array_split(order, PARTS) if len(part)]
    return [
        {
            "from": f"{found.values[part[0]]:.6g}",
            "to": f"{found.values[part[-1]]:.6g}",
            "points": f"{len(part):,}",
            "median GB": f"{np.median(found.used_gb[part]):.3f}",
            "largest GB": f"{found.used_gb[part].max():.3f}",
        }
        for part in parts
    ]
