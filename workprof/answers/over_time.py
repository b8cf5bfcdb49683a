"""Memory over time: when it lies idle and whose it is, in words and tables; the runs of a row and a time."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workprof.answers.runs import never_used
from workprof.answers.tasks import names_of
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import DAY_S, compact, day_of, format_share
from workprof.core.words import counted
from workprof.memory.demand import Demand
from workprof.memory.ledger_runs import NOT_SEEN, UNCLUSTERED
from workprof.memory.ledger_settings import PROFILE, TASK
from workprof.memory.over_time import BIN_WORDS, OTHERS, OverTime, OverTimeRuns
from workprof.profiles.names import UNCLUSTERED as CALLED_UNCLUSTERED, name_of

LASTS = {name: words.lower() if words[0].isdigit() else f"one {words.lower()}" for name, words in BIN_WORDS.items()}


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
        return names_of(result.rows)
    return {row: row for row in result.rows}


def moment(result: OverTime | Demand, place: int) -> str:
    """When a bin begins: '6 Mar', '6 Mar 14:00'; years where the trace has several.

    Of a clock without dates it is the number of its day as in a period, 'day 60'.
    """
    local = float(result.edges_s[place]) + result.utc_offset_s
    date = dt.datetime.fromtimestamp(local, dt.UTC)
    years = {dt.datetime.fromtimestamp(float(edge), dt.UTC).year for edge in result.edges_s[[0, -1]]}
    text = f"{date.day} {date:%b}" + (f" {date.year}" if len(years) > 1 else "")
    if not result.dated:
        text = f"day {day_of(local):,}"
    return text if result.width_s >= DAY_S else f"{text} {date:%H:%M}"


def largest_named(result: OverTime) -> int:
    """The place of the row that leaves most unused; one that stands for no group only where it is alone."""
    idle = result.unused.sum(axis=1)
    of_none = (UNCLUSTERED, CALLED_UNCLUSTERED, NOT_SEEN, OTHERS)
    named = [row for row, name in enumerate(result.rows) if name not in of_none and idle[row] > 0]
    return max(named, key=lambda row: float(idle[row])) if named else int(idle.argmax())


def memory_sentence(result: OverTime) -> str:
    """How much of the requested memory is never used."""
    return never_used("memory", result.total_unused, result.total_requested, "GB·h")


def judged_sentence(result: OverTime, n_runs: int, n_users: int | None) -> str:
    """Of which runs of a trace the sums are, and what is used above the requests where that is much."""
    by = f" by {counted(n_users, 'user')}" if n_users else ""
    of = f"{result.n_judged:,} of " if result.n_judged < n_runs else ""
    finished = ", which finished with a request and a use" if of else ""
    text = f"Of {of}{counted(n_runs, 'run')}{by}{finished}."
    above = result.total_used + result.total_unused - result.total_requested
    if above < ABOVE_NAMED * result.total_requested or not result.total_requested > 0:
        return text
    return f"{text} Another {format_share(above / result.total_requested, 0)} is used above the requests."


ABOVE_NAMED = 0.005
"""Share of the requested memory from which used and unused memory visibly add up to more than 100 %."""


def over_time_sentence(result: OverTime, names: Mapping[str, str]) -> str:
    """Which row wastes most and which peaks there are, in one or two sentences."""
    idle = result.unused.sum(axis=1)
    if not idle.sum() > 0:
        return "No run leaves requested memory unused."
    first = largest_named(result)
    name, share = names[result.rows[first]], format_share(float(idle[first] / idle.sum()), 0)
    without = bool(result.bursts) and result.settings.leave_out_bursts
    text = f"{'Without peaks, of' if without else 'Of'} all {result.settings.by}s, {name} wastes most: {share}."
    if len(result.rows) == 1:
        text = f"All of it is wasted by {name}."
    if first != 0 and result.rows[0] in (UNCLUSTERED, CALLED_UNCLUSTERED):
        text += f" Unclustered runs waste {format_share(float(idle[0] / idle.sum()), 0)}."
    if not result.bursts:
        return text
    n_bins, largest = len({one.bin for one in result.bursts}), result.bursts[0]
    peak = f"a peak of {LASTS[result.settings.bins]}:" if n_bins == 1 else f"{n_bins:,} peaks, the largest:"
    where = f"{names.get(largest.row, largest.row)}, {moment(result, largest.bin)} ({format_share(largest.share, 0)})"
    return f"{text} {'Excludes' if result.settings.leave_out_bursts else 'Includes'} {peak} {where}."


def left_out_words(result: OverTime) -> str:
    """The runs that are in no bin, in a sentence; '' = none."""
    counts = (
        (result.n_not_judged, "finished run", "without request, use or run time", "excluded"),
        (result.n_unfinished, "run", "that did not finish", "excluded"),
        (result.n_without_time, "run", "without times", "in the sums, in no bin"),
    )
    parts = [
        f"{counted(count, noun)} {which} {'is' if count == 1 else 'are'} {where}"
        for count, noun, which, where in counts
        if count
    ]
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
    own = ("dated", "utc_offset_s", "n_judged", "n_not_judged", "n_unfinished", "n_without_time", "seconds")
    amounts = {"requested_gb_h": result.requested, "used_gb_h": result.used, "unused_gb_h": result.unused}
    return Answer(
        f"{memory_sentence(result)} {over_time_sentence(result, names)}",
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
