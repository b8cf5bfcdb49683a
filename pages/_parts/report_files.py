"""A finished report: what is in it, and its files."""

import streamlit as st

from pages._parts import tables
from workprof.core.units import format_bytes, format_duration
from workprof.inputs import safe_name
from workprof.report.bundle import BuiltReport
from workprof.store.reports import lines_lost


def show(built: BuiltReport) -> None:
    """Show what a report holds, the buttons that save its files, and its sections."""
    st.success(f"{sentence(built)}", icon=":material/check_circle:")
    warn_of_loss(built)
    with st.container(horizontal=True):
        buttons(built)
    contents(built)


def sentence(built: BuiltReport) -> str:
    """Return what a report holds and how long it took."""
    report = built.report
    done = sum(section.status == "done" for section in report.sections)
    return (
        f"Report ready: the decision and {done} of {len(report.sections)} sections in one file of "
        f"{format_bytes(len(built.page))}, generated in {format_duration(report.seconds)}."
    )


def warn_of_loss(built: BuiltReport) -> None:
    """Warn where lines of the dataset's file are in no row."""
    lost = built.report.lost
    if lost:
        st.warning(f"{lines_lost(lost)} when the dataset was loaded; the report says so.", icon=":material/warning:")


def buttons(built: BuiltReport) -> None:
    """Show the buttons that save the files, side by side where the place is a row."""
    _button("Download HTML", built.page, built, "html", "text/html", "Opens without a network; print it as PDF.")
    _button("Download CSV (ZIP)", built.bundle, built, "zip", "application/zip", "Every table and chart, whole.")
    _button("Manifest (JSON)", built.manifest, built, "json", "application/json", "Settings, versions and states.")


def contents(built: BuiltReport) -> None:
    """Show the sections with their state."""
    lines = [
        {
            "section": section.kind.title,
            "state": section.status,
            "figures": len(section.content.charts),
            "tables": len(section.content.tables),
            "took": format_duration(section.seconds),
            "missing": section.reason,
        }
        for section in built.report.sections
    ]
    st.header("Sections")
    tables.show(lines, key="report_lines", alt=f"{len(lines)} sections with their state")


def _button(words: str, content: bytes, built: BuiltReport, suffix: str, mime: str, meaning: str) -> None:
    report = built.report
    st.download_button(
        f"{words} · {format_bytes(len(content))}",
        data=content,
        file_name=f"workprof-{safe_name(report.dataset.name)}-{report.dataset.hash[:8]}.{suffix}",
        mime=mime,
        on_click="ignore",
        key=f"report_{suffix}",
        icon=":material/download:",
        help=meaning,
    )
