"""Change points of one run by every method, and the typical run of each workload."""

from pages._parts import figures, forms, long_question, tables
from pages._parts.long_question import LongQuestion
from pages._phases.form import PageContext
from workprof.answers.phase_methods import methods_answer, typical_answer
from workprof.charts.phases.methods import methods_chart, typical_chart
from workprof.core.words import markdown_text
from workprof.phases.library import LibraryEdits
from workprof.phases.questions import METHODS, TYPICAL


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
