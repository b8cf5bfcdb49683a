"""What tasks request and use, their classes, and what predicts their memory: words, tables and documents."""

from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

from workprof.answers.bins import OVER_REQUEST
from workprof.answers.runs import never_used, runs_notes
from workprof.answers.tasks import names_of, shown
from workprof.core.answer import Answer, Figure, Table
from workprof.core.stats import FEWEST_RUNS
from workprof.core.table import Column
from workprof.core.units import format_share, gb, gb_h
from workprof.core.words import column_words, counted, shortened
from workprof.memory.assessment import AUTO, HEAVY, LIGHT, MODERATE, Assessment, Utilisation
from workprof.memory.facts import AFTER, BEFORE, UNSURE, FactPoints, MemoryFact, MemoryFacts
from workprof.memory.usage import lower_bound_words

UTILISATION = Column(
    "utilisation_by_time",
    heading="Memory utilisation",
    unit="share",
    help="GB·h used over GB·h requested.",
)
BY_COUNT = Column(
    "utilisation",
    heading="Utilisation by count",
    unit="share",
    help="Memory used over memory requested, every run counting as one.",
)
CPU_BY_TIME = Column(
    "cpu_utilisation_by_time",
    heading="CPU utilisation",
    unit="share",
    help="CPU use over requested cores, weighted by run time.",
)
JUDGED = Column(
    "judged_gb_h",
    heading="Requested",
    unit="GB·h",
    help="Requests times run time, of runs whose use is known. GB = 1e9 bytes.",
)
WASTED = Column("wasted_gb_h", heading="Wasted", unit="GB·h", help="Requested and not used, times run time.")
REQUEST = Column("requested_gb", heading="Request", unit="GB", help="Of most runs; GB = 1e9 bytes.")
RUNS = Column("n", heading="Runs", unit="runs")
CLASS = Column("class", "size_class", "Class", help="Light, moderate or heavy, by the limits below.")
MOST_NAMED, LONGEST_NAMED = 3, 24

TASKS = (
    Column("short_name", heading="Task", pinned=True, width="medium"),
    CLASS,
    Column("too_few", heading="Too few runs", help=f"Fewer than {FEWEST_RUNS} runs: the task is too thin for advice."),
    RUNS,
    WASTED,
    JUDGED,
    REQUEST,
    Column("p50_gb", "peak_gb.p50", "Median use", unit="GB"),
    Column("p95_gb", "peak_gb.p95", "p95 use", unit="GB"),
    Column("max_gb", "peak_gb.max", "Largest use", unit="GB"),
    UTILISATION,
    BY_COUNT,
    CPU_BY_TIME,
    OVER_REQUEST,
    Column("n_without_request", heading="No request", unit="runs", help="Runs without a request."),
    Column("task", heading="Full name", width="large"),
    Column("requested_gb_h", heading="Requested", unit="GB·h", aside=True),
    *(Column(name, shown=False) for name in ("cpu_utilisation", "n_without_use", "n_lower_bound")),
    Column("peak_gb", lambda one: asdict(one.peak_gb), shown=False),
)
"""A line per task."""

GROUPS = (
    REQUEST,
    Column("requested_cores", heading="Cores", form="%.3g"),
    Column("n_tasks", lambda group: len(group.tasks), "Tasks", unit="count"),
    Column("n_runs", heading="Runs", unit="runs"),
    UTILISATION,
    BY_COUNT,
    WASTED,
    Column("names", lambda group: _first_names(group.tasks), "Tasks in it", width="large"),
    Column("tasks", shown=False),
)
"""A line per group of tasks that request the same: the load-aware provisioning thesis, Table 4."""

BOXES = (
    Column("value", "task", "Value"),
    RUNS,
    Column("median_gb", heading="Median use", unit="GB"),
    Column("q1_gb", heading="Quartiles of use", unit="GB", to=Column("q3_gb", unit="GB")),
    Column("low_gb", heading="Whiskers", unit="GB", to=Column("high_gb", unit="GB"), help="1.5 quartile ranges away."),
    Column("n_extremes", heading="Beyond whiskers", unit="runs"),
    Column("extremes_gb", shown=False),
)
"""A line per box of a box plot."""

TASK_BOXES = (
    Column("task"),
    REQUEST,
    *(replace(one, value=f"box.{one.name}", to=one.to and replace(one.to, value=f"box.{one.to.name}"))
      for one in BOXES[1:] if one.shown),
    CLASS,
)  # fmt: skip

FACTS = (
    Column("column", heading="Field"),
    Column("known", heading="Known"),
    Column("kind", heading="Kind"),
    Column("strength", heading="Strength", form="%.2f"),
    Column("correlation", heading="Rank correlation", form="%.2f"),
    Column("low", heading="95 % interval", form="%.2f", to=Column("high", form="%.2f")),
    Column("p_adjusted", heading="p, adjusted", form="%.2g"),
    RUNS,
    Column("n_values", heading="Values", unit="count"),
)
"""A line per field that goes with the use of memory."""


def _first_names(tasks: Sequence[str]) -> str:
    names = ", ".join(shortened(shown(task), LONGEST_NAMED) for task in tasks[:MOST_NAMED])
    return names if len(tasks) <= MOST_NAMED else f"{names} and {len(tasks) - MOST_NAMED} more"


def assessment_answer(result: Assessment) -> Answer:
    """What the tasks request and use, those that waste most first."""
    names = names_of(one.task for one in result.tasks)
    columns = (replace(TASKS[0], value=lambda one: names[one.task]), *TASKS[1:])
    counts = ("n_finished", "n_runs", "n_requesting", "n_judged", "n_lower_bound")
    amounts = ("requested_gb_h", "judged_gb_h", "used_gb_h", "wasted_gb_h")
    return Answer(
        assessment_sentence(result),
        _figures(result),
        (
            Table("tasks", "Tasks, most GB·h wasted first", columns, result.tasks),
            Table("groups", "Tasks by memory request", GROUPS, result.groups),
        ),
        _notes(result),
        {
            **{name: getattr(result, name) for name in (*counts, *amounts)},
            "n_without_use": result.memory.n_without_use,
            "memory": asdict(result.memory),
            "cpu": asdict(result.cpu),
            "features": [asdict(one) for one in result.features.facts],
            "features_n_drawn": result.features.n_drawn,
            "features_left_out": [asdict(one) for one in result.features.left_out],
            "left_out": result.left_out,
            "evidence": [asdict(one) for one in result.evidence],
            "seconds": result.seconds,
        },
    )


def assessment_sentence(result: Assessment) -> str:
    """Where the memory goes."""
    if not result.memory.n and result.n_requesting:
        asking = counted(result.n_requesting, "run")
        return f"None of {asking} with a request has a known use, so nothing can be called wasted yet."
    if not result.memory.n:
        return f"None of {counted(result.n_runs, 'run')} has a request, so nothing can be called wasted yet."
    sentence = never_used("memory", result.wasted_gb_h, result.judged_gb_h, "GB·h")
    if result.n_judged < result.n_requesting:
        left = result.n_requesting - result.n_judged
        known = "without a known use is" if left == 1 else "without a known use are"
        sentence += f" {left:,} of {counted(result.n_requesting, 'run')} {known} not counted."
    worst = result.tasks[0]
    if len(result.tasks) == 1 or not result.wasted_gb_h > 0:
        return sentence
    return f"{sentence} {shown(worst.task)} alone wastes {format_share(worst.wasted_gb_h / result.wasted_gb_h)} of it."


def _figures(result: Assessment) -> tuple[Figure, ...]:
    over = replace(OVER_REQUEST, value=lambda one: sum(task.n_over_request for task in one.tasks))
    judged = counted(result.n_judged, "run")
    requested = (
        f"Requests times run time of {judged} with a request and a known use, below it their uses times run time. "
        f"{counted(result.n_requesting, 'finished run')} with a request held {gb_h(result.requested_gb_h)}."
    )
    used = result.memory.utilisation_by_time * result.judged_gb_h
    n_both = compared_runs(result)
    return (
        _used("memory", UTILISATION, result.memory),
        Figure(JUDGED, result, f"used {gb_h(used)} by {judged}" if result.n_judged else "", requested),
        Figure(
            over,
            result,
            f"{format_share(over.of(result) / n_both)} of {counted(n_both, 'finished run')}" if n_both else "",
            f"{OVER_REQUEST.help} Whatever is saved elsewhere, they are too small.",
        ),
        _used("cpu", CPU_BY_TIME, result.cpu),
    )


def compared_runs(result: Assessment) -> int:
    """The runs that have a request and a use, also where that is a lower bound."""
    return result.memory.n + result.memory.n_lower_bound


def _used(resource: str, column: Column, found: Utilisation) -> Figure:
    own = replace(column, name=f"{resource}_utilisation", value="utilisation_by_time")
    by_count = f"by count {format_share(found.utilisation)}" if found.n else "no run has both"
    return Figure(own, found, by_count, f"{column.help} Below it every run counts as one. {counted(found.n, 'run')}.")


def _notes(result: Assessment) -> tuple[str, ...]:
    notes = []
    if result.n_lower_bound:
        words = lower_bound_words(result.n_lower_bound, result.n_runs)
        notes.append(f"{words[:1].upper()}{words[1:]}.")
    return (*notes, *runs_notes(result.left_out, result.evidence, result.settings.target))


def classes_sentence(result: Assessment) -> str:
    """How many tasks are light, moderate and heavy, and where these end."""
    counts, classes = result.classes.counts, result.classes
    how = "found" if result.settings.classes.limits == AUTO else "set"
    moderate = gb(classes.moderate_bytes / 1e9)
    if counts[HEAVY] == len(result.tasks):
        return f"All {counted(len(result.tasks), 'task')} are heavy (over {moderate} at peak; limits {how})."
    return (
        f"{counted(counts[LIGHT], 'light task')} (up to {gb(classes.light_bytes / 1e9)}), {counts[MODERATE]} "
        f"moderate (up to {moderate}), {counts[HEAVY]} heavy (limits {how})."
    )


def classes_note(result: Assessment) -> str:
    """What light means."""
    return f"Light: the largest use + {result.settings.classes.headroom * 100:g} % is within the light limit."


def boxes_sentence(result: Assessment, drawn: int) -> str:
    """Which of the first tasks uses most."""
    widest = max(result.tasks[:drawn], key=lambda task: task.peak_gb.max)
    return (
        f"{shown(widest.task)} uses most: up to {gb(widest.peak_gb.max)}, half of its runs at most "
        f"{gb(widest.peak_gb.p50)}."
    )


def boxes_note(result: Assessment, drawn: int, end_gb: float) -> str:
    """What a box shows, and what is not drawn; `end_gb` = where the axis ends, 0 = it shows everything."""
    words = (
        f"{result.n_runs:,} runs. Box: quartiles; whiskers: 1.5 interquartile ranges; dots: runs beyond (thinned, the "
        "extremes kept); grey tick: most common request. Green light, orange moderate, red heavy (named in the "
        "table)."
    )
    if drawn < len(result.tasks):
        words += f" The {drawn} tasks that waste most of {len(result.tasks):,}."
    if end_gb > 0:
        outside = sum(task.peak_gb.max > end_gb for task in result.tasks[:drawn])
        words += f" Close up to {gb(end_gb)}: {counted(outside, 'task')} reach beyond the right end."
    return words


CHANCE = 0.05
"""Of any of all tests of an analysis: fields below it are said to predict."""


def facts_sentence(facts: Sequence[MemoryFact], task: str) -> str:
    """Which field predicts the memory of a task best before it runs; '' = of all tasks."""
    before = [fact for fact in facts if fact.known == BEFORE]
    best = next((fact for fact in before if fact.p_adjusted < CHANCE), None)
    where = f"for {shown(task)}" if task else "over all tasks"
    if best is None:
        return f"No field known before the run predicts the memory {where}{' beyond chance' if before else ''}."
    return f"Best submit-time predictor {where}: {column_words(best.column)} (strength {best.strength:.2f} of 1)."


def facts_note(result: MemoryFacts) -> str:
    """What strength is, and of what."""
    return (
        "Numbers: Spearman's rank correlation without its sign; categories: root of the share of the ranks' variance "
        "that they explain. Hatched: known only after the run, so no prediction may use it. Dotted: a column of the "
        "trace's own, of which nobody said when it is known."
        + (f" Tested on {result.n_drawn:,} runs drawn at random." if result.n_drawn else "")
    )


PARTS = 4
"""Of the runs in order of a number."""
QUARTERS = (
    Column("from", lambda part: float(part[0][0]), "From", form="%.6g"),
    Column("to", lambda part: float(part[0][-1]), "To", form="%.6g"),
    Column("points", lambda part: len(part[0]), "Points", unit="count"),
    Column("median_gb", lambda part: float(np.median(part[1])), "Median use", unit="GB"),
    Column("largest_gb", lambda part: float(part[1].max()), "Largest use", unit="GB"),
)


def fact_answer(result: FactPoints) -> Answer:
    """One field against the use of memory: by category, or by quarters of the runs in order of the number."""
    tables = (Table("boxes", "Use by value", BOXES, result.boxes),)
    points = result.values
    if len(points):
        order = np.argsort(points, kind="stable")
        parts = [(points[part], result.used_gb[part]) for part in np.array_split(order, PARTS) if len(part)]
        tables = (Table("quarters", "Use by quarters of the runs", QUARTERS, parts),)
    settings, known = result.settings, result.known
    when = f"it is known {known}{': not usable for prediction' * (known == AFTER)}"
    when = "nobody said when it is known" if known == UNSURE else when
    whose = f" of {shown(settings.task)}" if settings.task else ""
    missing = f" {result.n_missing:,} runs have no value." if result.n_missing else ""
    drawn = f" {len(points):,} runs are drawn." if 0 < len(points) < result.n else ""
    return Answer(
        f"{shortened(settings.column)} against the memory of {counted(result.n, 'run')}{whose}; {when}.",
        tables=tables,
        notes=(f"{counted(result.n, 'run')}.{drawn}{missing}",),
        document={
            **asdict(settings),
            "kind": result.kind,
            "known": result.known,
            "values": points,
            "used_gb": result.used_gb,
            **({"boxes": ()} if len(points) else {}),
            "n": result.n,
            "n_missing": result.n_missing,
            "seconds": result.seconds,
        },
    )
