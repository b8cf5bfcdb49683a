"""Figures and tables of a dataset: time coverage, column profiles, checks, the catalogue."""

import datetime as dt
import math

import numpy as np
import pandas as pd

from workprof.charts import shapes
from workprof.charts.shapes import Chart, figure_of
from workprof.charts.theme import COLOURS
from workprof.core.scope import SIGN
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S, dated, format_count, format_duration, format_share
from workprof.core.words import counted, formatted, label
from workprof.store.reports import ColumnProfile, Dataset, IngestReport, TimeCoverage, lines_lost

MOMENTS = ("_time_s", "started_s", "finished_s")
"""Ends of the names of columns that hold moments: of jobs, and of benchmark runs."""

LEVEL_WORDS = {"info": "ℹ\u00a0info", "warning": "⚠\u00a0warning", "error": "✖\u00a0error"}
"""The mark and the word stay on one line."""


def with_dates(coverage: TimeCoverage) -> bool:
    """Return whether the start times are dates, not offsets from the trace's own start."""
    return bool(coverage.rows.size) and dated(float(coverage.edges_s[-1]))


def coverage_chart(coverage: TimeCoverage, utc_offset_h: float = 0.0) -> Chart | None:
    """Return rows started per time bin, its dates in a zone; None where the dataset has no start times."""
    if coverage.rows.size == 0:
        return None
    edges, dates = coverage.edges_s, with_dates(coverage)
    width = float(edges[1] - edges[0])
    middles = edges[:-1] + (width / 2 if coverage.span_s else 0.0)  # of one moment, that moment
    local = middles + utc_offset_h * HOUR_S
    x = [dt.datetime.fromtimestamp(one, dt.UTC) for one in local] if dates else middles / DAY_S
    axis = f"Start (date, {zone(utc_offset_h)})" if dates else "Start (day of the trace)"
    each = f"Runs per {_width_words(width)}"
    figure = figure_of(
        [shapes.columns(x, coverage.rows, colour=COLOURS[0], hover="around %{x}: %{y:,} runs")],
        x=axis,
        y=each,
        height=240,
        bargap=0.05,
    )
    if not coverage.span_s:
        figure.update_xaxes(tickvals=list(x))
    empty, span = int((coverage.rows == 0).sum()), coverage.span_s
    over = format_duration(span if math.isfinite(span) else float(edges[-1] - edges[0]))
    gaps = f"; {empty:,} of {counted(coverage.rows.size, 'bin')} are empty" if empty else ", without gaps"
    return Chart(
        name="time-coverage",
        figure=figure,
        takeaway=f"Runs start over {over}{gaps}." if span else "All runs start at the same moment.",
        shows=f"Bars of {each.lower()} over the time of the trace.",
        data=pd.DataFrame({"from_s": edges[:-1], "to_s": edges[1:], "rows": coverage.rows}),
        note=f"{counted(coverage.without_time, 'run')} without a start time excluded." if coverage.without_time else "",
    )


def _width_words(width_s: float) -> str:
    """Return a width of bins: '12 h', '7 d', '30 min', or as any duration where it is not round."""
    for unit, name in ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "min")):
        if width_s >= unit and width_s % unit == 0:
            return f"{width_s / unit:,.0f} {name}"
    return format_duration(width_s)


def zone(utc_offset_h: float) -> str:
    """Return 'UTC' or 'UTC+05:30'."""
    minutes = round(abs(utc_offset_h) * 60)
    return f"UTC{'-' if utc_offset_h < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" if minutes else "UTC"


def column_kind(duckdb_type: str) -> str:
    """Return a column's type in a word of everyday: 'number', 'text', 'time', 'yes/no', else the database's own."""
    name = duckdb_type.partition("(")[0].upper()
    kinds = {
        "VARCHAR": "text",
        "BOOLEAN": "yes/no",
        "DATE": "date",
        "TIME": "time",
        "INTERVAL": "time",
        "TIMESTAMP": "time",
    }
    if name in ("DOUBLE", "FLOAT", "DECIMAL", "REAL") or name.endswith("INT") or name.endswith("INTEGER"):
        return "number"
    return "time" if name.startswith("TIMESTAMP") else kinds.get(name, duckdb_type)


def column_table(profiles: tuple[ColumnProfile, ...]) -> pd.DataFrame:
    """Return one line per column: unit, missing share, quantiles as people read them, histogram as a list."""
    return pd.DataFrame([_column_line(profile) for profile in profiles])


def _column_line(profile: ColumnProfile) -> dict[str, object]:
    column = profile.column
    numbers = {"min": profile.minimum, "median": profile.median, "p95": profile.p95, "max": profile.maximum}
    dates = column.name.endswith(MOMENTS) and dated(np.fmax(profile.p95, profile.maximum))
    written = _date if dates else formatted
    words = {name: written(column.name, value) if column.numeric else "" for name, value in numbers.items()}
    top = ", ".join(f"{value} ({count:,})" for value, count in profile.top[:3])
    return {
        "column": column.name,
        "meaning": label(column.name),
        "unit": "date, UTC" if dates else column.unit,
        "missing": profile.missing_share,
        "distinct": profile.distinct,
        **words,
        "histogram": [int(count) for count in profile.histogram],
        "most frequent": top,
        "type": column.type,
        "source": column.source,
    }


def _date(_: str, seconds: float) -> str:
    """Return a point in time as '2023-04-09 22:12'."""
    return f"{dt.datetime.fromtimestamp(seconds, dt.UTC):%Y-%m-%d %H:%M}" if math.isfinite(seconds) else "no data"


MODES = {"corrected": "default", "faithful": "as published"}
"""How raw tables are joined, in words."""


def catalogue_table(datasets: tuple[Dataset, ...]) -> pd.DataFrame:
    """Return the catalogue: one line per dataset."""
    return pd.DataFrame(
        [
            {
                "name": entry.name,
                "hash": entry.hash[:8],
                "format": entry.format,
                "rows": entry.rows,
                "finished rows": entry.finished_rows,
                "join": MODES.get(entry.mode, entry.mode),
                "loaded (UTC)": entry.created[:16].replace("T", " "),
                "from": entry.origin,
            }
            for entry in datasets
        ]
    )


def join_table(report: IngestReport) -> pd.DataFrame:
    """Return rows before and after every join."""
    return pd.DataFrame(
        [
            {"join": j.step, "rows in": j.rows_in, "rows out": j.rows_out, "fan-out": round(j.fan_out, 3)}
            for j in report.joins
        ]
    )


def check_table(report: IngestReport) -> pd.DataFrame:
    """Return the findings, the gravest first."""
    order = {"error": 0, "warning": 1, "info": 2}
    checks = sorted(report.checks, key=lambda check: (order.get(check.level, 3), -check.count))
    return pd.DataFrame(
        [{"level": LEVEL_WORDS.get(c.level, c.level), "rows": f"{c.count:,}", "finding": c.message} for c in checks]
    )


def mapping_table(report: IngestReport) -> pd.DataFrame:
    """Return which column of a generic file became which field, in which unit."""
    return pd.DataFrame(
        [
            {"field": field, "column": source["from"], "unit": source.get("unit", "")}
            for field, source in report.mapping.items()
        ]
    )


def validity_sentence(dataset: Dataset, report: IngestReport) -> str:
    """Return how much of a dataset is loaded, and whether its checks passed."""
    if SIGN in report.hash:
        return f"{_part(report)}; of the whole dataset, {_checked(report)}."
    lost = f", {lines_lost(report.lost)}" if report.lost else ""
    loaded = counted(dataset.rows, NOUNS.get(dataset.kind, "row"))
    return f"{loaded} loaded, {format_count(report.rejected)} rejected{lost}; {_checked(report)}."


NOUNS = {"jobs": "run", "benchmarks": "run", "telemetry": "sample", "configurations": "measurement"}
"""What a row of each kind of data is."""


def _part(report: IngestReport) -> str:
    """Return how many of the loaded rows are in a scope."""
    return f"{report.rows:,} of {counted(report.rows_read, NOUNS.get(report.kind, 'row'))} are in this part"


def _checked(report: IngestReport) -> str:
    look = sum(check.level in ("warning", "error") for check in report.checks)
    if not look:
        return "all checks passed"
    return f"{counted(look, 'check')} {'needs' if look == 1 else 'need'} a look"


def ingest_sentence(report: IngestReport) -> str:
    """Return what an ingest did, in one sentence."""
    if SIGN in report.hash:
        return f"{_part(report)}; rejected rows, lines and checks are of the whole dataset."
    if report.already_loaded:
        return f"This content is already loaded as {report.dataset}: {counted(report.rows, 'row')}."
    rejected = f", {format_count(report.rejected)} rejected" if report.rejected else ", none rejected"
    lost = f"; {lines_lost(report.lost)}: in no row and not among the rejected ones" if report.lost else ""
    steps = sum(check.count for check in report.checks if check.name == "steps")
    read = report.rows_read - steps
    share = format_share(report.rows / read) if read else "no data"
    folded = f" and {counted(steps, 'line')} of steps" if steps else ""
    return (
        f"{counted(read, 'row')}{folded} read{rejected}; {counted(report.rows, 'row')} loaded "
        f"({share}) in {format_duration(report.seconds)}{lost}."
    )
