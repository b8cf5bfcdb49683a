"""Two datasets side by side, in words and tables."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workprof.answers.ledger import WORDS
from workprof.answers.tasks import names_of
from workprof.core.answer import Answer, Table
from workprof.core.causes import FAILED, OUT_OF_MEMORY, TIMED_OUT
from workprof.core.scope import parsed, titled
from workprof.core.table import MEASURES, Column
from workprof.core.units import compact, format_duration, format_share, gb_h
from workprof.core.words import counted, listed, shortened
from workprof.memory.comparison import (
    APPEARED,
    GREW,
    LEAST_CHANGE,
    SHRANK,
    VANISHED,
    Comparison,
    Side,
    requested_of,
)
from workprof.memory.ledger_settings import MEMORY, PROFILE, RESOURCES, TASK


@dataclass(frozen=True)
class Measured:
    """One number of both sides."""

    measure: str
    unit: str  # of MEASURES, or hours of an amount
    before: float
    after: float

    @property
    def change(self) -> float:
        """Relative to the first; of a share the difference. NaN where either is not known, or the first is 0."""
        if self.unit == "share":
            return self.after - self.before
        return self.after / self.before - 1 if self.before else math.nan

    def words(self, value: float) -> str:
        """A value with its unit; of a saving below 0 what is held instead."""
        if math.isnan(value):
            return "no data"
        if value < 0 and self.unit == "share":
            return f"none; {format_share(-value)} more held"
        measure = MEASURES.get(self.unit)
        return measure.words(value) if measure else f"{compact(value)} {self.unit}"

    @property
    def change_words(self) -> str:
        """'+12.0 %', '-3.0 points'; from 0 on the value itself, '+250'."""
        if self.before == self.after:
            return "as before"
        if math.isnan(self.change):
            return f"+{self.words(self.after)}" if self.before == 0 and self.after > 0 else "no data"
        return f"{100 * self.change:+,.1f} {'points' if self.unit == 'share' else '%'}"


SCOPES = (
    Column("scope", lambda one: one[0], "Scope", pinned=True),
    Column("runs_of", lambda one: parsed(one[1]).words, "Runs of"),
    Column("text", lambda one: one[1], "Behind a dataset's name"),
)


def scopes_answer(saved: Mapping[str, str]) -> Answer:
    """The saved scopes; `saved`: name -> scope."""
    sentence = f"{counted(len(saved), 'saved scope')}." if saved else "No scope is saved yet."
    return Answer(sentence, tables=(Table("scopes", "Saved scopes", SCOPES, list(saved.items())),))


def comparison_answer(found: Comparison, profiles: Comparison | None = None) -> Answer:
    """Both sides: a line per number, and a line per row of their ledgers; `profiles` are the same by profile."""
    measured = _measures(*found.sides)
    tables = _sides_table(measured, tuple(titled(side.name) for side in found.sides)), rows_table(found)
    totals = {one.measure.lower().replace(" ", "_"): {"before": one.before, "after": one.after} for one in measured}
    document: dict[str, Any] = {
        "before": found.sides[0].name,
        "after": found.sides[1].name,
        "by": found.by,
        "totals": totals,
    }
    by_profile = found if found.by == PROFILE else profiles
    document["profiles"] = [] if by_profile is None else rows_table(by_profile).documents()
    return Answer(_sentence(found), tables=tables, notes=_notes(found), document=document)


def sides_table(found: Comparison, titles: tuple[str, ...]) -> Table:
    """A line per number that either side has."""
    return _sides_table(_measures(*found.sides), titles)


def _sides_table(measured: Sequence[Measured], titles: tuple[str, ...]) -> Table:
    known = [one for one in measured if not math.isnan(one.before) or not math.isnan(one.after)]
    return Table("sides", "Side by side", _side_columns(*titles), known)


def rows_table(found: Comparison) -> Table:
    """A line per row of their ledgers."""
    return Table("rows", f"By {found.by}", _part_columns(found), found.parts)


def _share(side: Side) -> float:
    return side.totals.of(MEMORY).wasted_share


def _measures(before: Side, after: Side) -> list[Measured]:
    def both(words: str, unit: str, of: Callable[[Side], float | None]) -> Measured:
        first, second = (math.nan if (value := of(side)) is None else float(value) for side in (before, after))
        return Measured(words, unit, first, second)

    def lost(cause: str) -> Callable[[Side], float]:
        return lambda side: side.totals.ended(cause)

    result = [
        both("Time covered", "s", lambda side: side.covered_s),
        both("Finished runs", "count", lambda side: side.totals.n_runs),
        both("Users", "count", lambda side: side.n_users),
        both("Median duration", "s", lambda side: side.duration_s[0]),
        both("90 % take at most", "s", lambda side: side.duration_s[1]),
    ]
    for one in RESOURCES:
        if any(side.totals.of(one.name).n_judged for side in (before, after)):
            amounts = [side.totals.of(one.name) for side in (before, after)]
            result += [
                Measured(f"Requested {WORDS[one.name]}", one.hours, *map(requested_of, amounts)),
                Measured(f"Never used of {WORDS[one.name]}", "share", *(amount.wasted_share for amount in amounts)),
            ]
    return [
        *result,
        *(both(cause.capitalize(), "count", lost(cause)) for cause in (OUT_OF_MEMORY, TIMED_OUT, FAILED)),
        both("The verdict saves", "share", lambda side: None if side.judged is None else side.judged.saved_share),
        both("Kills of the verdict", "count", lambda side: None if side.judged is None else side.judged.kills),
    ]


def _side_columns(before: str, after: str) -> tuple[Column, ...]:
    return (
        Column("measure", heading="Number", pinned=True),
        Column("before", said=lambda one: one.words(one.before), heading=before),
        Column("after", said=lambda one: one.words(one.after), heading=after),
        Column("change", said=lambda one: one.change_words, heading="Change"),
        Column("unit", aside=True),
    )


def _part_columns(found: Comparison) -> tuple[Column, ...]:
    def at(field: str, place: int) -> Callable[[Any], Any]:
        return lambda part: getattr(part, field)[place]

    names = names_of(part.name for part in found.parts) if found.by == TASK else {}
    return (
        Column("name", said=lambda part: names.get(part.name, part.name), heading=found.by.capitalize(), pinned=True),
        Column("state", heading="What became of it"),
        Column("runs_before", at("runs", 0), "Runs before", unit="count"),
        Column("runs_after", at("runs", 1), "Runs after", unit="count"),
        Column("requested_gb_h_before", at("requested", 0), "Requested before", unit="GB·h"),
        Column("requested_gb_h_after", at("requested", 1), "Requested after", unit="GB·h"),
        Column("wasted_gb_h_before", at("wasted", 0), "Never used before", unit="GB·h"),
        Column("wasted_gb_h_after", at("wasted", 1), "Never used after", unit="GB·h"),
    )


def _sentence(found: Comparison) -> str:
    before, after = found.sides
    name, other = (shortened(titled(side.name)) for side in (after, before))
    held = [side.totals.of(MEMORY).requested for side in found.sides]
    if not all(side.totals.of(MEMORY).n_judged and amount for side, amount in zip(found.sides, held, strict=True)):
        runs = [side.totals.n_runs for side in found.sides]
        return f"{name} has {counted(runs[1], 'finished run')}, {other} {runs[0]:,}."
    change, points = held[1] / held[0] - 1, 100 * (_share(after) - _share(before))
    than = f"{abs(100 * change):,.0f} % {'more' if change > 0 else 'less'}" if abs(change) >= 0.005 else "as much"
    moved = (
        f"{counted(round(abs(points)), 'point')} {'more' if points > 0 else 'less'}"
        if abs(points) >= 0.5
        else "as before"
    )
    judged = after.totals.of(MEMORY).judged_requested
    whole = "it" if math.isclose(judged, held[1]) else f"the {gb_h(judged)} of known use"
    unused = format_share(_share(after))
    return f"{name} requests {than} ({gb_h(held[1])}) and never uses {unused} of {whole}, {moved}."


def _notes(found: Comparison) -> tuple[str, ...]:
    states = {state: sum(part.state == state for part in found.parts) for state in (APPEARED, VANISHED, GREW, SHRANK)}
    told = [f"{n:,} {state}" for state, n in states.items() if n]
    lacking = [titled(side.name) for side in found.sides if side.judged is None]
    times = [side.covered_s for side in found.sides]
    unequal = abs(times[1] - times[0]) > LEAST_CHANGE * max(times)
    covered = list(map(format_duration, times))
    return (
        *((f"Of {counted(len(found.parts), found.by)}, {listed(told)}.",) if told else ()),
        *(f"No verdict can be made of {one}." for one in lacking),
        *([f"The two cover {listed(covered)}: sums are of unequal times."] if unequal else []),
    )
