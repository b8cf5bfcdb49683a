"""The Home page: a dataset in a few figures, what was found for it, and what it could save."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workprof.answers.over_time import largest_named
from workprof.charts.memory.verdict import verdict_headlines
from workprof.charts.shapes import Headline
from workprof.charts.text import counted, formatted, listed
from workprof.core.units import compact, format_count, format_duration, format_share
from workprof.memory.over_time import OverTime
from workprof.memory.verdict import Verdict
from workprof.profiles.fit import ProfileFit
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
SAVING, KILLS = "Saved", "Kills"
UNUSED, IN_PROFILE = "Unused memory", "In a profile"
USED, REQUESTED = "peak_memory_bytes", "requested_memory_bytes"
ABOVE_NAMED = 0.005
"""Share of the requested memory from which used and unused memory visibly add up to more than 100 %."""
ABOVE_SHOWN = 0.05
"""Share of the requested memory from which use above the requests is named."""


def memory_sentence(result: OverTime, counts: Counts) -> str:
    """Return what the runs of a trace hold and how much of it they use, in one sentence.

    Runs that did not finish, or lack a request or a use, are in no sum: then the sentence says how many are.
    Use above the requests is named apart, so that what is used of the requests and what is not add up to all of them.
    Where it is much, the sentence gives what is unused and what is above the requests.
    """
    by = f" by {counted(counts.users, 'user')}" if counts.users else ""
    held = f"{counted(counts.runs, 'run')}{by} {'holds' if counts.runs == 1 else 'hold'}"
    if result.n_judged < counts.runs:  # the sums are of these alone
        held = f"{result.n_judged:,} of {counted(counts.runs, 'run')}{by} finished with a request and a use: they hold"
    requested = result.total_requested
    held += f" {compact(requested)} GB·h of memory"
    uses, leave = ("uses", "leaves") if counts.runs == 1 else ("use", "leave")
    above = result.total_used + result.total_unused - requested
    if not requested > 0 or above < ABOVE_NAMED * requested:
        share = result.total_used / requested if requested > 0 else math.nan
        return f"{held} and {uses} {format_share(share, 0)} of it."
    unused = result.total_unused / requested
    if above > ABOVE_SHOWN * requested:
        over = f"{uses} {compact(above)} GB·h above the requests"
        return f"{held}, {leave} {format_share(unused, 0)} of it unused, and {over}."
    within, not_used, more = (format_share(share, 0) for share in (1 - unused, unused, above / requested))
    return f"{held}: {within} is used and {not_used} is not; another {more} is used above the requests."


def home_headlines(
    columns: Columns, over_time: OverTime | None, fit: ProfileFit | None, verdict: Verdict | None
) -> tuple[Headline, ...]:
    """Return the four figures of a job trace: what is unused, what is in a profile, what is saved and what it kills.

    Args:
        columns: their distributions.
        over_time: memory over time, None = not known.
        fit: default profiles, None = not found yet.
        verdict: with the defaults, None = not computed yet.
    """
    return (_unused(columns, over_time), _clustered(fit), *_saving(columns, verdict))


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


def _unused(columns: Columns, result: OverTime | None) -> Headline:
    """Return what is requested and not used."""
    lacking = [name for name in (REQUESTED, USED, "duration_s") if column_of(columns, name) is None]
    if lacking:
        return _without(UNUSED, lacking[0])
    if result is None:
        return Headline(UNUSED, NOT_YET, "Requested and not used, in GB·h.", "not computed")
    share = result.total_unused / result.total_requested if result.total_requested > 0 else math.nan
    return Headline(
        UNUSED,
        f"{compact(result.total_unused)} GB·h",
        "Requested and not used. A run that uses more than it requests leaves nothing unused, so used and unused "
        "memory add up to more than what is requested.",
        f"{format_share(share, 0)} of requested",
    )


def _clustered(fit: ProfileFit | None) -> Headline:
    if fit is None:
        return Headline(IN_PROFILE, NOT_YET, "Share of the runs that belong to a profile.", "find profiles first")
    share = 1 - fit.scores.n_outliers / max(fit.scores.n_rows, 1)
    return Headline(
        IN_PROFILE,
        format_share(share),
        "Share of the runs that belong to a profile of the default settings; the others are unlike any group.",
        counted(fit.scores.n_clusters, "profile"),
    )


def next_steps(
    over_time: OverTime | None, names: Mapping[str, str], result: Verdict | None
) -> tuple[tuple[str, str], ...]:
    """Return (words, what it opens: 'waste', 'breaks', 'cut' or 'nodes') of what to look at next, as far as known."""
    steps = []
    if over_time is not None and over_time.unused.sum() > 0:
        first = largest_named(over_time)
        idle = compact(float(over_time.unused[first].sum()))
        steps.append((f"Biggest waste: {names[over_time.rows[first]]}, {idle} GB·h unused", "waste"))
    if result is not None:
        above = result.memory.trace.above + result.memory.trace.kills
        steps.append((f"What breaks: {counted(above, 'run')} if requests were enforced", "breaks"))
        steps.append((f"What if all requests are cut by {format_share(1 - CUT, 0)}", "cut"))
        steps.append((f"How many {NODE_GB:.0f} GB nodes", "nodes"))
    return tuple(steps)


def _saving(columns: Columns, result: Verdict | None) -> tuple[Headline, Headline]:
    """Return what the verdict saves and, beside it, what it kills."""
    lacking = [name for name in (REQUESTED, USED, "duration_s") if column_of(columns, name) is None]
    if lacking:
        return _without(SAVING, lacking[0]), _without(KILLS, lacking[0])
    if result is None:
        what = "Of the next requests, judged on the later runs."
        return Headline(SAVING, NOT_YET, what, "not computed"), Headline(KILLS, NOT_YET, what, "not computed")
    _requested, _unused, saving, kills = verdict_headlines(result)
    return saving, kills


def _period(columns: Columns) -> Headline:
    result = column_of(columns, "started_s")
    if result is None or not math.isfinite(result.maximum - result.minimum):
        return _without("Period", "started_s")
    length = format_duration(result.maximum - result.minimum)
    return Headline("Period", length, "From the start of the first run to that of the last.")


def _without(words: str, column: str) -> Headline:
    meaning = f"The trace has no values of {column}; map a column to it on the Data page."
    return Headline(words, NO_DATA, meaning, "column missing")
