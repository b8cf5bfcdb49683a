"""The Home page: a dataset in a few figures, what was found for it, and what it could save."""

from __future__ import annotations

import math

from workprof.charts.memory.recommendation import KILLS, SAVING, saving_headlines
from workprof.charts.shapes import Headline
from workprof.charts.text import counted, formatted, listed
from workprof.core.units import format_count, format_duration, format_share
from workprof.memory.recommend import Recommendation
from workprof.profiles.fit import ProfileFit
from workprof.store.reports import ColumnProfile, Counts, Dataset

Columns = tuple[ColumnProfile, ...]


def dataset_headlines(dataset: Dataset, columns: Columns) -> tuple[Headline, ...]:
    """Return the figures that this dataset can give; what it lacks is left out."""
    rows = Headline("Runs", format_count(dataset.rows), "Rows in the store: jobs, tasks or instances.")
    share = dataset.finished_rows / dataset.rows if dataset.rows else float("nan")
    finished = Headline(
        "Finished",
        format_share(share),
        "Share of the rows that the methods use: status finished, or no status at all.",
        f"{dataset.finished_rows:,} runs",
    )
    counts = (_distinct_values(columns, name, words) for name, words in _COUNTED.items())
    return tuple(
        item for item in (rows, finished, *counts, *_duration_headlines(columns), *_memory_headlines(columns)) if item
    )


def overview_sentence(dataset: Dataset, columns: Columns, counts: Counts) -> str:
    """Return the dataset in one sentence."""
    duration = column_of(columns, "duration_s")
    held = f"{dataset.name} holds {counts.held}"
    if not dataset.finished_rows:
        return f"{held}; none of them has finished."
    if duration is None or not math.isfinite(duration.median):
        return f"{held}; it has no durations."
    median, p95 = format_duration(duration.median), format_duration(duration.p95)
    return f"{held}; half of them end within {median}, 95 % within {p95}."


def unended_words(counts: Counts) -> tuple[str, ...]:
    """Return the runs without an end or a start in one sentence; nothing where there are none."""
    if not counts.unended:
        return ()
    return (f"Not ended: {counts.unended}. They are shown apart, and no size rests on them.",)


_COUNTED = {"user": "Users", "node": "Nodes", "workload": "Workloads"}


def column_of(columns: Columns, name: str) -> ColumnProfile | None:
    """Return the distribution of a column, None where the dataset has no value of it."""
    return next((profile for profile in columns if profile.column.name == name and profile.missing_share < 1), None)


def _distinct_values(columns: Columns, name: str, words: str) -> Headline | None:
    found = column_of(columns, name)
    return Headline(words, format_count(found.distinct), f"Distinct values of {name}.") if found else None


def _duration_headlines(columns: Columns) -> tuple[Headline, ...]:
    found = column_of(columns, "duration_s")
    if found is None:
        return ()
    exact = f"In seconds: median {found.median:,.4g}, 95th percentile {found.p95:,.4g}."
    return (Headline("Median duration", format_duration(found.median), exact, f"p95 {format_duration(found.p95)}"),)


def _memory_headlines(columns: Columns) -> tuple[Headline, ...]:
    asked, used = column_of(columns, "requested_memory_bytes"), column_of(columns, "peak_memory_bytes")
    found = []
    if asked is not None:
        text = formatted("requested_memory_bytes", asked.median)
        found.append(Headline("Memory asked", text, "Median request of a row.", "median"))
    if used is not None:
        text = formatted("peak_memory_bytes", used.median)
        found.append(Headline("Peak memory", text, "Median peak of a row.", "median"))
    return tuple(found)


NO_DATA, NOT_YET = "no data", "not yet"
USED, REQUESTED = "peak_memory_bytes", "requested_memory_bytes"


def home_headlines(
    dataset: Dataset, columns: Columns, fit: ProfileFit | None, recommendation: Recommendation | None
) -> tuple[Headline, ...]:
    """Return the state of a job trace.

    Args:
        dataset: of jobs.
        columns: their distributions.
        fit: default profiles, None = not found yet.
        recommendation: with the defaults, None = not computed yet.
    """
    return (
        _jobs(dataset, columns),
        _distinct(columns, "user", "Users"),
        _distinct(columns, "node", "Nodes"),
        _duration(columns),
        _memory(columns),
        _clustered(fit),
        *_saving(columns, recommendation),
    )


def benchmark_headlines(dataset: Dataset, columns: Columns) -> tuple[Headline, ...]:
    """Return the state of a dataset of benchmark runs."""
    return (
        Headline("Runs", format_count(dataset.rows), "Benchmark runs in the store."),
        _distinct(columns, "node", "Nodes"),
        _distinct(columns, "benchmark", "Benchmarks"),
        _period(columns),
    )


def telemetry_headlines(dataset: Dataset, columns: Columns, n_runs: int, n_workloads: int) -> tuple[Headline, ...]:
    """Return the state of a dataset of counters by the second.

    Args:
        dataset: of telemetry.
        columns: its distributions.
        n_runs: recorded runs.
        n_workloads: labels among them.
    """
    counters = sum(profile.column.numeric and profile.column.name not in ("t", "row_id") for profile in columns)
    return (
        Headline("Samples", format_count(dataset.rows), "One row for each interval of each run."),
        Headline("Runs", format_count(n_runs), "Recordings, each of one execution of a workload."),
        Headline("Workloads", format_count(n_workloads), "Labels; a run without one is not counted here."),
        Headline("Counters", format_count(counters), "Numbers that every sample holds."),
    )


def measured_sentence(dataset: Dataset, figures: tuple[Headline, ...]) -> str:
    """Return what a measured dataset holds, in one sentence."""
    told = [
        counted(int(item.value.replace(",", "")), item.label.lower().removesuffix("s"))
        for item in figures
        if item.value.replace(",", "").isdigit()
    ]
    return f"{dataset.name}: {listed(told)}."


def _jobs(dataset: Dataset, columns: Columns) -> Headline:
    rows = f"{counted(dataset.rows, 'run')}"
    names = column_of(columns, "job_name")
    meaning = f"Distinct names of jobs; {dataset.finished_rows:,} of {rows} have finished."
    if names is None:
        return Headline(
            "Runs", format_count(dataset.rows), f"The trace has no column job_name. {meaning}", "no job_name"
        )
    return Headline("Jobs", format_count(names.distinct), meaning, rows)


def _distinct(columns: Columns, name: str, words: str) -> Headline:
    found = column_of(columns, name)
    if found is None:
        return _without(words, name)
    return Headline(words, format_count(found.distinct), f"Distinct values of {name}.")


def _duration(columns: Columns) -> Headline:
    found = column_of(columns, "duration_s")
    if found is None or not math.isfinite(found.median):
        return _without("Median duration", "duration_s")
    meaning = f"Half of the rows end by then ({found.median:,.4g} s), 95 % by the time below ({found.p95:,.4g} s)."
    return Headline("Median duration", format_duration(found.median), meaning, f"p95 {format_duration(found.p95)}")


def _memory(columns: Columns) -> Headline:
    """Return what is used beside what is asked for."""
    used, asked = (column_of(columns, name) for name in (USED, REQUESTED))
    if used is None or not math.isfinite(used.median):
        return _without("Median peak memory", USED)
    told = f"of {formatted(REQUESTED, asked.median)} asked" if asked else "no requests"
    return Headline(
        "Median peak memory",
        formatted(USED, used.median),
        "Median of the largest use of a row, beside the median request.",
        told,
    )


def _clustered(fit: ProfileFit | None) -> Headline:
    if fit is None:
        return Headline("Clustered", NOT_YET, "Share of the rows that belong to a profile.", "find profiles first")
    share = 1 - fit.scores.n_outliers / max(fit.scores.n_rows, 1)
    return Headline(
        "Clustered",
        format_share(share),
        "Share of the rows that belong to a profile of the default settings; the others are like no group.",
        counted(fit.scores.n_clusters, "profile"),
    )


def _saving(columns: Columns, found: Recommendation | None) -> tuple[Headline, Headline]:
    """Return what the recommendation saves and, beside it, what it kills."""
    lacking = [name for name in (REQUESTED, USED, "duration_s") if column_of(columns, name) is None]
    if lacking:
        return _without(SAVING, lacking[0]), _without(KILLS, lacking[0])
    if found is None:
        what = "Of the recommended requests, judged on the second half of the runs."
        return Headline(SAVING, NOT_YET, what, "not computed"), Headline(KILLS, NOT_YET, what, "not computed")
    return saving_headlines(found)


def _period(columns: Columns) -> Headline:
    found = column_of(columns, "started_s")
    if found is None or not math.isfinite(found.maximum - found.minimum):
        return _without("Period", "started_s")
    length = format_duration(found.maximum - found.minimum)
    return Headline("Period", length, "From the start of the first run to that of the last.")


def _without(words: str, column: str) -> Headline:
    meaning = f"The trace has no values of {column}; map a column to it on the Data page."
    return Headline(words, NO_DATA, meaning, "column missing")
