"""What is kept about the chosen dataset and cannot be read: told on every page until it is removed."""

from __future__ import annotations

import streamlit as st

from pages._frame.visit import Visit
from workprof.charts.text import counted, markdown_text
from workprof.store.documents import FORGET_DAMAGED
from workprof.store.reports import Dataset

MOST_TOLD = 5


def notice(visit: Visit, dataset: Dataset) -> None:
    """Name what cannot be read, with the reason, and offer to remove it; nothing where all can be."""
    found = visit.workbench.unreadable(dataset.hash)
    if not found:
        return
    lines = [f"- {markdown_text(f'{one.what}: {one.reason}', 300)}" for one in found[:MOST_TOLD]]
    if len(found) > MOST_TOLD:
        lines.append(f"- and {len(found) - MOST_TOLD} more")
    name = markdown_text(dataset.name, 80)
    st.warning(
        f"Of dataset {name}, {counted(len(found), 'thing')} that you kept cannot be read. Its rows and results are as "
        "they were.\n\n" + "\n".join(lines),
        icon=":material/warning:",
    )
    if st.button(
        FORGET_DAMAGED, icon=":material/delete:", key="frame_unreadable", disabled=visit.readonly, help=visit.refusal
    ):
        visit.workbench.remove_unreadable(dataset.hash)
        st.rerun()
