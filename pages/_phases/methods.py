"""What takes long and stands in folds: change points by every method, typical runs and shapes, parts of runs."""

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
from workprof.core.words import markdown_text
from workprof.phases.library import LibraryEdits
from workprof.phases.questions import COURSE, EARLY, GROWING, METHODS, SHAPES, TYPICAL


def methods(context: PageContext) -> None:
    """Show the run's phases by PELT and the other methods beside the Bayesian search."""
    name = context.line.name
    question = LongQuestion(
        "phases_start_methods",
        forms.settings(context.visit, context.dataset, METHODS, ("counter", "margin"), context.shared | {"run": name}),
        context.workbench.phase_methods,
        "Compare the methods",
        lambda: f"The methods are not compared on {markdown_text(name)} yet.",
        "Searching by every method",
    )
    result = long_question.result(context.visit, context.dataset, question)
    if result is None:
        return
    figures.show(methods_chart(result), key="phases_methods_chart")
    (table,) = methods_answer(result).tables
    tables.saved(table, "phases-methods", key="phases_methods_table", alt="Agreement of the methods")


def shapes(context: PageContext, source: str, edits: LibraryEdits) -> None:
    """Show the shapes of runs, and the ways to group them beside each other."""
    given = context.shared | {"edits.labels": edits.labels}
    question = LongQuestion(
        name="phases_start_shapes",
        settings=forms.settings(context.visit, context.dataset, SHAPES, ("grouping", "k", "most_runs", "seen"), given),
        compute=context.workbench.run_shapes,
        source=source,
        button="Group the runs",
        before=lambda: NOT_YET,
        what="Grouping runs by shape",
    )
    result = long_question.result(context.visit, context.dataset, question)
    if result is None:
        return
    figures.show(shapes_chart(result), key="phases_shapes_chart")
    told = shapes_answer(result)
    for table in told.tables:
        tables.saved(table, f"phases-{table.name}", key=f"phases_shapes_{table.name}", alt=table.title)
    for words in told.notes[:-1]:
        st.caption(markdown_text(words, 400))


def growing(context: PageContext) -> None:
    """Show the sizes that grow over a run, beside one size."""
    question = LongQuestion(
        "phases_start_growing",
        forms.settings(context.visit, context.dataset, GROWING, ("segments", "counter", "headroom", "lead")),
        context.workbench.growing_sizes,
        "Learn the sizes",
        lambda: NOT_SIZED,
        "Learning sizes that grow",
    )
    result = long_question.result(context.visit, context.dataset, question)
    if result is None:
        return
    told = growing_answer(result)
    figures.show(growing_chart(result), key="phases_growing_chart")
    tables.saved(told.table(), "phases-growing", key="phases_growing_table", alt=told.sentence)
    for words in told.notes[1:]:
        st.caption(markdown_text(words, 400))


def typical(context: PageContext, source: str, edits: LibraryEdits) -> None:
    """Show the barycenter of each workload's runs."""
    given = context.shared | {"edits.labels": edits.labels}
    question = LongQuestion(
        name="phases_start_typical",
        settings=forms.settings(context.visit, context.dataset, TYPICAL, ("shown", "points", "gamma"), given),
        compute=context.workbench.typical_runs,
        source=source,
        button="Find the typical runs",
        before=lambda: "The typical run of each workload is not computed with these settings yet.",
        what="Laying the runs over each other",
    )
    result = long_question.result(context.visit, context.dataset, question)
    if result is None:
        return
    figures.show(typical_chart(result), key="phases_typical_chart")
    (table,) = typical_answer(result).tables
    tables.saved(table, "phases-typical", key="phases_typical_table", alt="Typical runs by workload")


def course(context: PageContext, train: str, edits: LibraryEdits) -> None:
    """Show what the run is taken for as it goes on."""
    name = context.line.name
    given = context.shared | {"unknown": name, "train_hash": train, "edits.labels": edits.labels}
    question = LongQuestion(
        name="phases_start_course",
        settings=forms.settings(context.visit, context.dataset, COURSE, ("every",), given),
        compute=context.workbench.run_course,
        button="Follow the run",
        before=lambda: f"What {markdown_text(name)} is taken for as it goes on is not computed yet.",
        what="Laying the run over known ones",
    )
    result = long_question.result(context.visit, context.dataset, question)
    if result is None:
        return
    figures.show(course_chart(result), key="phases_course_chart")
    (table,) = course_answer(result).tables
    tables.saved(table, "phases-course", key="phases_course_table", alt="What the run is taken for, by time")


def early(context: PageContext) -> None:
    """Show how soon runs are recognised, and by which counters."""
    question = LongQuestion(
        name="phases_start_early",
        settings=forms.settings(context.visit, context.dataset, EARLY, ("every", "excluded"), context.shared),
        compute=context.workbench.early_recognition,
        button="Measure how soon",
        before=lambda: "How soon runs are recognised is not measured with these settings yet.",
        what="Holding runs back",
    )
    result = long_question.result(context.visit, context.dataset, question)
    if result is None:
        return
    figures.show(early_chart(result), key="phases_early_chart")
    told = early_answer(result)
    for table in told.tables:
        tables.saved(table, f"phases-early-{table.name}", key=f"phases_early_{table.name}", alt=table.title)
    st.caption(markdown_text(told.notes[0], 400))
