"""Report: everything on this dataset, in one file to hand on."""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame.visit import Visit
from pages._parts import report_files, running_work
from workprof.report.bundle import BuiltReport, build_report
from workprof.report.report import kinds_of
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Report", "How do I hand on what was found, in one file that opens anywhere?", "A report needs a dataset.", kind=""
)


TASK = "work_report"


def body(visit: Visit, dataset: Dataset) -> None:
    """Show the sections to tick, the note, the report being made, and its files."""
    kinds = {kind.name: kind.title for kind in kinds_of(dataset)}
    chosen = st.pills(
        "Sections",
        list(kinds),
        selection_mode="multi",
        default=list(kinds),
        key="report_sections",
        bind="query-params",
        help="; ".join(f"{name}: {title}" for name, title in kinds.items()),
    )
    note = st.text_area("Note under the title", max_chars=2000, key="report_note", bind="query-params", height=80)
    built = _built(visit, dataset, tuple(name for name in kinds if name in chosen), note)
    if built is not None:
        report_files.show(built)


def _built(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> BuiltReport | None:
    """Return the report that this visitor made last of this dataset."""
    view = running_work.follow(visit.app_state.reports, TASK)
    active = view is not None and view.active
    st.caption("What is not kept yet is computed with the defaults of its page; a whole trace may take minutes.")
    idle = not chosen or active
    if st.button("Make the report", type="primary", icon=":material/description:", disabled=idle, key="report_make"):
        _start(visit, dataset, chosen, note)
    if view is None:
        return None
    if view.result is None:
        running_work.task_panel(visit.app_state.reports, view, "Making the report of")
        return None
    report = view.result.report
    if report.dataset.hash != dataset.hash:
        return None
    if ({section.kind.name for section in report.sections}, report.note) != (set(chosen), note):
        st.warning("What follows was made with other sections or another note.", icon=":material/history:")
    return view.result


def _start(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> None:
    workbench, hashed = visit.workbench, dataset.hash
    view = visit.app_state.reports.begin(
        dataset.name, lambda progress: build_report(workbench, hashed, chosen, note, progress)
    )
    running_work.begun(TASK, view.key)
    st.rerun()


_shell.run(PAGE, body)
