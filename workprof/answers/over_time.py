"""Memory over time: when it lies idle and whose it is, in words and tables; the runs of a row and a time."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workprof.answers.tasks import task_labels
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import DAY_S, compact, format_share
from workprof.core.words import counted, listed
from workprof.memory.ledger_runs import NOT_SEEN, UNCLUSTERED
from workprof.memory.ledger_settings import PROFILE, TASK
from workprof.memory.over_time import BIN_WORDS, OTHERS, OverTime, OverTimeRuns
from workprof.profiles.names import name_of

BURSTS_NAMED = 2


def called(result: OverTime, profiles: Sequence[str]) -> OverTime:
    """Memory over time for people: rows and bursts of profiles have their names."""
    if result.settings.by != PROFILE:
        return result
    bursts = tuple(replace(one, row=name_of(one.row, profiles)) for one in result.bursts)
    return replace(result, rows=tuple(name_of(row, profiles) for row in result.rows), bursts=bursts)


def row_names(result: OverTime, profiles: Sequence[str] = ()) -> dict[str, str]:
    """Name of a row in the result -> what is shown: the profile's name, 'Unclustered', the task's last part.

    `profiles` are names by label, as `Workbench.profile_names` has them.
    """
    by = result.settings.by
    if by == PROFILE:
        known = {UNCLUSTERED: "Unclustered", NOT_SEEN: "Not clustered"}
        return {row: known.get(row) or name_of(row, profiles) for row in result.rows}
    if by == TASK:
        return {task: name for name, task in task_labels(result.rows).items()}
    return {row: row for row in result.rows}


def moment(result: OverTime, place: int) -> str:
    """When a bin begins: '6 Mar', '6 Mar 14:00'; years where the trace has several.

    Of a clock without dates it is the number of its day, 'day 61'.
    """
    local = float(result.edges_s[place]) + result.utc_offset_s
    date = dt.datetime.fromtimestamp(local, dt.UTC)
    years = {dt.datetime.fromtimestamp(float(edge), dt.UTC).year for edge in result.edges_s[[0, -1]]}
    text = f"{date.day} {date:%b}" + (f" {date.year}" if len(years) > 1 else "")
    if not result.dated:
        text = f"day {math.floor(local / DAY_S) + 1:,}"
    return text if result.width_s >= DAY_S else f"{text} {date:%H:%M}"


def largest_named(result: OverTime) -> int:
    """The place of the row that leaves most unused; one that stands for no group only where it is alone."""
    idle = result.unused.sum(axis=1)
    of_none = (UNCLUSTERED, NOT_SEEN, OTHERS)
    named = [row for row, name in enumerate(result.rows) if name not in of_none and idle[row] > 0]
    return max(named, key=lambda row: float(idle[row])) if named else int(idle.argmax())


def bursts_words(result: OverTime, names: Mapping[str, str]) -> tuple[str, ...]:
    """The bursts by name, one text per bin, the largest first: '6 Mar: bert · worker (P0)'."""
    rows: dict[int, list[str]] = {}
    for one in result.bursts:
        rows.setdefault(one.bin, []).append(names.get(one.row, one.row))
    return tuple(f"{moment(result, place)}: {listed(named)}" for place, named in rows.items())


def over_time_sentence(result: OverTime, names: Mapping[str, str]) -> str:
    """Which rows leave most unused and which bursts there are, in one or two sentences."""
    idle = result.unused.sum(axis=1)
    if not idle.sum() > 0:
        return "No run leaves requested memory unused."

    def amount(row: int) -> str:
        return f"{compact(float(idle[row]))} GB·h ({format_share(float(idle[row] / idle.sum()), 0)})"

    first = largest_named(result)
    text = f"{names[result.rows[first]]} leaves most unused, {amount(first)}"
    text += f"; unclustered runs {amount(0)}." if first != 0 and result.rows[0] == UNCLUSTERED else "."
    if not result.bursts:
        return text
    named = bursts_words(result, names)
    message = "; ".join(
        [*named[:BURSTS_NAMED], *([f"{len(named) - BURSTS_NAMED:,} more"] if named[BURSTS_NAMED:] else [])]
    )
    share = format_share(sum(one.share for one in result.bursts), 0)
    gone = " (excluded)" if result.settings.leave_out_bursts else ""
    return f"{text} Burst{'s' * (len(named) > 1)}{gone} on {message}, {share} of all unused memory."


def left_out_words(result: OverTime) -> str:
    """The runs that are in no bin, in a sentence; '' = none."""
    parts = []
    if result.n_not_judged:
        parts.append(f"{counted(result.n_not_judged, 'finished run')} without request, use or run time are excluded")
    if result.n_without_time:
        parts.append(f"{counted(result.n_without_time, 'run')} without times are in the sums, in no bin")
    return f"{'; '.join(parts)}." if parts else ""


def _sums(result: OverTime, names: Mapping[str, str]) -> Table:
    """A line per time bin: its sums over the rows, and the row that leaves most unused."""

    def most(at: int) -> str:
        unused = result.unused[:, at]
        return names[result.rows[int(unused.argmax())]] if unused.any() else ""

    columns = (
        Column("at", lambda at: at, "At", unit="count", help="For `memory over-time-runs --at`."),
        Column("from_s", lambda at: float(result.edges_s[at]), shown=False),
        Column("when", lambda at: moment(result, at), BIN_WORDS[result.settings.bins]),
        Column("requested_gb_h", lambda at: float(result.requested[:, at].sum()), "Requested", unit="GB·h"),
        Column("used_gb_h", lambda at: float(result.used[:, at].sum()), "Used", unit="GB·h"),
        Column("unused_gb_h", lambda at: float(result.unused[:, at].sum()), "Unused", unit="GB·h"),
        Column("most_unused", most, "Most unused"),
    )
    return Table("bins", "Time bins", columns, range(result.requested.shape[1]))


def _bursts(result: OverTime, names: Mapping[str, str]) -> Table:
    columns = (
        Column("when", lambda one: moment(result, one.bin), BIN_WORDS[result.settings.bins]),
        Column("name", lambda one: names.get(one.row, one.row), "Row"),
        Column("unused_gb_h", heading="Unused", unit="GB·h"),
        Column("share", heading="Of all unused", unit="share"),
        Column("n_runs", heading="Runs", unit="runs"),
        Column("from_s", lambda one: float(result.edges_s[one.bin]), shown=False),
        *(Column(name, shown=False) for name in ("row", "bin")),
    )
    gone = " (excluded)" if result.settings.leave_out_bursts else ""
    return Table("bursts", f"Bursts{gone}", columns, result.bursts)


def cells_table(result: OverTime, names: Mapping[str, str]) -> Table:
    """A line per row and bin in which it has runs."""
    columns = (
        Column(result.settings.by, lambda cell: names[result.rows[cell[0]]]),
        Column("from_s", lambda cell: float(result.edges_s[cell[1]])),
        Column("when", lambda cell: moment(result, cell[1])),
        Column("runs", lambda cell: result.n_runs[cell]),
        Column("requested_gb_h", lambda cell: result.requested[cell]),
        Column("used_gb_h", lambda cell: result.used[cell]),
        Column("unused_gb_h", lambda cell: result.unused[cell]),
    )
    return Table(
        "cells", "Rows and bins", columns, list(zip(*map(np.ndarray.tolist, np.nonzero(result.n_runs)), strict=True))
    )


def over_time_answer(result: OverTime, names: Mapping[str, str] | None = None) -> Answer:
    """When memory lies idle, and whose it is; `names` of the rows, as `row_names` has them."""
    names = row_names(result) if names is None else names
    share = format_share(result.total_used / result.total_requested) if result.total_requested > 0 else "no data"
    totals = (
        f"{counted(result.n_judged, 'run')} {'requests' if result.n_judged == 1 else 'request'} "
        f"{compact(result.total_requested)} GB·h, {'uses' if result.n_judged == 1 else 'use'} {share} of it and "
        f"{'leaves' if result.n_judged == 1 else 'leave'} {compact(result.total_unused)} GB·h unused."
    )
    own = ("dated", "utc_offset_s", "n_judged", "n_not_judged", "n_without_time", "seconds")
    amounts = {"requested_gb_h": result.requested, "used_gb_h": result.used, "unused_gb_h": result.unused}
    return Answer(
        f"{totals} {over_time_sentence(result, names)}",
        tables=(_sums(result, names), *([_bursts(result, names)] if result.bursts else [])),
        notes=tuple(filter(None, (left_out_words(result),))),
        document={
            **{name: getattr(result, name) for name in own},
            "by": result.settings.by,
            "bin": result.settings.bins,
            "bin_seconds": result.width_s,
            "requested_gb_h": result.total_requested,
            "used_gb_h": result.total_used,
            "unused_gb_h": result.total_unused,
            "rows": [
                {result.settings.by: name, **{key: of[at] for key, of in amounts.items()}, "n_runs": result.n_runs[at]}
                for at, name in enumerate(result.rows)
            ],
            **({} if result.bursts else {"bursts": ()}),
            "bursts_left_out": result.settings.leave_out_bursts,
        },
    )


def cell_words(result: OverTime, runs: OverTimeRuns, names: Mapping[str, str]) -> str:
    """Whose runs they are and when: ' of bert · worker (P0), 6 Mar'."""
    settings = runs.settings
    where = f" of {names.get(settings.row, settings.row)}" if settings.row else ""
    return where + (f", {moment(result, settings.cell)}" if settings.cell is not None else "")


def over_time_runs_answer(result: OverTimeRuns, where: str = "") -> Answer:
    """The runs of a cell, the one that leaves most unused first; `where` = `cell_words`."""
    by = result.settings.over.by
    columns = (
        Column("row_id", lambda at: int(result.row_ids[at]), "Row", form="%d"),
        Column(by, lambda at: result.names[at], shown=by != TASK and not result.settings.row),
        Column("task", lambda at: result.tasks[at], "Task", pinned=True),
        Column("requested_gb", lambda at: float(result.requested_gb[at]), "Requested", unit="GB"),
        Column("used_gb", lambda at: float(result.used_gb[at]), "Used", unit="GB"),
        Column("hours", lambda at: float(result.hours[at]), "Run time", unit="h"),
        Column("hours_inside", lambda at: float(result.hours_inside[at]), "In this time", unit="h"),
        Column("unused_gb_h", lambda at: float(result.unused_each_gb_h[at]), "Unused", unit="GB·h"),
    )
    return Answer(
        f"{counted(result.n_runs, 'run')}{where}: {compact(result.unused_gb_h)} GB·h unused.",
        tables=(Table("runs", "Runs, most unused first", columns, range(len(result.row_ids))),),
        document={"n_runs": result.n_runs, "unused_gb_h": result.unused_gb_h},
    )
