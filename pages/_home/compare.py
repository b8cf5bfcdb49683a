"""Compare: the runs of this page beside those of the period before, or of another dataset."""

import streamlit as st

from pages._frame import datasets
from pages._frame.visit import Visit
from pages._parts import controls, tables
from workprof.answers.comparison import comparison_answer
from workprof.core.answer import Answer
from workprof.core.errors import WorkprofError
from workprof.core.scope import Scope, earlier, narrowed, parsed, split
from workprof.core.words import markdown_text
from workprof.inputs import safe_name
from workprof.memory.ledger_settings import PROFILE, TASK
from workprof.profiles.settings import ProfileSettings
from workprof.store.reports import Dataset
from workprof.workbench import JOBS

WITH = "home_compare_with"
BEFORE = "the period before"
BY, USUAL = "home_compare_by", "usual"
ROWS = {PROFILE: "Profiles", TASK: "Tasks", USUAL: "Users, else tasks"}


def _rows(visit: Visit, whole: str, other: str) -> tuple[str, ...]:
    """Return what rows may be, the usual first: profiles of the whole trace, where both sides are parts of it."""
    alike = split(other)[0] == whole and visit.workbench.profiles.cached(whole, ProfileSettings()).result is not None
    return (*((PROFILE,) if alike else ()), USUAL, TASK)


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
    left, right = st.columns(2)
    with left:
        chosen = st.selectbox("With", list(others), key=WITH, bind="query-params")
    with right:
        rows = controls.choice("Rows", BY, _rows(visit, whole, others[chosen]), "Of the table below.", shown=ROWS)
    try:
        first = visit.workbench.dataset(others[chosen])
    except WorkprofError as problem:
        st.info(markdown_text(str(problem), 300))
        return
    with st.spinner("Comparing…"):
        found = comparison_answer(visit.workbench.compare(first.hash, dataset.hash, "" if rows == USUAL else rows))
    st.markdown(f"**{markdown_text(found.sentence, 400)}**")
    told(found, dataset, "compare")


def told(found: Answer, dataset: Dataset, name: str) -> None:
    """Show the tables of an answer, each with its file, and the notes."""
    for table in found.tables:
        st.markdown(f"**{table.title}**")
        tables.answer(table, key=f"home_{name}_{table.name}", alt=table.title)
        prefix = safe_name(dataset.name) + ("" if name == "compare" else "-changes")
        tables.csv(table.frame, f"{prefix}-{table.name}", f"home_{name}_{table.name}_csv", "Download CSV")
    for note in found.notes:
        st.caption(markdown_text(note, 300))
