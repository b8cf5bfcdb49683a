"""The cheapest configuration found with few trials, on a table of measured ones; node scores help where they can."""

import streamlit as st

from pages._frame import datasets, link
from pages._frame.visit import SAMPLES, Visit
from pages._memory import scope
from pages._nodes.context import PageContext, notes
from pages._parts import figures, forms, long_question, tables
from pages._parts.controls import choice
from pages._parts.long_question import LongQuestion
from workprof.answers.configurations import curve_table, path_table, search_figures, search_sentence
from workprof.charts.nodes.search import cost_curves, search_path
from workprof.core.question import QUESTION_KEY
from workprof.core.words import counted, markdown_text
from workprof.formats.measured import BENCHMARKS, CONFIGURATIONS
from workprof.nodes.questions import SEARCH
from workprof.nodes.search import Search
from workprof.store.reports import Dataset, IngestOptions

TABLE, WORKLOAD = "nodes_configurations", "nodes_workload"
WITHOUT = "without scores"
NEEDS = (
    "Search needs a CSV of measured configurations with the columns machine, count, runtime and cost; further numbers "
    "describe the machines or what the runs used."
)
SAMPLE = {"configurations-nodes": "configurations.benchmarks.jsonl", "configurations": "configurations.csv"}
"""Dataset -> file of the sample: benchmark runs of its nodes, and the table."""


def search(context: PageContext) -> None:
    """Show the search of the chosen table, which is no dataset of benchmark runs."""
    search_of(context.visit)


def search_of(visit: Visit) -> None:
    """Show the choice of a table and of node scores, the searches, then what they rest on."""
    everything = visit.workbench.datasets()
    measured = [one for one in everything if one.kind == CONFIGURATIONS]
    if not measured:
        _nothing(visit)
        return
    first = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        table = _table(measured, datasets.newest(everything, CONFIGURATIONS))
        runs = _runs(visit, table, [one for one in everything if one.kind == BENCHMARKS])
    settings = forms.settings(visit, table, SEARCH, ("optimizer", "trials", "seeds"), {"runs": runs})
    question = LongQuestion(
        "nodes_search",
        settings,
        visit.workbench.configuration_search,
        "Search",
        lambda: "Every search tries configurations one by one, as if the others were not known yet.",
        "Searching configurations",
        source=table.hash,
    )
    with first:
        result = long_question.result(visit, table, question)
        if result is None:
            figures.headline(f"{counted(table.rows, 'measurement')} of configurations are loaded.")
            return
        figures.headline(markdown_text(search_sentence(result), 400))
        figures.headline_row(search_figures(result))
        figures.show(cost_curves(result), key="nodes_search_cost", sentence=False)
    _path(result)
    notes(result.notes)


def _nothing(visit: Visit) -> None:
    figures.headline("No table of measured configurations is loaded yet.")
    st.info(NEEDS, icon=":material/info:")
    files = {name: SAMPLES[BENCHMARKS].path.with_name(file) for name, file in SAMPLE.items()}
    with st.container(horizontal=True):
        clicked = st.button(
            "Load sample",
            type="primary",
            icon=":material/science:",
            key="nodes_search_sample",
            disabled=bool(visit.admins_only) or not all(file.is_file() for file in files.values()),
            help=visit.admins_only or "Three workloads that were really measured on parts of one machine.",
        )
        datasets.upload_button(visit)
    if clicked:
        with st.spinner("Loading the sample…"):
            for name, file in files.items():
                visit.workbench.ingest([file], IngestOptions(name=name))
        st.rerun()


def _label(entry: Dataset) -> str:
    return f"{entry.name} ({entry.hash[: datasets.SHORTEST_HASH]})"


def _table(measured: list[Dataset], current: str) -> Dataset:
    """Show a choice among tables, `current` (a hash) first, and return the chosen one."""
    named = {_label(one): one for one in sorted(measured, key=lambda one: one.hash != current)}
    return named[choice("Configurations", TABLE, tuple(named), "A CSV that was uploaded on the Data page.")]


def _runs(visit: Visit, table: Dataset, entries: list[Dataset]) -> str:
    """Show which benchmark runs give the scores and return their hash; '' = none.

    First are runs of nodes that the table names; a link to a result without scores begins with none.
    """
    machines = set(visit.workbench.machines_of(table.hash))
    fitting = {_label(one): one.hash for one in entries if machines & set(visit.workbench.node_names(one.hash))}
    key = SEARCH.leaf("runs").key(SEARCH.page)
    linked = link.read(key, str, "")
    if not linked and st.query_params.get(QUESTION_KEY) == SEARCH.call:
        scope.take(key, WITHOUT)
    for label, own in fitting.items():
        if linked == own:
            scope.take(key, label)
    about = "Benchmark runs of nodes that are named as the machines of the table."
    return fitting.get(choice("Node scores", key, (*fitting, WITHOUT), about), "")


def _path(result: Search) -> None:
    workloads = tuple(result.workloads)
    workload = choice("Workload", WORKLOAD, workloads) if len(workloads) > 1 else workloads[0]
    figures.show(search_path(result, workload), key="nodes_search_path")
    trials = path_table(result, workload)
    tables.saved(trials, "node-search-path", key="nodes_search_path_table", alt=counted(len(trials.rows), "trial"))
    figures.fold("Cost by number of trials", "nodes_search_curve", _curve, result)


def _curve(result: Search) -> None:
    curves = curve_table(result)
    alt = counted(len(curves.rows), "number of trials")
    tables.saved(curves, "node-search-cost", key="nodes_search_curve_table", alt=alt)
