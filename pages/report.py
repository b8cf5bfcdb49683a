"""Report: everything on this dataset, in one file to hand on."""

from __future__ import annotations

import streamlit as st

from pages import _shell
from pages._frame.visit import Visit
from pages._report import build, files
from workprof.report.report import kinds_of
from workprof.store.reports import Dataset

PAGE = _shell.Page(
    "Report", "How do I hand on what was found, in one file that opens anywhere?", "A report needs a dataset.", kind=""
)


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
    built = build.built(visit, dataset, tuple(name for name in kinds if name in chosen), note)
    if built is not None:
        files.files(built)


_shell.run(PAGE, body)
