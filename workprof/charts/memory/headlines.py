"""What is asked for and used, as figures."""

from __future__ import annotations

from workprof.charts.memory.words import gb_h, shown
from workprof.charts.shapes import Headline
from workprof.charts.text import counted
from workprof.memory.assessment import FEWEST_RUNS, Assessment, Utilisation
from workprof.units import format_share


def assessment_headlines(found: Assessment) -> tuple[Headline, ...]:
    """Return utilisation by count and by time, GB·h, and the runs that are too large already."""
    requested = sum(task.requested_gb_h for task in found.tasks)
    over = sum(task.n_over_request for task in found.tasks)
    used = requested * found.memory.utilisation_by_time
    return (
        _used("Memory used", found.memory, "Use over request of memory, every run counting as one."),
        _used("CPU used", found.cpu, "Mean CPU use over requested cores, every run counting as one."),
        Headline("Requested", gb_h(requested), "Requests times run time; GB = 1e9 bytes.", "request × time"),
        Headline("Used", gb_h(used), "Uses times run time, of the runs with a request.", "used × time"),
        Headline(
            "Over request",
            f"{over:,}",
            "Runs that used more than they asked for: too small already, whatever is saved elsewhere.",
            f"{format_share(over / found.n_runs)} of runs",
        ),
        Headline(
            "Tasks",
            f"{len(found.tasks):,}",
            f"Tasks with fewer than {FEWEST_RUNS} runs are too thin for advice.",
            f"{found.n_too_few} too thin",
        ),
    )


def assessment_sentence(found: Assessment) -> str:
    """Return in one sentence where the memory goes."""
    if not found.memory.n:
        return f"None of {counted(found.n_runs, 'run')} has a request, so nothing can be called wasted yet."
    wasted = sum(task.wasted_gb_h for task in found.tasks)
    requested = sum(task.requested_gb_h for task in found.tasks)
    worst = found.tasks[0]
    share = worst.wasted_gb_h / wasted if wasted else 0.0
    return (
        f"{gb_h(wasted)} of {gb_h(requested)} are asked for and not used; "
        f"{shown(worst.task)} alone wastes {gb_h(worst.wasted_gb_h)} ({format_share(share)})."
    )


def left_out_words(left_out: dict[str, int]) -> str:
    """Return the rows that are in no figure."""
    told = [f"{rows:,} with {reason}" for reason, rows in left_out.items() if rows]
    return f"Rows left out: {', '.join(told)}." if told else "No row is left out."


def _used(label: str, found: Utilisation, meaning: str) -> Headline:
    if not found.n:
        return Headline(label, "no data", f"{meaning} The table has no such pairs.", "no such pairs")
    return Headline(
        label,
        format_share(found.utilisation),
        f"{meaning} By time: weighted by hours. {counted(found.n, 'run')}.",
        f"by time {format_share(found.utilisation_by_time)}",
    )
