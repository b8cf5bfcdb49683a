"""Compare: the runs of this page beside those of the period before, or of another dataset."""

from __future__ import annotations

import streamlit as st

from pages._frame import datasets
from pages._frame.visit import Visit
from pages._parts import tables
from workprof.answers.comparison import comparison_answer
from workprof.charts.text import markdown_text
from workprof.core.errors import WorkprofError
from workprof.core.scope import Scope, earlier, narrowed, parsed, split
from workprof.inputs import safe_name
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

WITH = "home_compare_with"
BEFORE = "the period before"


def show(visit: Visit, dataset: Dataset) -> None:
    """Show the choice of the other side, and both."""
    whole, text = split(dataset.hash)
    scope = parsed(text) if text else None
    before = earlier(scope.period) if scope is not None else ""
    others = {datasets.title(one): one.hash for one in visit.workbench.datasets() if one.kind == JOBS}
    others = {title: hashed for title, hashed in others.items() if hashed != dataset.hash}
    if scope is not None and before:
        others = {BEFORE: narrowed(whole, Scope(scope.of, before)), **others}
    if not others:
        st.caption("Narrow this page to a period, or load a second dataset, to compare it.")
        return
    st.session_state.setdefault(WITH, next(iter(others)))
    chosen = st.selectbox("With", list(others), key=WITH, bind="query-params")
    try:
        first = visit.workbench.dataset(others[chosen])
    except WorkprofError as problem:
        st.info(markdown_text(str(problem), 300))
        return
    with st.spinner("Comparing…"):
        found = comparison_answer(visit.workbench.compare(first.hash, dataset.hash))
    st.markdown(f"**{markdown_text(found.sentence, 400)}**")
    for table in found.tables:
        st.markdown(f"**{table.title}**")
        tables.answer(table, key=f"home_compare_{table.name}", alt=table.title)
        name = f"{safe_name(dataset.name)}-{table.name}"
        tables.csv(table.frame(), name, f"home_compare_{table.name}_csv", "Download CSV")
    for note in found.notes:
        st.caption(markdown_text(note, 300))
