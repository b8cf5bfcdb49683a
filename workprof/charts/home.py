"""The Home page: a dataset in a few figures, what was found for it, and what it could save."""

import math
from collections.abc import Mapping

from workprof.answers import home
from workprof.answers.over_time import largest_named
from workprof.answers.verdict import SAVED
from workprof.charts.shapes import Headline, headline
from workprof.core.units import format_count, format_duration, format_share
from workprof.core.words import counted, formatted, listed
from workprof.memory.over_time import OverTime
from workprof.memory.usage import USAGE_COLUMNS
from workprof.memory.verdict import Verdict
from workprof.store.reports import ColumnProfile, Counts, Dataset

Columns = tuple[ColumnProfile, ...]


def dataset_headlines(dataset: Dataset, columns: Columns) -> tuple[Headline, ...]:
    """Return the figures that this dataset can give; what it lacks is left out."""
    rows = Headline("Runs", format_count(dataset.rows), "Runs in the store: jobs, tasks or instances.")
    share = dataset.finished_rows / dataset.rows if dataset.rows else float("nan")
    finished = Headline(
        "Finished",
        format_share(share),
        "Share of the runs that the methods use: status finished, or no status at all.",
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


def sized_by_windows(columns: Columns) -> bool:
    """Return whether sizes rest on services that run on, whose use is known window by window."""
    return column_of(columns, "windows") is not None


def unended_words(counts: Counts, columns: Columns) -> tuple[str, ...]:
    """Return the runs without an end or a start in words; nothing where there are none."""
    if not counts.unended:
        return ()
    sized = sized_by_windows(columns)
    apart = (
        "Sizes rest on windows of services that run on."
        if sized
        else "They are shown apart, and no size rests on them."
    )
    return (f"Not ended: {counts.unended}. {apart}",)


_COUNTED = {"user": "Users", "node": "Nodes", "workload": "Workloads"}


def column_of(columns: Columns, name: str) -> ColumnProfile | None:
    """Return the distribution of a column, None where the dataset has no value of it."""
    return next((profile for profile in columns if profile.column.name == name and profile.missing_share < 1), None)


def _distinct_values(columns: Columns, name: str, words: str) -> Headline | None:
    result = column_of(columns, name)
    return Headline(words, format_count(result.distinct), f"Distinct values of {name}.") if result else None


def _duration_headlines(columns: Columns) -> tuple[Headline, ...]:
    result = column_of(columns, "duration_s")
    if result is None:
        return ()
    exact = f"In seconds: median {result.median:,.4g}, 95th percentile {result.p95:,.4g}."
    return (Headline("Median duration", format_duration(result.median), exact, f"p95 {format_duration(result.p95)}"),)


def _memory_headlines(columns: Columns) -> tuple[Headline, ...]:
    requested, used = column_of(columns, "requested_memory_bytes"), column_of(columns, "peak_memory_bytes")
    result = []
    if requested is not None:
        text = formatted("requested_memory_bytes", requested.median)
        result.append(Headline("Memory requested", text, "Median request of a run.", "median"))
    if used is not None:
        text = formatted("peak_memory_bytes", used.median)
        result.append(Headline("Peak memory", text, "Median peak of a run.", "median"))
    return tuple(result)


CUT, NODE_GB = 0.7, 64.0
"""The first questions of what if: all requests times this, and the memory of a node; Plan has controls for others."""
NO_DATA, NOT_YET = "no data", "not yet"
USED, REQUESTED = "peak_memory_bytes", "requested_memory_bytes"


def missing_for_sizes(columns: Columns) -> tuple[str, ...]:
    """Return the columns that sizes need and that have no value; an amount of 0 is none."""
    held = {one.column.name for one in columns if one.missing_share < 1}
    held -= {one.column.name for one in columns if one.column.name != "duration_s" and one.maximum <= 0}
    lacking = [name for name in (REQUESTED, "duration_s") if name not in held]
    return (*lacking, *(() if held & {*USAGE_COLUMNS.values()} else (USED,)))


def home_headlines(
    columns: Columns, over_time: OverTime | None, verdict: Verdict | None, counts: Counts
) -> tuple[Headline, ...]:
    """Return the four figures of a job trace: requested, unused, saved at its kills, killed or failed.

    Memory over time is None where it is not known, the verdict (with the defaults) where it is not computed yet
    or cannot be.
    """
    lacking = next(iter(missing_for_sizes(columns)), "")
    unknown = (NOT_YET, "not computed")
    if over_time is None and not counts.finished:
        unknown = (NO_DATA, "no run has finished")
    wanted = (
        (home.REQUESTED, None if over_time is None else home.requested_figure(over_time)),
        (home.UNUSED, None if over_time is None else home.unused_figure(over_time)),
        (SAVED, None if verdict is None else home.saved_figure(verdict)),
    )
    figures = [
        _without(column.heading, lacking, "column missing" if column_of(columns, lacking) is None else "all 0")
        if lacking
        else Headline(column.heading, unknown[0], column.help, unknown[1])
        if figure is None
        else headline(figure)
        for column, figure in wanted
    ]
    ended = (
        headline(home.ended_figure(counts.ended, counts.runs))
        if counts.tells_ends
        else _without(home.ENDED.heading, "status")
    )
    return (*figures, ended)


def trace_headlines(dataset: Dataset, columns: Columns) -> tuple[Headline, ...]:
    """Return jobs, nodes, run time and memory of a job trace; what it lacks is named."""
    return (_jobs(dataset, columns), _distinct(columns, "node", "Nodes"), _duration(columns), _memory(columns))


def benchmark_headlines(dataset: Dataset, columns: Columns) -> tuple[Headline, ...]:
    """Return the state of a dataset of benchmark runs."""
    return (
        Headline("Runs", format_count(dataset.rows), "Benchmark runs in the store."),
        _distinct(columns, "node", "Nodes"),
        _distinct(columns, "benchmark", "Benchmarks"),
        _period(columns),
    )


def configuration_headlines(dataset: Dataset, columns: Columns) -> tuple[Headline, ...]:
    """Return the state of a dataset of measured configurations."""
    return (
        Headline("Measurements", format_count(dataset.rows), "Measured configurations in the store."),
        _distinct(columns, "workload", "Workloads"),
        _distinct(columns, "machine", "Machines"),
    )


def telemetry_headlines(dataset: Dataset, columns: Columns, n_runs: int, n_workloads: int) -> tuple[Headline, ...]:
    """Return the state of a dataset of counters by the second."""
    counters = sum(profile.column.numeric and profile.column.name not in ("t", "row_id") for profile in columns)
    return (
        Headline("Samples", format_count(dataset.rows), "One row for each interval of each run."),
        Headline("Runs", format_count(n_runs), "Recordings, each of one execution of a workload."),
        Headline("Workloads", format_count(n_workloads), "Labels; a run without one is not counted here."),
        Headline("Counters", format_count(counters), "Numbers that every sample holds."),
    )


def measured_sentence(dataset: Dataset, figures: tuple[Headline, ...]) -> str:
    """Return what a measured dataset holds, in one sentence."""
    counts = [
        counted(int(item.value.replace(",", "")), item.label.lower().removesuffix("s"))
        for item in figures
        if item.value.replace(",", "").isdigit()
    ]
    return f"{dataset.name}: {listed(counts)}."


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
    result = column_of(columns, name)
    if result is None:
        return _without(words, name)
    return Headline(words, format_count(result.distinct), f"Distinct values of {name}.")


def _duration(columns: Columns) -> Headline:
    result = column_of(columns, "duration_s")
    if result is None or not math.isfinite(result.median):
        return _without("Median duration", "duration_s")
    meaning = f"Half of the runs end by then ({result.median:,.4g} s), 95 % by the time below ({result.p95:,.4g} s)."
    return Headline("Median duration", format_duration(result.median), meaning, f"p95 {format_duration(result.p95)}")


def _memory(columns: Columns) -> Headline:
    """Return what is used beside what is requested."""
    used, requested = (column_of(columns, name) for name in (USED, REQUESTED))
    if used is None or not math.isfinite(used.median):
        return _without("Median peak memory", USED)
    text = f"{formatted(REQUESTED, requested.median)} requested" if requested else "no requests"
    return Headline(
        "Median peak memory",
        formatted(USED, used.median),
        "Median of the peak memory of a run, beside the median request.",
        text,
    )


def next_steps(
    over_time: OverTime | None, names: Mapping[str, str], result: Verdict | None
) -> tuple[tuple[str, str], ...]:
    """Return (words, what it opens: 'waste', 'breaks', 'cut' or 'nodes') of what to look at next, as far as known."""
    steps = []
    if over_time is not None and over_time.unused.sum() > 0:
        first = largest_named(over_time)
        name = names[over_time.rows[first]]
        steps.append((home.waste_words(name, float(over_time.unused[first].sum())), "waste"))
    if result is not None:
        above = result.memory.trace.above + result.memory.trace.kills
        steps.append((f"What breaks: {counted(above, 'run')} if requests were enforced", "breaks"))
        steps.append((f"What if all requests are cut by {format_share(1 - CUT, 0)}", "cut"))
        steps.append((f"How many {NODE_GB:.0f} GB nodes", "nodes"))
    return tuple(steps)


def _period(columns: Columns) -> Headline:
    result = column_of(columns, "started_s")
    if result is None or not math.isfinite(result.maximum - result.minimum):
        return _without("Period", "started_s")
    length = format_duration(result.maximum - result.minimum)
    return Headline("Period", length, "From the start of the first run to that of the last.")


def _without(words: str, column: str, detail: str = "column missing") -> Headline:
    meaning = f"The trace has no values of {column}; map a column to it on the Data page."
    return Headline(words, NO_DATA, meaning, detail)
