"""What takes long and stands in folds: change points by every method, typical runs and shapes, parts of runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import streamlit as st

from pages._parts import figures, forms, long_question, tables
from pages._parts.long_question import LongQuestion
from pages._phases.form import PageContext
from workprof.answers.growing import NOT_YET as NOT_SIZED, growing_answer
from workprof.answers.partial import course_answer, early_answer
from workprof.answers.phase_methods import methods_answer, typical_answer
from workprof.answers.shapes import NOT_YET, shapes_answer
from workprof.charts.phases.methods import growing_chart, methods_chart, shapes_chart, typical_chart
from workprof.charts.phases.partial import course_chart, early_chart
from workprof.charts.shapes import Chart
from workprof.core.answer import Answer
from workprof.core.question import Question
from workprof.core.words import markdown_text
from workprof.phases.library import LibraryEdits
from workprof.phases.questions import COURSE, EARLY, GROWING, METHODS, SHAPES, TYPICAL
from workprof.workbench.question_methods import Bound

Settings = TypeVar("Settings")
Result = TypeVar("Result")


def methods(context: PageContext) -> None:
    """Show the run's phases by PELT and the other methods beside the Bayesian search."""
    name = context.line.name
    _fold(
        (context, METHODS, context.workbench.phase_methods, ("counter", "margin")),
        context.shared | {"run": name},
        ("Compare the methods", f"The methods are not compared on {markdown_text(name)} yet."),
        "Searching by every method",
        (methods_chart, methods_answer),
    )


def shapes(context: PageContext, source: str, edits: LibraryEdits) -> None:
    """Show the shapes of runs, and the ways to group them beside each other."""
    _fold(
        (context, SHAPES, context.workbench.run_shapes, ("grouping", "k", "most_runs", "seen")),
        context.shared | {"edits.labels": edits.labels},
        ("Group the runs", NOT_YET),
        "Grouping runs by shape",
        (shapes_chart, shapes_answer),
        source,
    )


def growing(context: PageContext) -> None:
    """Show the sizes that grow over a run, beside one size."""
    _fold(
        (context, GROWING, context.workbench.growing_sizes, ("segments", "counter", "headroom", "lead")),
        {},
        ("Learn the sizes", NOT_SIZED),
        "Learning sizes that grow",
        (growing_chart, growing_answer),
    )


def typical(context: PageContext, source: str, edits: LibraryEdits) -> None:
    """Show the barycenter of each workload's runs."""
    _fold(
        (context, TYPICAL, context.workbench.typical_runs, ("shown", "points", "gamma")),
        context.shared | {"edits.labels": edits.labels},
        ("Find the typical runs", "The typical run of each workload is not computed with these settings yet."),
        "Laying the runs over each other",
        (typical_chart, typical_answer),
        source,
    )


def course(context: PageContext, train: str, edits: LibraryEdits) -> None:
    """Show what the run is taken for as it goes on."""
    name = context.line.name
    _fold(
        (context, COURSE, context.workbench.run_course, ("every",)),
        context.shared | {"unknown": name, "train_hash": train, "edits.labels": edits.labels},
        ("Follow the run", f"What {markdown_text(name)} is taken for as it goes on is not computed yet."),
        "Laying the run over known ones",
        (course_chart, course_answer),
    )


def early(context: PageContext) -> None:
    """Show how soon runs are recognised, and by which counters."""
    _fold(
        (context, EARLY, context.workbench.early_recognition, ("every", "excluded")),
        context.shared,
        ("Measure how soon", "How soon runs are recognised is not measured with these settings yet."),
        "Holding runs back",
        (early_chart, early_answer),
    )


def _fold(
    asked: tuple[PageContext, Question[Settings, Result], Bound[Settings, Result], Sequence[str]],
    given: Mapping[str, Any],
    button: tuple[str, str],
    what: str,
    shown: tuple[Callable[[Result], Chart], Callable[[Result], Answer]],
    source: str = "",
) -> None:
    """Show a question's settings and its chart, its tables and what the chart does not note, or how to get them.

    `asked` is the page, the question, the workbench's method and the settings that are not folded; `button` its words
    and what stands above it.
    """
    context, question, compute, main = asked
    name = question.name.rpartition(".")[2]
    settings = forms.settings(context.visit, context.dataset, question, main, given)
    long = LongQuestion(f"phases_start_{name}", settings, compute, button[0], lambda: button[1], what, source=source)
    result = long_question.result(context.visit, context.dataset, long)
    if result is None:
        return
    chart, told = shown[0](result), shown[1](result)
    figures.show(chart, key=f"phases_{name}_chart")
    for table in told.tables:
        tables.saved(table, f"phases-{name}-{table.name}", key=f"phases_{name}_{table.name}", alt=table.title)
    for words in told.notes:
        if words not in chart.note:
            st.caption(markdown_text(words, 400))
