"""What changed since the last week or month, and what advice saved in fact: in words and tables."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from workprof.answers.comparison import rows_table, sides_table
from workprof.answers.help.terms import heading
from workprof.answers.tasks import names_of, shown
from workprof.answers.verdict import KEY_WORDS
from workprof.core.answer import Answer, Figure, Table
from workprof.core.causes import FAILED
from workprof.core.scope import period_words
from workprof.core.table import Column
from workprof.core.units import compact, day_of, format_share, gb, gb_h, number
from workprof.core.words import counted, listed
from workprof.memory.changes import Changes, DegradedNode, Worse
from workprof.memory.comparison import APPEARED, VANISHED
from workprof.memory.decisions import parts_of
from workprof.memory.ledger_settings import MEMORY, TASK as BY_TASK
from workprof.memory.realised import Realised, RealisedSaving

TASK = "task_name"


def key_words(key: dict[str, str]) -> str:
    """A key on one line: 'ann, train'."""
    return ", ".join(shown(value) if name == TASK else value for name, value in key.items() if value) or "all runs"


def moment_words(moment_s: float, *, dated: bool) -> str:
    """A moment of the trace's clock: '2026-01-31 14:05 UTC', or 'day 71'."""
    if not dated:
        return f"day {day_of(moment_s)}"
    return f"{datetime.fromtimestamp(moment_s, UTC):%Y-%m-%d %H:%M} UTC"


def as_of_words(result: Changes) -> str:
    """How new the newest run is: 'as of 2026-01-31 14:05 UTC'."""
    return f"as of {moment_words(result.newest_s, dated=result.dated)}"


def _share(result: Changes, side: int) -> float:
    return result.compared.sides[side].totals.of(MEMORY).wasted_share


UNUSED = Column(
    "unused_share",
    lambda one: _share(one, 1),
    "Never used",
    unit="share",
    help="Of the GB·h that the runs of the period requested.",
)
KILLED = Column(
    "killed",
    lambda one: one.kills[1],
    "Killed runs",
    unit="count",
    help="Runs that were killed for memory or timed out in fact.",
)
KILLS_PER_DAY = Column(
    "kills_per_day",
    lambda one: one.kills[1] / one.days[1],
    "Kills per day",
    form="%,.3g",
    help="Runs killed for memory or timed out, by days of the period.",
)
SAVED_IN_FACT = Column(
    "realised_gb_h",
    "saved",
    "Saved in fact",
    unit="GB·h",
    help="By later runs that moved to the advice: request of before less their own, times their own hours.",
)
LOST = Column("lost_gb_h", "lost", "Lost", unit="GB·h", help="Held by runs that moved and were killed for memory.")


def points_words(before: float, after: float) -> str:
    """'3 points less', 'as before'; '' where either is not known."""
    points = 100 * (after - before)
    if math.isnan(points):
        return ""
    if round(abs(points)) == 0:
        return "as before"
    return f"{counted(round(abs(points)), 'point')} {'more' if points > 0 else 'less'}"


def more_words(before: int, after: int) -> str:
    """'4 more', '2 fewer', 'as before'."""
    return "as before" if before == after else f"{abs(after - before):,} {'more' if after > before else 'fewer'}"


def changes_sentence(result: Changes) -> str:
    """Waste and kills of the last period, against the one before; and runs that failed, where more did."""
    period, (before, after) = period_words(result.periods[1]), result.kills
    period = f"{period[0].upper()}{period[1:]}"
    verb = "was" if after < 2 else "were"
    killed = f"{counted(after, 'run') if after else 'no run'} {verb} killed, {more_words(before, after)}"
    failures = [side.totals.ended(FAILED) for side in result.compared.sides]
    if failures[1] > failures[0]:
        killed += f"; {failures[1]:,} failed, {more_words(*failures)}"
    if math.isnan(_share(result, 1)):
        return f"{period}: {killed}."
    points = points_words(_share(result, 0), _share(result, 1))
    return f"{period}: {format_share(_share(result, 1), 0)} never used{f', {points}' if points else ''}; {killed}."


def changes_figures(result: Changes) -> tuple[Figure, ...]:
    """Waste, kills, and what advice saved, each against the period before."""
    before, after = result.kills
    made = [Figure(UNUSED, result, points_words(_share(result, 0), _share(result, 1)))]
    made.append(Figure(KILLED, result, more_words(before, after)))
    if result.taken_up is not None and result.taken_up.rows:
        made.append(Figure(SAVED_IN_FACT, result.taken_up, taken_up_words(result.taken_up)))
    return tuple(made if not math.isnan(_share(result, 1)) else made[1:])


def taken_up_words(found: RealisedSaving) -> str:
    """'5 of 20 accepted rows taken up'; of what nobody was told '5 of 20 rows moved as a plan on earlier runs says'."""
    if found.accepted:
        return f"{found.taken_up:,} of {counted(len(found.rows), 'accepted row')} taken up"
    return f"{found.taken_up:,} of {counted(len(found.rows), 'row')} moved as a plan on earlier runs says"


def parts_words(result: Changes, state: str) -> str:
    """The rows that appeared or vanished, by name: 'profile a and 2 more'; '' = none."""
    parts = result.compared.parts
    known = names_of(one.name for one in parts) if result.compared.by == BY_TASK else {}
    names = [known.get(one.name, one.name) for one in parts if one.state == state]
    return listed([*names[:2], *([f"{len(names) - 2:,} more"] if len(names) > 2 else [])]) if names else ""


def worse_words(one: Worse) -> str:
    """'ann, train leaves 12 of 16 GB unused, 8 of 16 GB before', or who was killed more often."""
    key = key_words(one.key)
    if not one.extra:
        was = f"{one.n_killed[0]:,} of {one.n_runs[0]:,} before"
        return f"{key}: {one.n_killed[1]:,} of {counted(one.n_runs[1], 'run')} killed, {was}"
    now = f"{number(one.unused[1])} of {number(one.request[1])} GB unused"
    return f"{key}: {now}, {gb(one.unused[0])} before"


def worse_line(one: Worse) -> str:
    """A row that got worse as a line of Home."""
    return f"Worse: {worse_words(one)}"


def taken_up_line(found: RealisedSaving) -> str:
    """What was taken up as a line of Home."""
    saved = f", {gb_h(found.saved)} saved in fact" if found.saved > 0 else ""
    return f"{taken_up_words(found)}{saved}"


def clock_s(found: Changes) -> float:
    """The newest moment of a trace as other dates are, in seconds since 1970; NaN where its clock shows none."""
    return found.newest_s if found.dated else math.nan


def degraded_words(nodes: Sequence[DegradedNode]) -> str:
    """'Newest runs flagged: node-3 (disk, of bench)'; what to do with a node is the ranking's verdict."""
    names = [f"{one.node} ({', '.join(one.benchmarks)}, of {one.dataset})" for one in nodes]
    return f"Newest runs flagged: {listed([*names[:2], *([f'{len(names) - 2:,} more'] if len(names) > 2 else [])])}"


def before_words(rows: int) -> str:
    """What stands over the button that compares the periods of a large trace."""
    return f"What changed in {counted(rows, 'run')} is not computed yet."


def drift_words(result: Changes) -> str:
    """'memory use moved from 4 to 9 GB'; '' = nothing drifted."""
    told = [f"{one.what} from {compact(one.before)} to {compact(one.after)} {one.unit}" for one in result.drift]
    return f"Medians moved: {listed(told)}" if told else ""


def _key_columns(rows: Sequence[Any], key: Any) -> tuple[Column, ...]:
    names = dict.fromkeys(name for row in rows for name in key(row))

    def value(name: str) -> Any:
        return lambda row: key(row).get(name)

    return tuple(Column(name, value(name), KEY_WORDS.get(name, ""), pinned=at == 0) for at, name in enumerate(names))


def _both(name: str, field: str, heading: str, unit: str) -> tuple[Column, Column]:
    def at(place: int) -> Any:
        return lambda row: getattr(row, field)[place]

    return (
        Column(f"{name}_before", at(0), f"{heading} before", unit=unit),
        Column(f"{name}_after", at(1), f"{heading} after", unit=unit),
    )


def worse_table(worse: Sequence[Worse]) -> Table:
    """The rows that got worse."""
    columns = (
        *_key_columns(worse, lambda row: row.key),
        *_both("mean_request_gb", "request", "Mean request", "GB"),
        *_both("mean_unused_gb", "unused", "Mean unused", "GB"),
        *_both("runs", "n_runs", "Runs", "count"),
        *_both("killed_runs", "n_killed", "Killed", "count"),
        Column("extra_gb_h", "extra", "Further unused", unit="GB·h", help="Beyond the rate of the period before."),
    )
    return Table("worse", "Rows that got worse", columns, worse)


DRIFT = (
    Column("what", heading="Quantity", pinned=True),
    Column("unit", heading="Unit"),
    Column("median_before", "before", "Median before", form="%,.3g"),
    Column("median_after", "after", "Median after", form="%,.3g"),
)
DEGRADED = (
    Column("node", heading="Node", pinned=True),
    Column("benchmarks", heading="Benchmarks", said=lambda one: ", ".join(one.benchmarks)),
    Column("degraded_probability", "probability", "Probability", form="%.2f", help="Of its newest flagged run."),
    Column("dataset", heading="Benchmark runs"),
)


def changes_answer(result: Changes) -> Answer:
    """The last period against the one before: figures, rows, what was taken up, what got worse."""
    titles = heading(period_words(result.periods[0])), heading(period_words(result.periods[1]))
    tables = [sides_table(result.compared, titles), rows_table(result.compared)]
    tables += [worse_table(result.worse)] if result.worse else []
    tables += [_rows_table(result.taken_up)] if result.taken_up is not None and result.taken_up.rows else []
    tables += [Table("drift", "What drifted", DRIFT, result.drift)] if result.drift else []
    tables += [Table("degraded", "Degraded nodes", DEGRADED, result.degraded)] if result.degraded else []
    found = result.taken_up
    document = {
        "before": result.periods[0],
        "after": result.periods[1],
        "by": result.settings.by,
        "newest_s": result.newest_s,
        "as_of": moment_words(result.newest_s, dated=result.dated),
        "unused_share_before": _share(result, 0),
        "killed_before": result.kills[0],
        "failed": result.compared.sides[1].totals.ended(FAILED),
        "kills_per_day": KILLS_PER_DAY.of(result),
        "appeared": [one.name for one in result.compared.parts if one.state == APPEARED],
        "vanished": [one.name for one in result.compared.parts if one.state == VANISHED],
        "taken_up": None if found is None else found.taken_up,
        "seconds": result.seconds,
    }
    return Answer(changes_sentence(result), changes_figures(result), tuple(tables), _notes(result), document)


def _notes(result: Changes) -> tuple[str, ...]:
    told = [f"{words} {state}" for state in (APPEARED, VANISHED) if (words := parts_words(result, state))]
    notes = [f"Of the {result.compared.by}s, {listed(told)}."] if told else []
    notes += [f"{counted(len(result.worse), 'row')} got worse."] if result.worse else []
    notes += [f"{drift_words(result)}."] if result.drift else []
    notes += [f"The first run starts within {period_words(result.periods[0])}."] if result.begins_within else []
    notes += realised_notes(result.taken_up) if result.taken_up is not None else ()
    return (f"The trace is {as_of_words(result)}.", *notes)


REALISED: tuple[Column, ...] = (
    Column("state", heading="Taken up", help="Whether most, some or none of its later runs moved to the advice."),
    Column("action", "advised.action", "Change"),
    Column("request_gb", "advised.request", "Today", unit="GB", help="What was requested before the advice."),
    Column("size_gb", "advised.size", "Next", unit="GB", help="What was advised."),
    Column("later_runs", "n_later", "Later runs", unit="count"),
    Column("moved_runs", "n_moved", "Moved runs", unit="count", help="Later runs that moved to the advice."),
    Column("moved_hours", "hours_moved", "Hours moved", unit="h"),
    SAVED_IN_FACT,
    Column("killed_moved", "n_killed", "Killed of them", unit="count", help="Of those that moved, for memory."),
    LOST,
    Column("use_before_gb", "use_before", "Use before", unit="GB", help="Median of a run."),
    Column("use_later_gb", "use_later", "Use later", unit="GB", help="Median of a run that moved."),
    Column("use_changed", heading="Use changed", help="Beyond chance: the advice alone does not explain the change."),
    Column("row_key", "advised.row_key", "Row", aside=True),
)


def _key_of(row: Realised) -> dict[str, str]:
    return {name: value for name, value in parts_of(row.advised.row_key).items() if name != "request"}


def _rows_table(found: RealisedSaving) -> Table:
    return Table("taken_up_rows", "Advised rows", (*_key_columns(found.rows, _key_of), *REALISED), found.rows)


def realised_sentence(found: RealisedSaving) -> str:
    """What was saved in fact, by how many rows."""
    if not found.rows:
        return f"Nothing is advised to change by {found.advice}."
    killed = f"; {counted(found.n_killed, 'kill')} lost {gb_h(found.lost)}" if found.n_killed else ""
    verb = "saved" if found.saved >= 0 else "requested more:"
    return f"{taken_up_words(found)}: {gb_h(abs(found.saved))} {verb} in fact{killed}."


def realised_notes(found: RealisedSaving) -> tuple[str, ...]:
    """What the figures rest on."""
    if not found.rows:
        return ()
    changed = sum(one.use_changed for one in found.rows)
    use = f"The use itself changed in {counted(changed, 'row')}: {gb_h(found.saved_use_changed)} of the saving."
    return f"Advice: {found.advice}. Saved is by hour of work, so less work is no saving.", *[use] * bool(changed)


def realised_answer(found: RealisedSaving) -> Answer:
    """What advice saved in fact, row by row."""
    document = {"advice": found.advice, "taken_up": found.taken_up, "use_changed_gb_h": found.saved_use_changed}
    return Answer(
        realised_sentence(found),
        (Figure(SAVED_IN_FACT, found, taken_up_words(found)), Figure(LOST, found, counted(found.n_killed, "kill"))),
        (_rows_table(found),),
        realised_notes(found),
        document,
    )
