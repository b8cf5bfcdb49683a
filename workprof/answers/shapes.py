"""Runs by the shape of their usage: the shapes, and the ways to group runs beside each other."""

import math
from collections import Counter

from workprof.answers.phase_methods import TYPICAL_COLUMNS
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import format_share, number
from workprof.core.words import counted, listed, shortened
from workprof.phases.shapes import AGGREGATES, ALIKE, BARYCENTERS, DENSITY, MEDOIDS, PHASES, Grouping, Shapes
from workprof.phases.typical import TypicalRun

NOT_YET = "The runs are not grouped by shape yet."
WAYS = {
    MEDOIDS: "Shape: k-medoids",
    BARYCENTERS: "Shape: barycenters",
    DENSITY: "Shape: density",
    PHASES: "Phases",
    AGGREGATES: "Mean and maximum",
    ALIKE: "No groups",
}
GROUPINGS = (
    Column("grouping", "method", shown=False),
    Column("grouped_by", lambda one: WAYS[one.method], "Grouped by", pinned=True),
    Column("n_groups", heading="Number of groups", unit="count"),
    Column(
        "agreement_ari",
        "agreement",
        "Agreement (ARI)",
        form="%.2f",
        help="Adjusted Rand index with the shapes shown: 1 = the same groups, 0 = by chance.",
    ),
    Column("workload_ari", "truth", "Workloads (ARI)", form="%.2f", help="Likewise with the labelled workloads."),
    Column(
        "held_silhouette",
        "silhouette",
        "Silhouette, held runs",
        form="%.2f",
        help="Of the runs held back, each in the group of the run learned that is closest.",
    ),
    Column(
        "held_duration_error",
        "duration_error",
        "Error of run time",
        unit="share",
        help="Of the runs held back: forecast from the group that their beginning looks like.",
    ),
    Column("held_memory_error", "memory_error", "Error of peak memory", unit="share", help="Likewise, of peak memory."),
)


def _mostly(result: Shapes, one: TypicalRun) -> str:
    own = Counter(
        workload
        for workload, label in zip(result.workloads, result.labels.tolist(), strict=True)
        if label == result.runs.index(one) and workload
    )
    return ", ".join(f"{name} ({n})" for name, n in own.most_common(3))


def shapes_sentence(result: Shapes) -> str:
    """How many shapes there are, and what they tell beyond aggregates."""
    n_shapes = counted(len(result.runs), "shape")
    first = f"{counted(len(result.names), 'run')} {'has' if len(result.names) == 1 else 'have'} {n_shapes}"
    table = next(one for one in result.groupings if one.method == AGGREGATES)
    return f"{first}; grouped by mean and maximum they agree to {number(round(table.agreement, 2))} (ARI)."


def forecast_words(result: Shapes) -> str:
    """Whether shapes help to forecast run time and memory of a run that goes."""
    by = {one.method: one for one in result.groupings}
    own, none, table = by[result.settings.grouping], by[ALIKE], by[AGGREGATES]
    parts = [
        f"Error of {what}: {format_share(mine)}, by mean and maximum {format_share(other)}, without groups "
        f"{format_share(without)}."
        for what, mine, other, without in (
            ("run time", own.duration_error, table.duration_error, none.duration_error),
            ("peak memory", own.memory_error, table.memory_error, none.memory_error),
        )
        if mine > 0
    ]
    return " ".join([f"Forecasts once {format_share(result.settings.seen, 0)} of the median run is seen.", *parts])


def shapes_note(result: Shapes) -> str:
    """What the shapes rest on."""
    counters = listed([shortened(name) for name in result.counters])
    drawn = f" {result.n_compared:,} runs are compared, the others join the closest." * (
        result.n_compared < len(result.names)
    )
    odd = int((result.labels < 0).sum())
    return f"Warped over {counters}, in standard deviations over all runs.{drawn}" + (
        f" {counted(odd, 'run')} in no shape." if odd else ""
    )


def shapes_shown(result: Shapes) -> str:
    """What the figure draws."""
    return f"The typical curves of {counted(len(result.runs), 'shape')}."


def best_of(result: Shapes) -> Grouping:
    """The way whose groups hold best for the runs held back, among those by shape, phases and aggregates."""
    return max(result.groupings, key=lambda one: -math.inf if math.isnan(one.silhouette) else one.silhouette)


def shapes_answer(result: Shapes) -> Answer:
    """The shapes of runs, and how they compare with groups by phases and by aggregates."""
    columns = tuple(
        Column("shape", "workload", "Shape", pinned=True) if one.name == "workload" else one for one in TYPICAL_COLUMNS
    )
    mostly = Column("workloads", lambda one: _mostly(result, one), "Workloads")
    best = best_of(result)
    held = f"Groups by {WAYS[best.method].lower()} hold best for the runs held back."
    return Answer(
        shapes_sentence(result),
        tables=(
            Table("groupings", "Ways to group the runs", GROUPINGS, result.groupings),
            Table("shapes", "Shapes", (*columns[:2], mostly, *columns[2:]), result.runs),
        ),
        notes=tuple(filter(None, (forecast_words(result), held, shapes_note(result)))),
        document={
            "counters": list(result.counters),
            "memory_counter": result.memory_counter,
            "runs": [
                {"run": name, "shape": int(label) + 1 if label >= 0 else None}
                for name, label in zip(result.names, result.labels, strict=True)
            ],
            "n_compared": result.n_compared,
            "n_bounded": result.n_bounded,
            "seconds": result.seconds,
        },
    )
