"""Home: what is requested, unused, saved and failed, each a figure; what to do, a row each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from workprof.answers.decisions import amount_words
from workprof.answers.verdict import (
    foreseen_words,
    kills_words,
    named,
    not_judged,
    saved_or_more,
    task_names,
)
from workprof.core.answer import Figure
from workprof.core.table import Column
from workprof.core.units import DAY_S, compact, dated, day_of, format_duration, format_share, gb_h, grouped
from workprof.core.words import counted
from workprof.memory.over_time import OverTime
from workprof.memory.verdict import Verdict
from workprof.memory.verdict_rows import KEEP, LOWER, RAISE, VerdictRow

REQUESTED = Column("requested_gb_h", "total_requested", "Requested", unit="GB·h", help="Requests times run time.")
UNUSED = Column(
    "unused_gb_h",
    "total_unused",
    "Unused",
    unit="GB·h",
    help="Requested and not used. A run that uses more than it requests leaves nothing unused, so used and unused "
    "memory add up to more than what is requested.",
)
PRICE = "Price per GB·h ({})"
ENDED = Column(
    "ended",
    lambda ended: sum(runs for _, runs in ended),
    "Killed or failed",
    unit="count",
    help="In fact, as the trace tells: killed for memory, timed out, killed otherwise, failed.",
)


def requested_figure(result: OverTime) -> Figure:
    """What runs requested over time."""
    return Figure(REQUESTED, result, f"by {counted(result.n_judged, 'run')}")


def unused_figure(result: OverTime) -> Figure:
    """What they did not use."""
    share = result.total_unused / result.total_requested if result.total_requested > 0 else float("nan")
    return Figure(UNUSED, result, f"{format_share(share, 0)} of requested")


def saved_figure(verdict: Verdict) -> Figure:
    """What the verdict saves, at its kills; where it holds more, the kills that it prevents."""
    judged = verdict.memory.judged
    raises = judged.saved_share < 0 and any(row.action == RAISE for row in verdict.memory.rows)
    kills = f"at {kills_words(judged.kills)} in {counted(judged.n_runs, 'later run')}"
    return Figure(saved_or_more(judged), judged, foreseen_words(verdict.memory) if raises else kills)


def as_of_words(newest_s: float, now_s: float) -> str:
    """How new the newest run is: 'As of 2026-01-31 14:05 UTC, 3 days ago.'; of a clock without dates its day."""
    if not dated(newest_s):
        return f"As of day {day_of(newest_s)}."
    age = f", {_age(now_s - newest_s)} ago" if now_s >= newest_s else ""
    return f"As of {datetime.fromtimestamp(newest_s, UTC):%Y-%m-%d %H:%M} UTC{age}."


OLD_DAYS, YEAR_DAYS = 3, 365


def _age(seconds: float) -> str:
    days = int(seconds // DAY_S)
    if days < OLD_DAYS:
        return format_duration(seconds)
    return f"{days / YEAR_DAYS:.1f} years" if days >= YEAR_DAYS else counted(days, "day")


def ended_figure(ended: Sequence[tuple[str, int]], n_runs: int) -> Figure:
    """How many of the runs ended without finishing, by cause."""
    causes = [f"{runs:,} {cause}" for cause, runs in ended if runs]
    return Figure(ENDED, ended, ", ".join(causes) or f"of {counted(n_runs, 'run')}")


@dataclass(frozen=True)
class Deed:
    """A row of the verdict as something to do."""

    row: VerdictRow
    what: str  # 'Lower ann, train: 64 -> 20.1 GB'
    saves: str  # '-70 GB·h, 3.5 USD', or why nothing: '2.5 k GB·h unused, no later run yet'; '' = of a raise


def deeds(verdict: Verdict, most: int, price_gb_h: float = 0.0, currency: str = "") -> tuple[Deed, ...]:
    """The first changes of the verdict; money where a GB·h has a price."""
    changes = [row for row in verdict.memory.rows if row.action != KEEP][:most]
    tasks = task_names(verdict.memory.rows)
    return tuple(_deed(row, named(row, tasks), price_gb_h, currency) for row in changes)


def _deed(row: VerdictRow, name: str, price_gb_h: float, currency: str) -> Deed:
    accepted = " (accepted)" if row.accepted else ""
    now, size = grouped(row.request), amount_words(row.size, "GB")
    money = f", {grouped(row.saved * price_gb_h)} {currency}" if price_gb_h > 0 else ""
    none = f"{gb_h(row.unused)} unused, {not_judged(row)}" if row.action == LOWER else ""
    none = f"{gb_h(-row.saved)} more on later runs" if row.saved < 0 else none
    saves = f"−{gb_h(row.saved)}{money}" if row.saved > 0 else none
    return Deed(row, f"{row.action.capitalize()} {name}: {now} → {size}{accepted}", saves)


def waste_words(name: str, unused_gb_h: float) -> str:
    """'Biggest waste: bert · ps, 35.1 k GB·h unused'."""
    return f"Biggest waste: {name}, {compact(unused_gb_h)} GB·h unused"
