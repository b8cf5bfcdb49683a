"""Demand: how what runs request, use or submit develops, its anomalies, and the weeks to come."""

import streamlit as st

from pages._memory.scope import PageContext
from pages._parts import clusterings, figures, forms, long_question, tables
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from workprof.answers.demand import NOT_YET, anomalies_table, called, demand_answer, demand_sentence, figures_of, notes
from workprof.charts.memory.demand import demand_chart
from workprof.charts.shapes import headline
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.memory.demand import Demand
from workprof.memory.questions import DEMAND

MAIN = ("of", "by", "bins", "weeks")


def demand(context: PageContext) -> None:
    """Show the answer, the settings, the series of a row, every series, and the anomalies with their runs."""
    visit, dataset, fit = context.visit, context.dataset, clusterings.everywhere(context.dataset)
    top = st.container()
    own = {"by": clusterings.rows_by(visit, dataset, DEMAND, visit.workbench.demand.resolved(dataset.hash).by)}
    settings = forms.settings(visit, dataset, DEMAND, MAIN, own=own)
    found = long_question.result(
        visit,
        dataset,
        LongQuestion(
            name="memory_demand_run",
            settings=settings,
            compute=visit.workbench.demand,
            button="Take the demand apart",
            before=lambda: NOT_YET,
            what="Taking the demand apart",
            more={"fit": fit},
            outlives=True,
        ),
    )
    if found is None:
        return
    result = called(found, visit.workbench.profile_names(dataset.hash, fit))
    names = tuple(row.name for row in result.rows)
    chosen = names[0] if len(names) == 1 else choice("Series", "memory_demand_row", names)
    row = result.row(chosen)
    with top:
        figures.headline(markdown_text(demand_sentence(result, row), 300))
        figures.headline_row(tuple(map(headline, figures_of(result, row))))
    figures.show(demand_chart(result, chosen), key="memory_demand", sentence=False)
    told = demand_answer(result)
    file = f"{safe_name(dataset.name)}-demand"
    tables.saved(told.table(), file, key="memory_demand_table", alt=told.sentence)
    if anomalies_table(result).rows:
        figures.fold("Anomalies and the runs behind them", "memory_demand_anomalies", _anomalies, result, file)
    figures.fold("Method", "memory_demand_method", _method, result, icon=":material/function:")


def _anomalies(result: Demand, file: str) -> None:
    table = anomalies_table(result)
    tables.saved(table, f"{file}-anomalies", key="memory_demand_anomalies_table", alt=table.title)


def _method(result: Demand) -> None:
    for words in notes(result):
        st.caption(markdown_text(words, 400))
