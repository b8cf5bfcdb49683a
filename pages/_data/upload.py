"""Bring in a trace: an upload or a file of the data folder, how to read it, and what became of it."""

from __future__ import annotations

import streamlit as st

from pages._data import mapping, reading, trace_source
from pages._data.mapping import WAITING
from pages._frame import datasets
from pages._frame.visit import Visit
from pages._parts import running_work
from workprof.background import TaskView
from workprof.charts.data import ingest_sentence
from workprof.charts.text import markdown_text
from workprof.inputs import Spooled, discarded_if_refused
from workprof.store.reports import IngestOptions, IngestReport

INGEST = "work_ingest"


def section(visit: Visit, *, expanded: bool) -> None:
    """Show the import: choose, map where needed, follow, result."""
    busy = _follow(visit)
    if visit.readonly:
        st.info("This server is read-only: nothing can be loaded here.", icon=":material/lock:")
        return
    waiting: Spooled | None = st.session_state.get(WAITING)
    with st.expander("Import a trace", expanded=expanded or busy or waiting is not None, icon=":material/upload:"):
        if waiting is None:
            _choose(visit, busy)
        else:
            mapping.screen(visit, waiting, st.session_state["data_waiting_options"], start)


def start(visit: Visit, source: Spooled, options: IngestOptions) -> None:
    """Start the ingest of a source in the background."""
    owned = None if source.folder == source.path else source.folder
    view = visit.house.ingests.start(source.label, [source.path], options, discard=owned)
    running_work.begun(INGEST, view.key)
    st.session_state.pop(WAITING, None)
    st.rerun()


def _follow(visit: Visit) -> bool:
    view = running_work.follow(visit.house.ingests, INGEST)
    if view is not None and view.result is not None:
        _done(view)
    elif view is not None:
        running_work.task_panel(visit.house.ingests, view, "Loading")
    return view is not None and view.active


def _done(view: TaskView[IngestReport]) -> None:
    report = view.result
    if report is None:
        return
    if st.session_state.get("data_opened") != view.key:
        st.session_state["data_opened"] = view.key
        datasets.select(report.hash, report.kind)
        st.rerun()
    show = st.info if report.already_loaded else st.warning if report.lost else st.success
    show(markdown_text(ingest_sentence(report), 300), icon=":material/check_circle:")


def _choose(visit: Visit, busy: bool) -> None:
    picked = trace_source.pick(visit, trace_source.choose())
    options = reading.ingest_options()
    clicked = st.button(
        "Import",
        type="primary",
        icon=":material/play_arrow:",
        disabled=busy or not picked,
        key="data_import",
    )
    if clicked and picked:
        _begin(visit, trace_source.taken(visit, picked), options)


def _begin(visit: Visit, source: Spooled, options: IngestOptions) -> None:
    with discarded_if_refused(source):
        named = options.format if options.format != "auto" else visit.workbench.detect([source.path])
    if named != "generic":
        start(visit, source, options)
    st.session_state[WAITING] = source
    st.session_state["data_waiting_options"] = options
    st.rerun()
