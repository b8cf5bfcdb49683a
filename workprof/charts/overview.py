"""A dataset in a few figures: jobs, users, nodes, durations, memory asked for and used."""

from __future__ import annotations

import math

from workprof.charts.shapes import Headline
from workprof.charts.text import counted, formatted
from workprof.store.reports import ColumnProfile, Dataset
from workprof.units import format_count, format_duration, format_share

Columns = tuple[ColumnProfile, ...]


def dataset_headlines(dataset: Dataset, columns: Columns) -> tuple[Headline, ...]:
    """Return the figures that this dataset can give; what it lacks is left out."""
    rows = Headline("Rows", format_count(dataset.rows), "Rows in the store: jobs, tasks or instances.")
    share = dataset.finished_rows / dataset.rows if dataset.rows else float("nan")
    finished = Headline(
        "Finished",
        format_share(share),
        "Share of the rows that the methods use: status finished, or no status at all.",
        f"{dataset.finished_rows:,} rows",
    )
    counts = (_distinct(columns, name, words) for name, words in _COUNTED.items())
    return tuple(item for item in (rows, finished, *counts, *_duration(columns), *_memory(columns)) if item)


def overview_sentence(dataset: Dataset, columns: Columns) -> str:
    """Return the dataset in one sentence."""
    duration, users = column_of(columns, "duration_s"), column_of(columns, "user")
    by = f" by {counted(users.distinct, 'user')}" if users else ""
    held = f"{dataset.name} holds {counted(dataset.rows, 'row')}{by}"
    if duration is None or not math.isfinite(duration.median):
        return f"{held}; it has no durations."
    median, p95 = format_duration(duration.median), format_duration(duration.p95)
    return f"{held}; half of them end within {median}, 95 % within {p95}."


_COUNTED = {"user": "Users", "node": "Nodes", "workload": "Workloads"}


def column_of(columns: Columns, name: str) -> ColumnProfile | None:
    """Return the distribution of a column, None where the dataset has no value of it."""
    return next((profile for profile in columns if profile.column.name == name and profile.missing_share < 1), None)


def _distinct(columns: Columns, name: str, words: str) -> Headline | None:
    found = column_of(columns, name)
    return (
        Headline(words, format_count(found.distinct), f"Distinct values of {name}, counted approximately.")
        if found
        else None
    )


def _duration(columns: Columns) -> tuple[Headline, ...]:
    found = column_of(columns, "duration_s")
    if found is None:
        return ()
    exact = f"In seconds: median {found.median:,.4g}, 95th percentile {found.p95:,.4g}."
    return (Headline("Median duration", format_duration(found.median), exact, f"p95 {format_duration(found.p95)}"),)


def _memory(columns: Columns) -> tuple[Headline, ...]:
    asked, used = column_of(columns, "requested_memory_bytes"), column_of(columns, "peak_memory_bytes")
    found = []
    if asked is not None:
        text = formatted("requested_memory_bytes", asked.median)
        found.append(Headline("Memory asked", text, "Median request of a row (GiB = 1024³ bytes).", "median"))
    if used is not None:
        text = formatted("peak_memory_bytes", used.median)
        found.append(Headline("Peak memory", text, "Median peak of a row (GiB = 1024³ bytes).", "median"))
    return tuple(found)
