"""The scope of a page: which runs of the dataset the page is about, and the way to narrow them.

What is chosen is part of the dataset in the address, so that every page, link and file is about the same runs.
"""

import math
from datetime import UTC, date, datetime

import streamlit as st

from pages._frame import datasets, link
from pages._frame.errors import guard
from pages._frame.visit import Visit
from workprof.core.errors import WorkprofError
from workprof.core.scope import TO, Scope, bounds, narrowed, of_dataset, parsed, split
from workprof.core.units import DAY_S, dated, day_of
from workprof.core.words import counted, label_text, markdown_text
from workprof.formats import utc_offset_s
from workprof.store.reports import Dataset
from workprof.store.scopes import MOST_NAME
from workprof.workbench import JOBS

COLUMNS = {
    "user": "Users",
    "group": "Groups",
    "partition": "Partitions",
    "queue": "Queues",
    "namespace": "Namespaces",
    "cluster": "Clusters",
    "workload": "Workloads",
    "task_name": "Tasks",
    "gpu_type": "Kinds of GPU",
    "node": "Nodes",
}
"""Columns that the form narrows by, where they are there; a link or a command takes any column of texts."""
MOST_VALUES = 20
"""Of one column in the form."""
DAYS, DATES = "scope_days", "scope_dates"


def button(visit: Visit, dataset: Dataset) -> None:
    """Show the button of the form, for a job trace."""
    if dataset.kind == JOBS and st.button(
        "Narrow", key="scope_narrow", icon=":material/filter_alt:", type="tertiary", help=MEANING
    ):
        _form(visit, visit.workbench.dataset(split(dataset.hash)[0]), of_dataset(dataset.hash))


def show(visit: Visit, dataset: Dataset) -> None:
    """Show what a dataset is narrowed to, and the way back to all its runs; nothing for a whole one."""
    whole, text = split(dataset.hash)
    if not text:
        return
    rows = visit.workbench.dataset(whole).rows
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="scope_bar"):
        st.caption(f"{markdown_text(parsed(text).words, 200)}: {dataset.rows:,} of {counted(rows, 'run')}")
        if st.button("All runs", key="scope_all", icon=":material/filter_alt_off:", type="tertiary"):
            _choose(whole)


MEANING = "Choose users, tasks, partitions or a period; every page is about these runs then."


def _take(hashed: str) -> None:
    datasets.select(hashed, JOBS)
    link.forget()


def _choose(hashed: str) -> None:
    _take(hashed)
    st.rerun()


@st.dialog("Which runs?", icon=":material/filter_alt:")
def _form(visit: Visit, whole: Dataset, scope: Scope) -> None:
    with guard():
        st.caption("Everything on every page is computed of these runs alone.")
        _saved(visit, whole)
        chosen, there = dict(scope.of), {one.name for one in visit.workbench.columns(whole.hash) if not one.numeric}
        for name, label in COLUMNS.items():
            if name in there:
                chosen[name] = _values(visit, whole, name, label, scope.values(name))
        period = _period(visit, whole, scope.period)
        wanted = Scope(tuple((name, values) for name, values in chosen.items() if values), period)
        if st.button("Show these runs", key="scope_apply", type="primary"):
            _choose(visit.workbench.dataset(narrowed(whole.hash, wanted)).hash)
        if str(wanted) and not visit.readonly:
            _save(visit, wanted)


def _saved(visit: Visit, whole: Dataset) -> None:
    """Show the saved scopes, and the way to one."""
    saved = visit.workbench.scopes()
    if not saved:
        return
    name = st.selectbox("Saved scopes", list(saved), index=None, key="scope_saved", placeholder="Choose one")
    with st.container(horizontal=True):
        text = saved.get(name or "", "")
        shown = visit.workbench.dataset(narrowed(whole.hash, parsed(text))).hash if text else ""
        if st.button("Show it", key="scope_saved_show", disabled=not text, on_click=_take, args=(shown,)):
            st.rerun()  # of a button in a dialog the dialog alone is drawn anew, and the page would be of other runs
        forget = visit.workbench.remove_scope
        off = not text or visit.readonly
        st.button("Forget it", key="scope_saved_forget", disabled=off, on_click=forget, args=(name,))


def _save(visit: Visit, wanted: Scope) -> None:
    """Show the field of a name and the button that saves the chosen scope under it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Save under a name", key="scope_name", max_chars=MOST_NAME)
        st.button("Save", key="scope_save", icon=":material/bookmark_add:", on_click=_keep, args=(visit, str(wanted)))


def _keep(visit: Visit, scope: str) -> None:
    """Save a scope under the name in the field (a callback)."""
    try:
        st.toast(
            f"Saved: {markdown_text(visit.workbench.save_scope(st.session_state['scope_name'], scope), MOST_NAME)}"
        )
    except WorkprofError as problem:
        st.toast(markdown_text(str(problem), 300))


def _values(visit: Visit, whole: Dataset, name: str, label: str, given: tuple[str, ...]) -> tuple[str, ...]:
    counts = dict(visit.workbench.values_of(whole.hash, name))
    if len(counts) < 2 and not given:
        return ()
    options = [*dict.fromkeys((*counts, *given))]
    result = st.multiselect(
        label,
        options,
        default=list(given),
        key=f"scope_{name}",
        max_selections=MOST_VALUES,
        placeholder="All",
        format_func=lambda value: f"{label_text(value, 60) if value else 'none'} · {counts.get(value, 0):,}",
    )
    return tuple(result)


def _period(visit: Visit, whole: Dataset, given: str) -> str:
    """Show the controls of a period and return it; one that they cannot hold (a clock time) stays as it is."""
    edges = visit.workbench.time_coverage(whole.hash).edges_s
    if not edges.size:
        return ""
    offset = utc_offset_s(whole.format)
    dates = dated(float(edges[-1]))
    low, high = bounds(given, dates=dates, utc_offset_s=offset) if given else (None, None)
    low, high = float(edges[0]) if low is None else low, float(edges[-1]) if high is None else high
    if not dates:
        of_trace = (day_of(edges[0]), math.ceil(edges[-1] / DAY_S))
        if of_trace[1] - of_trace[0] < 2:
            return given
        days = (max(of_trace[0], day_of(low)), min(of_trace[1], math.ceil(high / DAY_S)))
        chosen_days = st.slider("Days of the trace", *of_trace, days, key=DAYS)
        return given if chosen_days == days else "" if chosen_days == of_trace else TO.join(map(str, chosen_days))
    first, last = _date(edges[0] + offset), _date(edges[-1] + offset - 1)
    if first == last:
        return given
    now = (max(first, _date(low + offset)), min(last, _date(high + offset - 1)))
    chosen = st.date_input("Period", now, min_value=first, max_value=last, key=DATES, format="YYYY-MM-DD")
    if not isinstance(chosen, tuple) or len(chosen) < 2:
        st.caption("Choose the last day, too.")
        return given
    return given if chosen == now else "" if chosen == (first, last) else f"{chosen[0]}{TO}{chosen[1]}"


def _date(seconds: float) -> date:
    return datetime.fromtimestamp(seconds, UTC).date()
