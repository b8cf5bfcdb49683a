"""Report: the decision and its evidence, in one file to hand on."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pages import _shell
from pages._frame.visit import Visit
from pages._parts import clusterings, controls, figures, report_files, running_work, tables
from workprof.background import TaskView
from workprof.core.words import counted, markdown_text
from workprof.report.bundle import BuiltReport, build_report
from workprof.report.parts import Kind
from workprof.report.readiness import readiness, readiness_sentence
from workprof.report.report import kinds_of
from workprof.report.summary import decision_of
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Report", "Share the results as one offline file.", "A report needs a dataset.", kind="", resets=True
)


TASK = "work_report"
NUMBER, SMALL = (st.column_config.NumberColumn(format=form) for form in ("localized", "%.3g"))


MOST_ROWS = 100_000
"""Runs of which the sizes are computed while the page waits."""


def body(visit: Visit, dataset: Dataset) -> None:
    """Show what the file holds and its state, the way to it, and its first page."""
    kinds = {kind.name: kind for kind in kinds_of(dataset)}
    result, work = st.container(), st.container()
    wide, narrow = st.columns([3, 2])
    with wide:
        chosen = controls.worded_many(
            "Sections",
            tuple(kinds),
            tuple(kinds),
            {name: kind.title for name, kind in kinds.items()},
            key="report_sections",
            help="After the decision page: the evidence of each page, and the data with its checks as an appendix.",
        )
    with narrow:
        note = st.text_area("Note under the title", max_chars=2000, key="report_note", bind="query-params", height=68)
    with work:
        built = _built(visit, dataset, tuple(name for name in kinds if name in chosen), note)
    with result:
        figures.headline(_headline(built, visit, dataset, [kinds[name] for name in chosen]))
    _first_page(visit, dataset)
    if built is not None:
        report_files.contents(built)


def _headline(built: BuiltReport | None, visit: Visit, dataset: Dataset, chosen: Sequence[Kind]) -> str:
    if built is not None:
        return markdown_text(report_files.sentence(built), 300)
    fit = clusterings.everywhere(dataset)
    held = f"One offline file: the decision on one page, then {counted(len(chosen), 'section')} of evidence."
    return markdown_text(f"{held} {readiness_sentence(readiness(visit.workbench, dataset, chosen, fit))}", 600)


def _first_page(visit: Visit, dataset: Dataset) -> None:
    """Show the report's first page as it would be now."""
    result = decision_of(visit.workbench, dataset, MOST_ROWS, clusterings.everywhere(dataset))
    st.header("First page")
    st.markdown(f"**{markdown_text(result.summary, 600)}** {markdown_text(result.advice, 900)}")
    if result.chart is not None:
        figures.show(result.chart, key="report_chart", sentence=False)
    figures.headline_row(result.headlines)
    for table in result.tables:
        st.markdown(f"**{markdown_text(table.title, 200)}**")
        numbers = table.frame.select_dtypes("number").columns
        look = {name: NUMBER if table.frame[name].max() >= 1 else SMALL for name in numbers}
        tables.show(table.frame, key=f"report_{table.name}", alt=table.title, column_config=look)
    if result.risks:
        st.markdown("**Risks and limits**")
        st.markdown("\n".join(f"- {markdown_text(words, 600)}" for words in result.risks))


def _built(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> BuiltReport | None:
    """Return the report that this visitor generated last of this dataset, with its files or the way to them."""
    view = running_work.follow(visit.app_state.reports, TASK)
    active = view is not None and view.active
    with st.container(horizontal=True):
        pressed = st.button(
            "Generate report",
            type="primary",
            icon=":material/description:",
            disabled=not chosen or active,
            key="report_make",
        )
        built = _finished(view, dataset)
        if built is not None:
            report_files.buttons(built)
    if pressed:
        _start(visit, dataset, chosen, note)
    if view is not None and view.result is None:
        running_work.task_panel(visit.app_state.reports, view, "Generating the report of")
    if built is None:
        return None
    report_files.warn_of_loss(built)
    if ({section.kind.name for section in built.report.sections}, built.report.note) != (set(chosen), note):
        st.warning("These files have other sections or another note.", icon=":material/history:")
    return built


def _finished(view: TaskView[BuiltReport] | None, dataset: Dataset) -> BuiltReport | None:
    built = None if view is None else view.result
    return built if built is not None and built.report.dataset.hash == dataset.hash else None


def _start(visit: Visit, dataset: Dataset, chosen: tuple[str, ...], note: str) -> None:
    workbench, hashed, fit = visit.workbench, dataset.hash, clusterings.everywhere(dataset)
    view = visit.app_state.reports.begin(
        dataset.name, lambda progress: build_report(workbench, hashed, chosen, note, progress, fit)
    )
    running_work.begun(TASK, view.key)
    st.rerun()


_shell.run(PAGE, body)
