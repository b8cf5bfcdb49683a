"""Figures and tables of a dataset: time coverage, column profiles, checks, the catalogue."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.charts.chart import Chart
from workprof.charts.fields import formatted, label
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS, laid_out
from workprof.store.reports import ColumnProfile, Dataset, IngestReport, TimeCoverage
from workprof.units import DAY_S, format_count, format_duration, format_share

SINCE_2001_S = 978_307_200
"""Starts before 2001 are offsets of the trace, not dates."""

LEVEL_WORDS = {"info": "ℹ info", "warning": "⚠ warning", "error": "✖ error"}


def coverage_chart(coverage: TimeCoverage) -> Chart | None:
    """Return rows started per time bin, or None where the dataset has no start times."""
    if coverage.rows.size == 0:
        return None
    edges, dated = coverage.edges_s, bool(coverage.edges_s[0] > SINCE_2001_S)
    x = [dt.datetime.fromtimestamp(edge, dt.UTC) for edge in edges[:-1]] if dated else (edges[:-1] - edges[0]) / DAY_S
    width = float(edges[1] - edges[0])
    figure = go.Figure(
        go.Bar(x=x, y=coverage.rows, marker={"color": COLOURS[0]}, hovertemplate="%{x}: %{y:,} rows<extra></extra>")
    )
    axis = "Start (date, UTC)" if dated else "Start (days since the first start)"
    laid_out(figure, x=axis, y=f"Rows per {format_duration(width)}", height=260, bargap=0.05)
    empty = int((coverage.rows == 0).sum())
    return Chart(
        name="time-coverage",
        figure=figure,
        takeaway=f"The rows start within {format_duration(float(edges[-1] - edges[0]))}; "
        + (f"{empty} of {coverage.rows.size} time bins are empty." if empty else "no time bin is empty."),
        alt=f"Bars of rows started per {format_duration(width)} over the time of the trace.",
        data=pd.DataFrame({"from_s": edges[:-1], "to_s": edges[1:], "rows": coverage.rows}),
        note=f"{counted(coverage.without_time, 'row')} without a start time left out." if coverage.without_time else "",
    )


def column_table(profiles: tuple[ColumnProfile, ...]) -> pd.DataFrame:
    """Return one line per column: unit, missing share, quantiles as people read them, histogram as a list."""
    return pd.DataFrame([_column_line(profile) for profile in profiles])


def _column_line(profile: ColumnProfile) -> dict[str, object]:
    column = profile.column
    numbers = {"min": profile.minimum, "median": profile.median, "p95": profile.p95, "max": profile.maximum}
    words = {name: formatted(column.name, value) if column.numeric else "" for name, value in numbers.items()}
    top = ", ".join(f"{value} ({count:,})" for value, count in profile.top[:3])
    return {
        "column": column.name,
        "meaning": label(column.name),
        "unit": column.unit,
        "missing": profile.missing_share,
        "distinct": profile.distinct,
        **words,
        "histogram": [int(count) for count in profile.histogram],
        "most frequent": top,
        "type": column.type,
        "source": column.source,
    }


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
                "join": entry.mode,
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


def ingest_sentence(report: IngestReport) -> str:
    """Return what an ingest did, in one sentence."""
    if report.already_loaded:
        return f"This content is already loaded as {report.dataset}: {counted(report.rows, 'row')}."
    rejected = f", {format_count(report.rejected)} rejected" if report.rejected else ", none rejected"
    share = format_share(report.rows / report.rows_read) if report.rows_read else "no data"
    return (
        f"{counted(report.rows_read, 'row')} read{rejected}; {counted(report.rows, 'row')} kept "
        f"({share}) in {format_duration(report.seconds)}."
    )


def finite(value: float) -> bool:
    """Return whether a number can be shown."""
    return bool(np.isfinite(value))
