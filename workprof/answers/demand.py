"""Demand over time in words: level, trend, seasons, anomalies with their runs, and the weeks to come."""

import datetime as dt
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from workprof.answers.over_time import moment
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import DAY_S, day_of, format_duration, gb, number
from workprof.core.words import counted
from workprof.memory.demand import (
    DURATION,
    LEVEL,
    MISSING,
    REQUESTED,
    RUNS,
    SHORT,
    USED,
    WORSE,
    Anomaly,
    Demand,
    DemandRow,
    WeeksAhead,
)
from workprof.memory.ledger_settings import PROFILE
from workprof.memory.series import Season
from workprof.profiles.names import name_of

NOT_YET = "The demand over time is not taken apart yet."
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
FOLLOWED = {
    REQUESTED: "Requested memory",
    USED: "Used memory",
    RUNS: "Arrivals",
    DURATION: "Median run time",
}
KEYS, UNITS = {REQUESTED: "gb", USED: "gb", RUNS: "runs", DURATION: "s"}, {"gb": "GB", "runs": "", "s": "s"}
MOST_WEEKS = "90 % of weeks"
WHY_NOT = {
    "": "",
    SHORT: "too few weeks",
    LEVEL: "neither season nor trend",
    WORSE: "no better on held weeks",
}


ANOMALIES = Column(
    "n_anomalies",
    lambda row: len(row.anomalies),
    "Anomalies",
    unit="count",
    help="Bins so far from season and level that noise makes one in twenty series.",
)


def called(result: Demand, profiles: Sequence[str]) -> Demand:
    """Demand for people: rows of profiles have their names."""
    if result.settings.by != PROFILE:
        return result
    return replace(result, rows=tuple(replace(row, name=name_of(row.name, profiles)) for row in result.rows))


def amount(result: Demand, value: float, *, days: bool = False) -> str:
    """A value of the series with its unit; `days` where it is a day's, whatever the bins are."""
    if result.settings.of == RUNS:
        return f"{number(value)} runs {'a day' if days or result.settings.bins == 'day' else 'an hour'}"
    return format_duration(value) if result.settings.of == DURATION else gb(value)


def followed_words(result: Demand) -> str:
    """What is followed, with its unit: 'Requested memory (GB)'."""
    of = result.settings.of
    unit = f"runs per {result.settings.bins}" if of == RUNS else UNITS[KEYS[of]]
    return f"{FOLLOWED[of]} ({unit})"


def average(row: DemandRow) -> float:
    """Mean of the bins with a value."""
    known = row.amounts[~_missing(row)]
    return float(known.mean()) if len(known) else math.nan


def _missing(row: DemandRow) -> Any:
    return row.amounts != row.amounts


def _number(result: Demand, name: str, value: Callable[[Any], float], heading: str, **more: Any) -> Column:
    """A column of the unit that is followed."""
    key = KEYS[result.settings.of]
    begin, _, end = name.partition("*")
    return Column(f"{begin}{key}{end}", value, heading, unit=UNITS[key], form="" if UNITS[key] else "%,.3g", **more)


def _first(values: Any) -> float:
    return float(values[0]) if len(values) else math.nan


def _rows(result: Demand) -> Table:
    weeks = "Of weeks forecast from the days before: mean error of a day."
    columns = (
        Column(result.settings.by, "name", "Row", pinned=True),
        Column("n_runs", heading="Runs", unit="count"),
        _number(result, "average_*", average, "Average"),
        _number(result, "trend_*_per_week", lambda row: row.slope.per_week, "Trend per week"),
        _number(
            result,
            "trend_low_*_per_week",
            lambda row: row.slope.low,
            "Trend, 95 % interval",
            to=_number(result, "trend_high_*_per_week", lambda row: row.slope.high, ""),
        ),
        Column("seasons", lambda row: "; ".join(season_words(result, one) for one in row.seasons), "Season"),
        Column("n_changes", lambda row: len(row.changes), "New levels", unit="count"),
        ANOMALIES,
        _number(
            result,
            "next_week_low_*",
            lambda row: _first(row.ahead.low),
            "Next week",
            to=_number(result, "next_week_high_*", lambda row: _first(row.ahead.high), ""),
            help="Mean of a day: 90 % of weeks lie in between. Empty where no forecast is shown.",
        ),
        _number(result, "error_*", lambda row: row.ahead.error, "Error on held weeks", help=weeks),
        _number(result, "error_naive_*", lambda row: row.ahead.error_naive, "Of the last week repeated", help=weeks),
        _number(result, "error_level_*", lambda row: row.ahead.error_level, "Of the level alone", help=weeks),
        Column("no_forecast", lambda row: WHY_NOT[row.ahead.why_not], "No forecast"),
    )
    return Table("rows", "Series", columns, result.rows)


def anomalies_table(result: Demand) -> Table:
    """The anomalies of every row, with the runs behind them."""
    found = [(row, one) for row in result.rows for one in row.anomalies]
    columns = (
        Column(result.settings.by, lambda each: each[0].name, "Row", pinned=True),
        Column("from_s", lambda each: float(result.edges_s[each[1].bin]), shown=False),
        Column("when", lambda each: moment(result, each[1].bin), "When"),
        _number(result, "value_*", lambda each: each[1].value, "Value"),
        _number(result, "expected_*", lambda each: each[1].expected, "Expected"),
        Column("n_runs", lambda each: each[1].n_runs, "Runs", unit="count"),
        Column("usual_runs", lambda each: each[1].usual_runs, "Usual runs", unit="count"),
        Column("task", lambda each: each[1].task, "Most of it by task"),
        Column("task_share", lambda each: each[1].task_share, "Share of the task", unit="share"),
        Column("row_ids", lambda each: each[1].row_ids.tolist(), "Largest runs"),
    )
    return Table("anomalies", "Anomalies and the runs behind them", columns, found)


def weeks_table(result: Demand) -> Table:
    """The weeks to come, of the rows whose forecast is shown."""
    weeks = [(row, place) for row in result.rows for place in range(len(row.ahead.weeks))]
    columns = (
        Column(result.settings.by, lambda each: each[0].name, "Row", pinned=True),
        Column("from_s", lambda each: each[0].ahead.from_s + 7 * DAY_S * each[1], shown=False),
        Column("when", lambda each: day_words(result, each[0].ahead.from_s + 7 * DAY_S * each[1]), "When"),
        _number(result, "forecast_*", lambda each: float(each[0].ahead.weeks[each[1]]), "Forecast"),
        _number(
            result,
            "forecast_low_*",
            lambda each: float(each[0].ahead.low[each[1]]),
            "Forecast, 90 % interval",
            to=_number(result, "forecast_high_*", lambda each: float(each[0].ahead.high[each[1]]), ""),
        ),
    )
    return Table("weeks", "Weeks to come", columns, weeks)


def bins_table(result: Demand, row: DemandRow) -> Table:
    """A line per bin: what was there, and what season and level make likely."""
    columns = (
        Column("from_s", lambda place: float(result.edges_s[place])),
        Column("when", lambda place: moment(result, place), "When"),
        _number(result, "value_*", lambda place: float(row.amounts[place]), "Value"),
        _number(result, "expected_*", lambda place: float(row.expected[place]), "Expected"),
    )
    return Table("bins", "Bins", columns, range(len(row.amounts)))


def day_words(result: Demand, moment_s: float) -> str:
    """'from 6 Mar'; of a clock without dates 'from day 60'."""
    local = moment_s + result.utc_offset_s
    date = dt.datetime.fromtimestamp(local, dt.UTC)
    return f"from {date.day} {date:%b}" if result.dated else f"from day {day_of(local):,}"


def season_words(result: Demand, season: Season) -> str:
    """'week: most Mon (+12 GB), least Sun (-20 GB)'."""
    ends = [
        f"{word} {_phase(result, season, place)} ({'+' if season.effects[place] > 0 else ''}"
        f"{number(float(season.effects[place]))})"
        for word, place in (("most", int(season.effects.argmax())), ("least", int(season.effects.argmin())))
    ]
    return f"{season.name}: {', '.join(ends)}"


def _phase(result: Demand, season: Season, place: int) -> str:
    if season.name == "day":
        return f"{place:02d}:00"
    day, hour = divmod(place, season.period // 7)
    name = WEEKDAYS[day] if result.dated else f"day {day} of 7"
    return name if season.period == 7 else f"{name} {hour:02d}:00"


def demand_sentence(result: Demand, row: DemandRow) -> str:
    """The average, its trend, and the next week."""
    slope, name = row.slope, FOLLOWED[result.settings.of]
    whose = "" if row is result.rows[0] else f" of {row.name}"
    first = f"{name}{whose} {'are' if result.settings.of == RUNS else 'is'} {amount(result, average(row))} on average"
    if (slope.low > 0 and not result.n_unsettled) or (slope.high < 0 and not result.n_late):
        way = "rising" if slope.per_week > 0 else "falling"
        first += f", {way} by {amount(result, abs(slope.per_week))} a week"
    if row.ahead.why_not:
        return f"{first}; no forecast: {WHY_NOT[row.ahead.why_not]}."
    low, high = float(row.ahead.low[0]), float(row.ahead.high[0])
    return f"{first}; next week {number(low) if result.settings.of != DURATION else format_duration(low)} to " + (
        f"{amount(result, high, days=True)}."
    )


def figures_of(result: Demand, row: DemandRow) -> tuple[Figure, ...]:
    """Average, trend, next week and anomalies of a row."""

    def of(name: str, value: Callable[[Any], float], heading: str, told: Callable[[Any], str], **more: Any) -> Column:
        return replace(_number(result, name, value, heading, **more), said=told)

    slope = row.slope
    columns = (
        (of("average_*", average, "Average", lambda one: amount(result, average(one)), help="Of all bins."), ""),
        (
            of(
                "trend_*_per_week",
                lambda one: one.slope.per_week,
                "Trend per week",
                lambda one: _signed(result, one.slope.per_week),
                help="Theil-Sen slope without the season.",
            ),
            f"{_signed(result, slope.low)} to {_signed(result, slope.high)}",
        ),
        (
            of(
                "next_week_*",
                lambda one: _first(one.ahead.weeks),
                "Mean of next week",
                lambda one: amount(result, float(one.ahead.weeks[0]), days=True) if len(one.ahead.weeks) else "",
                help="Of a day; shown where it beats the last week repeated and the level alone on held weeks.",
            ),
            _ahead_words(result, row.ahead),
        ),
        (ANOMALIES, _largest(result, row)),
    )
    return tuple(Figure(column, row, detail=detail, lacking="no forecast") for column, detail in columns)


def _signed(result: Demand, value: float) -> str:
    return f"{'-' if value < 0 else '+'}{amount(result, abs(value))}"


def _ahead_words(result: Demand, ahead: WeeksAhead) -> str:
    if ahead.why_not:
        return WHY_NOT[ahead.why_not]
    return f"{amount(result, float(ahead.low[0]), days=True)} to {amount(result, float(ahead.high[0]), days=True)}"


def _largest(result: Demand, row: DemandRow) -> str:
    """The largest anomaly of a row, and how many others the table of all rows has."""
    others = sum(len(one.anomalies) for one in result.rows) - len(row.anomalies)
    beside = f"{others:,} of other rows" if others else ""
    if not row.anomalies:
        return beside
    largest = max(row.anomalies, key=lambda one: abs(one.value - one.expected))
    return "; ".join(filter(None, (f"largest: {moment(result, largest.bin)}", beside)))


def anomaly_words(result: Demand, one: Anomaly) -> str:
    """'6 Mar: 340 GB, 120 GB expected; 60 % by task train'."""
    text = f"{moment(result, one.bin)}: {amount(result, one.value)}, {amount(result, one.expected)} expected"
    return f"{text}; {100 * one.task_share:.0f} % by task {one.task}" if one.task and one.value > one.expected else text


def notes(result: Demand) -> Iterator[str]:
    """What the figures rest on."""
    of = result.settings.of
    if of in (REQUESTED, USED):
        yield (
            f"Memory is {'what runs request' if of == REQUESTED else 'the peak of runs'} for as long as they run, on "
            "average over a bin; peaks within it are higher."
        )
    if result.n_left_out:
        yield f"{counted(result.n_left_out, 'run')} without a time or without what is followed are left out."
    if result.n_rows_left_out:
        yield f"{counted(result.n_rows_left_out, 'smaller row')} are in all runs only, or have runs in too few bins."
    yield "Bins are whole ones from first to last arrival; runs that began before the trace are not in it."
    n_bins, name = result.n_early or result.n_unsettled, result.settings.bins
    first, much = name if n_bins == 1 else counted(n_bins, name), f"over {100 * MISSING:.0f} %"
    if result.n_early:
        yield f"In the first {first} those would hold {much} of the memory: that time is left out."
    if result.n_unsettled:
        yield (
            f"In the first {first} those would hold {much} of the memory. A rise, a new level or an anomaly may be of "
            "that alone."
        )
    if result.n_late:
        late = name if result.n_late == 1 else counted(result.n_late, name)
        yield (
            f"If the trace has only runs that had ended, its last {late} {'lacks' if result.n_late == 1 else 'lack'} "
            "long ones. A fall there may be of that alone."
        )
    if (covered_s := _covered_s(result)) < 7 * DAY_S:
        yield f"These bins cover {format_duration(covered_s)}: the trend of them is scaled up to a week."
    if result.settings.bins == "hour" and of != DURATION:
        yield "The forecast is of days."


def _covered_s(result: Demand) -> float:
    """From the first bin with a value to the last."""
    known = (~_missing(result.rows[0])).nonzero()[0]
    return float(result.edges_s[known[-1] + 1] - result.edges_s[known[0]]) if len(known) else 0.0


def demand_answer(result: Demand) -> Answer:
    """Level, trend, seasons, anomalies and weeks to come of every row."""
    row = result.rows[0]
    weeks = weeks_table(result)
    return Answer(
        demand_sentence(result, row),
        figures=figures_of(result, row),
        tables=(_rows(result), anomalies_table(result), *((weeks,) if weeks.rows else ())),
        notes=tuple(notes(result)),
        document={
            "of": result.settings.of,
            "bin": result.settings.bins,
            "n_runs": result.n_runs,
            "n_left_out": result.n_left_out,
            "n_rows_left_out": result.n_rows_left_out,
            "n_early_bins_left_out": result.n_early,
            "n_unsettled_bins": result.n_unsettled,
            "n_late_bins": result.n_late,
            **({} if weeks.rows else {"weeks": ()}),
            "seasons": [
                {"row": one.name, "season": season.name, "effects": season.effects, "reach": season.reach}
                for one in result.rows
                for season in one.seasons
            ],
            "changes": [
                {
                    "row": one.name,
                    "from_s": float(result.edges_s[change.bin]),
                    "before": change.before,
                    "after": change.after,
                }
                for one in result.rows
                for change in one.changes
            ],
            "seconds": result.seconds,
        },
    )
