"""A finished report: what is in it, and its files."""

from __future__ import annotations

import streamlit as st

from pages._parts import tables
from workprof.core.units import format_bytes, format_duration
from workprof.inputs import safe_name
from workprof.report.bundle import BuiltReport
from workprof.store.reports import lines_lost


def show(built: BuiltReport) -> None:
    """Show the sections with their state, and the buttons that save the files."""
    report = built.report
    missing = [section for section in report.sections if section.status != "done"]
    words = f"{len(report.sections) - len(missing)} of {len(report.sections)} sections"
    st.success(f"{words}, made in {format_duration(report.seconds)}.", icon=":material/check_circle:")
    if report.lost:
        st.warning(
            f"{lines_lost(report.lost)} when the dataset was loaded; the report says so.", icon=":material/warning:"
        )
    with st.container(horizontal=True):
        _button("Report, one HTML file", built.page, built, "html", "text/html")
        _button("Every table as CSV (ZIP)", built.bundle, built, "zip", "application/zip")
        _button("Manifest as JSON", built.manifest, built, "json", "application/json")
    st.caption("The HTML file needs no network and no server; print it from the browser to have it as PDF.")
    lines = [
        {
            "section": section.kind.title,
            "state": section.status,
            "figures": len(section.content.charts),
            "tables": len(section.content.tables),
            "took": format_duration(section.seconds),
            "missing": section.reason,
        }
        for section in report.sections
    ]
    tables.show(lines, key="report_lines", alt=f"{len(lines)} sections with their state")


def _button(words: str, content: bytes, built: BuiltReport, suffix: str, mime: str) -> None:
    report = built.report
    st.download_button(
        f"{words} ({format_bytes(len(content))})",
        data=content,
        file_name=f"workprof-{safe_name(report.dataset.name)}-{report.dataset.hash[:8]}.{suffix}",
        mime=mime,
        on_click="ignore",
        key=f"report_{suffix}",
        icon=":material/download:",
    )
