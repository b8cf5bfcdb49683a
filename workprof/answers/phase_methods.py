"""What is said of the methods for change points side by side, and of the typical runs of workloads."""

import math

import numpy as np

from workprof.answers.phases import seconds
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import number
from workprof.core.words import counted, listed, shortened
from workprof.phases.changepoints import METHOD_WORDS
from workprof.phases.methods import REFERENCE, MethodLine, Methods
from workprof.phases.typical import TypicalRun, TypicalRuns

METHOD_COLUMNS = (
    Column("method_name", lambda one: METHOD_WORDS[one.method], "Method"),
    Column("changes", heading="Changes", form="%.2f", help="Of a counter, on average."),
    Column("precision_of_changes", "precision", "Also Bayesian", unit="share", help="Its changes that are there, too."),
    Column("recall_of_changes", "recall", "Of the Bayesian found", unit="share", help="Changes that it has, too."),
    Column("rand_index", heading="Rand index", form="%.3f", help="Of both divisions of the samples; 1 = the same."),
    Column("hausdorff_s", heading="Farthest change", unit="s", help="Hausdorff distance of the changes of both."),
    Column("method", aside=True),
    Column("seconds", aside=True),
)


def run_name(result: Methods) -> str:
    """Workload and run."""
    return f"{result.workload}/{result.run}" if result.workload else result.run


def methods_sentence(result: Methods) -> str:
    """Which method is nearest to the Bayesian search."""
    others = [one for one in result.lines if one.method != REFERENCE]
    nearest = max(others, key=lambda one: one.rand_index)
    if not math.isfinite(nearest.rand_index):
        return f"No counter of {shortened(run_name(result))} can be searched for changes."
    return (
        f"{METHOD_WORDS[nearest.method]} divides {shortened(run_name(result))} most like the Bayesian search: "
        f"Rand index {nearest.rand_index:.3f}."
    )


def methods_note(result: Methods) -> str:
    """What the table of methods rests on."""
    compared = f"Means over {counted(result.n_counters, 'counter')}, by ruptures.metrics"
    same = f"changes within {counted(result.margin, 'sample')} of {result.step_s:g} s count as the same"
    return f"Drawn: {shortened(result.counter)}. {compared}; {same}."


def methods_answer(result: Methods) -> Answer:
    """The phases of one run by every method."""
    found = {name: (own * result.step_s).tolist() for name, own in result.changes.items()}
    return Answer(
        methods_sentence(result),
        tables=(Table("methods", "Methods", METHOD_COLUMNS, result.lines),),
        notes=(methods_note(result),),
        document={
            **{"workload": result.workload, "run": result.run, "counter": result.counter},
            "changes_s": found,
        },
    )


def line_title(line: MethodLine, found: int) -> str:
    """Above the panel of a method."""
    return f"{METHOD_WORDS[line.method]}: {counted(found, 'change')}"


TYPICAL_COLUMNS = (
    Column("workload", heading="Workload"),
    Column("n_runs", lambda one: len(one.runs), "Runs", unit="runs"),
    Column("median_duration_s", "duration_s", "Median duration", unit="s"),
    Column("nearest_run", "nearest", "Closest run"),
    Column("nearest_cost", lambda one: float(one.costs.min()), "Its distance", form="%.3g"),
    Column("farthest_cost", lambda one: float(one.costs.max()), "Farthest distance", form="%.3g"),
    Column("left_out", "n_left_out", "Further runs", unit="count", aside=True),
)


def typical_sentence(result: TypicalRuns) -> str:
    """Which workload's runs are most alike."""
    several = [one for one in result.runs if len(one.runs) > 1]
    if not several:
        return f"{counted(len(result.runs), 'workload')} with one run each: it is its own typical run."
    most = min(several, key=lambda one: float(one.costs.mean()))
    mean = number(float(most.costs.mean()))
    return f"Runs of {shortened(most.workload)} are most alike: {mean} standard deviations from their typical run."


def typical_note(result: TypicalRuns) -> str:
    """What the typical runs rest on."""
    left = sum(one.n_left_out for one in result.runs)
    more = f" {counted(left, 'further run')} left out." if left else ""
    return (
        f"Soft-DTW barycenters (tslearn) over {listed([shortened(name) for name in result.counters])}, in standard "
        f"deviations over all runs; time is the share of a run.{more}"
    )


def typical_answer(result: TypicalRuns) -> Answer:
    """The typical run of each workload."""
    return Answer(
        typical_sentence(result),
        tables=(Table("workloads", "Workloads", TYPICAL_COLUMNS, result.runs),),
        notes=(typical_note(result),),
        document={
            "counters": list(result.counters),
            "typical": {one.workload: np.round(one.levels, 6) for one in result.runs},
            "seconds": result.seconds,
        },
    )


def typical_shown(result: TypicalRuns) -> str:
    """What the figure of typical runs draws."""
    counters = counted(len(result.counters), "counter")
    return f"Typical runs of {counted(len(result.runs), 'workload')}, {counters} each."


def typical_words(one: TypicalRun) -> str:
    """What stands at a typical run."""
    return f"{one.workload}: {counted(len(one.runs), 'run')}, median {seconds(one.duration_s)}"
