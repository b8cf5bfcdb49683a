"""`workprof memory over-time`: when memory lies idle, whose it is, and the runs of a time bin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import typer

from workprof.answers.documents import over_time_runs_document
from workprof.cli.console import table
from workprof.cli.questions import Face, add
from workprof.core.units import DAY_S, format_share, number
from workprof.memory.ledger_settings import PROFILE
from workprof.memory.over_time import BIN_WORDS, OverTime, OverTimeRuns
from workprof.memory.questions import OVER_TIME, OVER_TIME_RUNS
from workprof.profiles.names import name_of

SHOWN_BINS = 60
SHOWN_BURSTS = 5


def moment(result: OverTime, at: int) -> str:
    """Return when a bin begins: '2024-03-06', with the hour in short bins; 'day 61' where the clock has no dates."""
    local = float(result.edges_s[at]) + result.utc_offset_s
    date = datetime.fromtimestamp(local, UTC)
    day = f"{date:%Y-%m-%d}" if result.dated else f"day {local // DAY_S + 1:.0f}"
    return day if result.width_s >= DAY_S else f"{day} {date:%H:%M}"


def over_time_text(result: OverTime) -> str:
    """Return memory over time for people: the sums, the bins, the bursts."""
    share = result.total_used / result.total_requested if result.total_requested > 0 else float("nan")
    lines = [
        f"{result.n_judged:,} runs request {number(result.total_requested)} GB·h, use {format_share(share)} of it and "
        f"leave {number(result.total_unused)} GB·h unused"
    ]
    lines += [
        f"burst: {moment(result, one.bin)}, {one.row}: {number(one.unused_gb_h)} GB·h unused by {one.n_runs:,} runs"
        + (" (excluded)" if result.settings.leave_out_bursts else "")
        for one in result.bursts[:SHOWN_BURSTS]
    ]
    rows: list[dict[str, object]] = [
        {
            "at": at,
            BIN_WORDS[result.settings.bins].lower(): moment(result, at),
            "requested GB·h": number(float(result.requested[:, at].sum())),
            "used GB·h": number(float(result.used[:, at].sum())),
            "unused GB·h": number(float(result.unused[:, at].sum())),
            "most unused": result.rows[int(result.unused[:, at].argmax())] if result.unused[:, at].any() else "",
        }
        for at in range(min(result.requested.shape[1], SHOWN_BINS))
    ]
    rest = result.requested.shape[1] - len(rows)
    return "\n".join([*lines, "", table(rows), *([f"... and {rest} more bins: --json has all"] if rest > 0 else [])])


def _named(result: OverTime, names: Sequence[str]) -> OverTime:
    """Return memory over time for people: rows and bursts of profiles have their names."""
    if result.settings.by != PROFILE:
        return result
    bursts = tuple(replace(one, row=name_of(one.row, names)) for one in result.bursts)
    return replace(result, rows=tuple(name_of(row, names) for row in result.rows), bursts=bursts)


def _notes(result: OverTime) -> Iterable[str]:
    if result.n_without_time:
        yield f"{result.n_without_time:,} runs say nothing of when they ran; they are in the sums and in no bin"
    if result.n_not_judged:
        yield f"{result.n_not_judged:,} finished runs lack a request, a use or a run time and do not count"


def over_time_runs_text(result: OverTimeRuns) -> str:
    """Return the runs of a cell for people."""
    document = over_time_runs_document(result)
    by = result.settings.over.by
    rows: list[dict[str, object]] = [
        {
            "row": one["row_id"],
            by: one[by],
            "task": one["task"],
            "requested GB": number(one["requested_gb"]),
            "used GB": number(one["used_gb"]),
            "hours": number(one["hours"]),
            "hours in the bin": number(one["hours_inside"]),
            "unused GB·h": number(one["unused_gb_h"]),
        }
        for one in document["runs"]
    ]
    return f"{result.n_runs:,} runs leave {number(result.unused_gb_h)} GB·h unused\n\n{table(rows)}"


def register_on(app: typer.Typer) -> None:
    """Add the commands `over-time` and `over-time-runs` to the group."""
    add(
        app,
        Face(OVER_TIME, over_time_text, _notes, profiles_of=lambda dataset, _: dataset, named=_named),
    )
    add(app, Face(OVER_TIME_RUNS, over_time_runs_text))
